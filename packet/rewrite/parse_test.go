package rewrite_test

import (
	"fmt"
	"testing"

	"loadtest/packet/rewrite"
)

// readers are all that read words of a command line; each gives its value's text.
var readers = map[string]func(string) (string, error){
	"map":  func(s string) (string, error) { v, err := rewrite.ParseMap(s); return v.String(), err },
	"ttl":  func(s string) (string, error) { v, err := rewrite.ParseTTL(s); return v.String(), err },
	"vary": func(s string) (string, error) { v, err := rewrite.ParseVary(s); return v.String(), err },
	"vlan": func(s string) (text string, err error) {
		ops, err := rewrite.ParseVLAN(s)
		for i, op := range ops {
			if i > 0 {
				text += ","
			}
			text += op.String()
		}
		return text, err
	},
}

func TestParse(t *testing.T) {
	const (
		anyMap  = "want FROM=TO, as 10.0.0.0/8=172.16.0.0/16, 10.0.0.1:80=10.0.0.2:8080, :80=:8080, [2001:db8::/32]:80=[fd00::/32]:81"
		anySide = "want an address, a prefix, as 10.0.0.0/8 or 2001:db8::/32, a port, as :80, or address and port"
		anyVLAN = "want a VLAN, as 100, or push:N[:PCP][:0x88a8], set:N[:PCP], pop, pop:all, none; commas between several"
		anyTTL  = "want a TTL of 1 to 255, as 64, or dec:N, inc:N, min:N"
		anyVary = "want FIELD:N, as src-ip:1000; fields: src-ip, dst-ip, src-port, dst-port, src-mac, dst-mac"
	)
	for _, tt := range []struct{ kind, text, want, err string }{
		{"map", "10.0.0.0/8=172.16.0.0/16", "10.0.0.0/8=172.16.0.0/16", ""},
		{"map", "10.1.2.3/8=172.16.9.9/16", "10.0.0.0/8=172.16.0.0/16", ""},
		{"map", "10.0.0.1=10.0.0.2/32", "10.0.0.1=10.0.0.2", ""},
		{"map", "10.0.0.1:80=10.0.0.2:8080", "10.0.0.1:80=10.0.0.2:8080", ""},
		{"map", "10.0.0.0/8:80=:8080", "10.0.0.0/8:80=:8080", ""},
		{"map", ":80=:8080", ":80=:8080", ""},
		{"map", "10.0.0.1:80=10.0.0.2", "10.0.0.1:80=10.0.0.2", ""},
		{"map", "2001:db8::/32=fd00::/32", "2001:db8::/32=fd00::/32", ""},
		{"map", "[2001:db8::1]:80=[fd00::/32]:81", "[2001:db8::1]:80=[fd00::/32]:81", ""},
		{"map", "[::]=[::1]", "::=::1", ""},
		{"map", "10.0.0.0/8", "", anyMap},
		{"map", "", "", anyMap},
		{"map", "=", "", `"": ` + anySide},
		{"map", "10.0.0.0/8=", "", `"": ` + anySide},
		{"map", "10.0.0.0/33=1.1.1.1", "", `"10.0.0.0/33": ` + anySide},
		{"map", "fe80::1%eth0=::1", "", `"fe80::1%eth0": ` + anySide},
		{"map", "::ffff:1.2.3.4=::1", "", `"::ffff:1.2.3.4": ` + anySide},
		{"map", "a=b", "", `"a": ` + anySide},
		{"map", "1.2.3.4=5.6.7.8=9", "", `"5.6.7.8=9": ` + anySide},
		{"map", "10.0.0.1:0=10.0.0.2:1", "", `port "0": want 1 to 65535`},
		{"map", ":80=:65536", "", `port "65536": want 1 to 65535`},
		{"map", ":80=:", "", `port "": want 1 to 65535`},
		{"map", "[::1=::2", "", `"[::1": want [ADDRESS/LEN]:PORT`},
		{"map", "[::1]80=::2", "", `"[::1]80": want [ADDRESS/LEN]:PORT`},
		{"map", ":80=10.0.0.1:81", "", "an address only behind =: want one before it too, as 0.0.0.0/0:80=10.0.0.1:8080"},
		{"map", "10.0.0.1=::1", "", "IPv4 and IPv6: want addresses of one family"},
		{"map", "10.0.0.1=10.0.0.2:80", "", "a port only behind =: want one before it too, as 10.0.0.1:80=10.0.0.2:8080"},
		{"map", "10.0.0.1/8=10.0.0.2/8", "", "both sides are the same"},
		{"vlan", "100", "100", ""},
		{"vlan", "0:7", "0:7", ""},
		{"vlan", "push:100", "push:100", ""},
		{"vlan", "push:100:5:0x88a8", "push:100:5:0x88a8", ""},
		{"vlan", "push:100:0x8100", "push:100", ""},
		{"vlan", "set:100:0,pop,pop:all,none", "set:100:0,pop,pop:all,pop:all", ""},
		{"vlan", "", "", anyVLAN},
		{"vlan", "push", "", anyVLAN},
		{"vlan", "pop:1", "", anyVLAN},
		{"vlan", "1:2:3", "", anyVLAN},
		{"vlan", "-1", "", anyVLAN},
		{"vlan", "push:0x88a8", "", anyVLAN},
		{"vlan", "100:0x88a8", "", "priority 0x88a8: want 0 to 7"},
		{"vlan", "4095", "", "VLAN 4095: want 0 to 4094"},
		{"vlan", "set:1:8", "", "priority 8: want 0 to 7"},
		{"vlan", "push:1:0x9100", "", "tag type 0x9100: want 0x8100 (802.1Q) or 0x88a8 (802.1ad)"},
		{"ttl", "64", "64", ""},
		{"ttl", "dec:1", "dec:1", ""},
		{"ttl", "inc:2", "inc:2", ""},
		{"ttl", "min:255", "min:255", ""},
		{"ttl", "0", "", anyTTL},
		{"ttl", "256", "", anyTTL},
		{"ttl", "-1", "", anyTTL},
		{"ttl", "max:3", "", anyTTL},
		{"ttl", "dec:", "", anyTTL},
		{"vary", "src-ip:1000", "src-ip:1000", ""},
		{"vary", "dst-port:65535", "dst-port:65535", ""},
		{"vary", "dst-mac:16777216", "dst-mac:16777216", ""},
		{"vary", "ip:3", "", anyVary},
		{"vary", "src-ip", "", "want how many values src-ip takes, 2 to 16777216, as src-ip:1000"},
		{"vary", "src-port:65536", "", "want how many values src-port takes, 2 to 65535, as src-port:1000"},
		{"vary", "dst-ip:1", "", "want how many values dst-ip takes, 2 to 16777216, as dst-ip:1000"},
	} {
		got, err := readers[tt.kind](tt.text)
		if tt.err == "" && (err != nil || got != tt.want) {
			t.Errorf("--%s %s: %q, %v; want %q", tt.kind, tt.text, got, err, tt.want)
		}
		if want := fmt.Sprintf("%q: %s", tt.text, tt.err); tt.err != "" && (err == nil || err.Error() != want) {
			t.Errorf("--%s %s: %q, %v; want\n%s", tt.kind, tt.text, got, err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name string
		r    rewrite.Rules
		want string
	}{
		{"nothing", rewrite.Rules{}, ""},
		{"sizes", rewrite.Rules{Cut: 60, Pad: 60, Resegment: 65550}, ""},
		{"short", rewrite.Rules{Resegment: 59}, "resegment to 63 bytes: want 64 to 65554, with FCS"},
		{"long", rewrite.Rules{Pad: 65551}, "pad to 65555 bytes: want 64 to 65554, with FCS"},
		{"negative", rewrite.Rules{Cut: -1}, "cut to 3 bytes: want 64 to 65554, with FCS"},
		{"both ways", rewrite.Rules{Cut: 100, Pad: 101}, "pad to 105 bytes, cut to 104: want pad at most as long as cut"},
		{"16 tags", rewrite.Rules{VLAN: make([]rewrite.VLANOp, 16)}, ""},
		{"17 tags", rewrite.Rules{VLAN: make([]rewrite.VLANOp, 17)}, "17 VLAN tags pushed: want at most 16"},
		{"narrow first", rewrite.Rules{Map: mappings(t, "10.0.0.1=10.0.0.2", "10.0.0.0/8:80=:81", "10.0.0.0/8=11.0.0.0/8", ":80=:82")}, ""},
		{"wide first", rewrite.Rules{Map: mappings(t, "10.0.0.0/8=11.0.0.0/8", "10.1.0.0/16:80=:81")},
			"10.1.0.0/16:80=:81 never applies: 10.0.0.0/8=11.0.0.0/8 stands before it and takes all; want the narrower one first"},
		{"a port of any", rewrite.Rules{Map: mappings(t, ":80=:81", "10.1.0.0/16:80=:82")},
			"10.1.0.0/16:80=:82 never applies: :80=:81 stands before it and takes all; want the narrower one first"},
	} {
		err := tt.r.Check()
		if got := fmt.Sprint(err); got != tt.want && (tt.want != "" || err != nil) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// What was read and written is read again as the same.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"10.0.0.0/8=172.16.0.0/16", "[2001:db8::1]:80=[fd00::/32]:81", ":1=:2", "push:100:5:0x88a8,pop,set:3:1", "none,7", "min:3", "64", "src-ip:1000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for kind, read := range readers {
			one, err := read(s)
			if err != nil {
				continue
			}
			if two, err := read(one); err != nil || two != one {
				t.Fatalf("--%s %q is %q, and that %q, %v", kind, s, one, two, err)
			}
		}
	})
}
