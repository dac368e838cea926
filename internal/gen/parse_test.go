package gen

import (
	"net/netip"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadtest/units"
)

// samePrefix lets cmp compare prefixes.
func samePrefix() cmp.Option { return cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }) }

func parsed(t testing.TB, text string) Spec {
	t.Helper()
	s, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestIs(t *testing.T) {
	for text, want := range map[string]bool{"gen": true, "gen:": true, "gen:64": true, "gen,ip6": true, "": false, "general": false,
		"./gen": false, "gen.pcap": false, "Gen": false} {
		if Is(text) != want {
			t.Errorf("Is(%q) = %v, want %v", text, !want, want)
		}
	}
}

func TestParse(t *testing.T) {
	v4, w4 := netip.MustParsePrefix("198.18.0.0/16"), netip.MustParsePrefix("198.19.0.0/16")
	v6, w6 := netip.MustParsePrefix("2001:2:0:1::/64"), netip.MustParsePrefix("2001:2:0:2::/64")
	one := func(n units.Size) []units.Size { return []units.Size{n} }
	for _, tt := range []struct {
		text  string
		want  Spec
		canon string // what String gives
		label string
		tag   units.Size
	}{
		{"gen", Spec{one(64), 256, "udp", v4, w4, 0}, "gen:64", "64 B", 64},
		{"gen:1518", Spec{one(1518), 256, "udp", v4, w4, 0}, "gen:1518", "1518 B", 64},
		{"gen,flows=8", Spec{one(64), 8, "udp", v4, w4, 0}, "gen:64,flows=8", "64 B", 64},
		{"gen:imix", Spec{[]units.Size{64, 594, 64, 64, 594, 64, 1518, 594, 64, 64, 594, 64}, 256, "udp", v4, w4, 0}, "gen:imix", "imix", 64},
		{"gen:imix,proto=tcp,ip6", Spec{[]units.Size{78, 594, 78, 78, 594, 78, 1518, 594, 78, 78, 594, 78}, 256, "tcp", v6, w6, 0},
			"gen:imix,proto=tcp,ip6", "imix", 96},
		{"gen,ip6", Spec{one(66), 256, "udp", v6, w6, 0}, "gen:66,ip6", "66 B", 84},
		{"gen,vlan=7", Spec{one(64), 256, "udp", v4, w4, 7}, "gen:64,vlan=7", "64 B", 68},
		{"gen:64,proto=tcp", Spec{one(64), 256, "tcp", v4, w4, 0}, "gen:64,proto=tcp", "64 B", 76},
		{"gen:9216,vlan=4094,proto=icmp,flows=1", Spec{one(9216), 1, "icmp", v4, w4, 4094}, "gen:9216,flows=1,proto=icmp,vlan=4094", "9216 B", 68},
		{"gen:64,src=10.1.2.3/8,dst=11.0.0.5", Spec{one(64), 256, "udp", netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("11.0.0.5/32"), 0},
			"gen:64,src=10.0.0.0/8,dst=11.0.0.5/32", "64 B", 64},
		{"gen:100,src=fd00::/64", Spec{one(100), 256, "udp", netip.MustParsePrefix("fd00::/64"), w6, 0}, "gen:100,src=fd00::/64,ip6", "100 B", 84},
		{"gen:65554,ip6", Spec{one(65554), 256, "udp", v6, w6, 0}, "gen:65554,ip6", "65554 B", 84},
		{"gen:65553", Spec{one(65553), 256, "udp", v4, w4, 0}, "gen:65553", "65553 B", 64},
	} {
		t.Run(tt.text, func(t *testing.T) {
			got := parsed(t, tt.text)
			if d := cmp.Diff(tt.want, got, samePrefix()); d != "" {
				t.Errorf("Parse: -want +got\n%s", d)
			}
			if got.String() != tt.canon || got.Label() != tt.label || got.Tagged() != tt.tag {
				t.Errorf("String, Label, Tagged = %q, %q, %d; want %q, %q, %d", got, got.Label(), got.Tagged(), tt.canon, tt.label, tt.tag)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"traffic.pcap", "want gen[:SIZE][,flows=256][,proto=udp][,src=PREFIX][,dst=PREFIX][,vlan=N][,ip6]"},
		{"gen,flows=1\n", "want one line of text"},
		{"gen:64,flow=3", `unknown key "flow". Near: flows`},
		{"gen:64,scr=10.0.0.0/8", `unknown key "scr". Keys: flows, proto, src, dst, vlan, ip6; the size stands first: gen:64`},
		{"gen,size=64", `unknown key "size". Keys: flows, proto, src, dst, vlan, ip6; the size stands first: gen:64`},
		{"gen:64,", `unknown key "". Keys: flows, proto, src, dst, vlan, ip6; the size stands first: gen:64`},
		{"gen:64,ip=1", `unknown key "ip". Near: ip6`},
		{"gen:64,flows=1,flows=2", "flows is given twice"},
		{"gen:64,ip6,ip6", "ip6 is given twice"},
		{"gen:64,ip6=yes", "ip6 takes no value"},
		{"gen,flows=0", "flows=0: want 1 to 2147483647"},
		{"gen,flows", "flows=: want 1 to 2147483647"},
		{"gen,flows=many", "flows=many: want 1 to 2147483647"},
		{"gen,flows=99999999999999999999", "flows=99999999999999999999: want 1 to 2147483647"},
		{"gen,vlan=0", "vlan=0: want 1 to 4094"},
		{"gen,vlan=4095", "vlan=4095: want 1 to 4094"},
		{"gen,proto=sctp", "proto=sctp: want udp, tcp or icmp"},
		{"gen,src=10.0.0.0/33", "src=10.0.0.0/33: want a prefix of hosts, as 198.18.0.0/16 or 2001:2:0:1::/64"},
		{"gen,dst=224.0.0.0/4", "dst=224.0.0.0/4: want a prefix of hosts, as 198.18.0.0/16 or 2001:2:0:1::/64"},
		{"gen,dst=fe80::1%eth0", "dst=fe80::1%eth0: want a prefix of hosts, as 198.18.0.0/16 or 2001:2:0:1::/64"},
		{"gen,src=::ffff:1.2.3.4", "src=::ffff:1.2.3.4: want a prefix of hosts, as 198.18.0.0/16 or 2001:2:0:1::/64"},
		{"gen,ip6,src=10.0.0.0/8", "10.0.0.0/8 among IPv6: want prefixes of one family"},
		{"gen,src=10.0.0.0/8,dst=fd00::/64", "10.0.0.0/8 among IPv6: want prefixes of one family"},
		{"gen,src=10.0.0.0/24,dst=10.0.0.128/25", "src 10.0.0.0/24 and dst 10.0.0.128/25 overlap: want two prefixes apart, as 10.0.0.0/25 and 10.0.0.128/25"},
		{"gen:", `"": want a frame's size in bytes with FCS. the shortest frame: 64; the longest without jumbo: 1518; the mix of sizes: imix`},
		{"gen:60", `"60": a size counts the FCS, 4 bytes. the shortest frame: 64; the longest without jumbo: 1518; the mix of sizes: imix`},
		{"gen:64,ip6", "IPv6 and UDP need 66 B"},
		{"gen:64,ip6,proto=icmp,vlan=2", "a VLAN tag, IPv6 and ICMP need 70 B"},
		{"gen:81,ip6,proto=tcp,vlan=2", "a VLAN tag, IPv6 and TCP need 82 B"},
		{"gen:65554", "IPv4 takes at most 65553 B"},
		{"gen,src=10.0.0.0/30,dst=11.0.0.0/30,proto=icmp", "256 flows: 10.0.0.0/30 to 11.0.0.0/30 are at most 1 of icmp. Fewer flows, or wider prefixes"},
		{"gen,src=10.0.0.1,dst=11.0.0.1,flows=64513", "64513 flows: 10.0.0.1/32 to 11.0.0.1/32 are at most 64512 of udp. Fewer flows, or wider prefixes"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			s, err := Parse(tt.text)
			if want := strconv.Quote(tt.text) + ": " + tt.want; err == nil || err.Error() != want {
				t.Errorf("Parse = %+v, %v; want %s", s, err, want)
			}
		})
	}
}

func TestWith(t *testing.T) {
	s := parsed(t, "gen:1518,flows=8,ip6")
	for _, tt := range []struct{ size, want string }{
		{"imix", "gen:imix,flows=8,ip6"},
		{"66", "gen:66,flows=8,ip6"},
		{" 9000 ", "gen:9000,flows=8,ip6"},
		{"64", `"gen:64,flows=8,ip6": IPv6 and UDP need 66 B`},
		{"big", `"gen:big,flows=8,ip6": "big": want a frame's size in bytes with FCS. the shortest frame: 64; the longest without jumbo: 1518; the mix of sizes: imix`},
	} {
		got, err := s.With(tt.size)
		text := got.String
		if err != nil {
			text = err.Error
		}
		if text() != tt.want {
			t.Errorf("With(%q) = %s, want %s", tt.size, text(), tt.want)
		}
	}
	if s.String() != "gen:1518,flows=8,ip6" {
		t.Errorf("With changed its source: %s", s)
	}
}
