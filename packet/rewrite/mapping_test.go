package rewrite_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/gopacket/layers"

	"loadtest/packet"
	"loadtest/packet/rewrite"
)

// Mapped packets are those that gopacket makes with the other addresses, checksums and all.
func TestMap(t *testing.T) {
	payload := counted(33)
	for _, tt := range []struct {
		name     string
		rules    string
		in, want recipe
	}{
		{"source", "198.18.0.0/16=10.1.0.0/16", recipe{proto: "udp"}, recipe{proto: "udp", src: "10.1.0.1"}},
		{"both ends, one rule", "198.18.0.0/15=10.0.0.0/15", recipe{proto: "tcp"}, recipe{proto: "tcp", src: "10.0.0.1", dst: "10.1.0.1"}},
		{"longer prefix", "198.0.0.0/8=172.16.0.0/16", recipe{proto: "tcp"}, recipe{proto: "tcp", src: "172.16.0.1", dst: "172.16.0.1"}},
		{"shorter prefix", "198.18.0.0/16=10.0.0.0/8", recipe{proto: "udp"}, recipe{proto: "udp", src: "10.18.0.1"}},
		{"bits within a byte", "198.18.0.0/15=10.224.0.0/11", recipe{proto: "udp", src: "198.19.7.7"}, recipe{proto: "udp", src: "10.243.7.7", dst: "10.243.0.1"}},
		{"one address", "198.18.0.1=10.9.8.7", recipe{proto: "icmp", icmp: 8}, recipe{proto: "icmp", icmp: 8, src: "10.9.8.7"}},
		{"the first wins", "198.18.0.1=10.0.0.1 198.18.0.0/16=10.2.0.0/16", recipe{proto: "udp"}, recipe{proto: "udp", src: "10.0.0.1"}},
		{"nothing fits", "10.0.0.0/8=11.0.0.0/8 :81=:82", recipe{proto: "udp"}, recipe{proto: "udp"}},
		{"port", ":80=:8080", recipe{proto: "tcp"}, recipe{proto: "tcp", sport: 1024, dport: 8080}},
		{"port of the other direction", ":80=:8080", recipe{proto: "udp", sport: 80, dport: 1024}, recipe{proto: "udp", sport: 8080, dport: 1024}},
		{"address and port", "198.19.0.1:80=10.0.0.2:8080", recipe{proto: "udp"}, recipe{proto: "udp", dst: "10.0.0.2", sport: 1024, dport: 8080}},
		{"another port", "198.19.0.1:81=10.0.0.2:8080", recipe{proto: "udp"}, recipe{proto: "udp"}},
		{"port of an address", "198.19.0.1:80=:8080", recipe{proto: "udp"}, recipe{proto: "udp", sport: 1024, dport: 8080}},
		{"ICMP has no ports", ":1024=:1025", recipe{proto: "icmp", icmp: 8}, recipe{proto: "icmp", icmp: 8}},
		{"two tags", "198.18.0.0/16=10.1.0.0/16", recipe{proto: "tcp", tags: []uint16{5, 6}}, recipe{proto: "tcp", tags: []uint16{5, 6}, src: "10.1.0.1"}},
		{"IPv6", "2001:db8::/48=fd00:1::/48", recipe{proto: "tcp", v6: true}, recipe{proto: "tcp", v6: true, src: "fd00:1::1"}},
		{"IPv6, options", "[2001:db8:1::1]:80=[fd00::2]:443", recipe{proto: "udp", v6: true, hops: true}, recipe{proto: "udp", v6: true, hops: true, dst: "fd00::2", sport: 1024, dport: 443}},
		{"ping of IPv6", "2001:db8::/48=fd00::/16", recipe{proto: "icmp6", v6: true, icmp: 128}, recipe{proto: "icmp6", v6: true, icmp: 128, src: "fd00:db8::1"}},
		{"no transport that is known", "198.18.0.0/16=10.1.0.0/16", recipe{proto: "raw"}, recipe{proto: "raw", src: "10.1.0.1"}},
		{"groups are nobody's", "0.0.0.0/0=10.0.0.0/8", recipe{proto: "udp", dst: "239.1.2.3"}, recipe{proto: "udp", src: "10.18.0.1", dst: "239.1.2.3"}},
		{"groups by themselves", "239.0.0.0/8=239.9.0.0/16", recipe{proto: "udp", dst: "239.1.2.3"}, recipe{proto: "udp", dst: "239.9.2.3"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.in.payload, tt.want.payload = payload, payload
			in, want := tt.in.frame(t), tt.want.frame(t)
			changed := int64(1)
			if bytes.Equal(in, want) {
				changed = 0
			}
			rules := rewrite.Rules{Map: mappings(t, strings.Fields(tt.rules)...)}
			if got, touched := one(t, rules, in); !bytes.Equal(got, want) || touched != (rewrite.Touched{Packets: 1, Mapped: changed}) {
				t.Errorf("%x, want\n%x; %+v", got, want, touched)
			}
		})
	}
}

// A checksum that was wrong is as wrong as before, and UDP without one stays without.
func TestMapKeepsWrongChecksums(t *testing.T) {
	rules := rewrite.Rules{Map: mappings(t, "198.18.0.0/16=10.1.0.0/16")}
	for _, at := range []int{14 + 10, 14 + 20 + 6} {
		in, want := recipe{proto: "udp", payload: counted(9)}.frame(t), recipe{proto: "udp", src: "10.1.0.1", payload: counted(9)}.frame(t)
		in[at] ^= 0x10
		got, _ := one(t, rules, in)
		if bytes.Equal(got, want) {
			t.Errorf("wrong at %d, and right when mapped", at)
		}
		fixed, touched := one(t, rewrite.Rules{Checksums: true}, got)
		if !bytes.Equal(fixed, want) || touched != (rewrite.Touched{Packets: 1, Checksums: 1}) {
			t.Errorf("wrong at %d: fixed %x, want\n%x, %+v", at, fixed, want, touched)
		}
	}
	none := recipe{proto: "udp", payload: counted(9)}.frame(t)
	none[40], none[41] = 0, 0
	if got, _ := one(t, rules, none); got[40] != 0 || got[41] != 0 {
		t.Errorf("UDP without a checksum got %x", got[40:42])
	}
}

// Of a fragment's datagram the first part has ports and checksum; the others only addresses.
func TestMapFragments(t *testing.T) {
	whole := recipe{proto: "udp", payload: counted(64)}.frame(t)
	want := recipe{proto: "udp", src: "10.1.0.1", sport: 1024, dport: 8080, payload: counted(64)}.frame(t)
	parts := func(b []byte) *packet.Store {
		first, last := bytes.Clone(b[:14+20+40]), append(bytes.Clone(b[:34]), b[14+20+40:]...)
		first[16], first[17], first[20] = 0, 60, 0x20
		last[16], last[17], last[21] = 0, byte(len(last)-14), 5
		s := store(packet.LinkEthernet, first, last)
		all, _ := rewritten(t, rewrite.Rules{Checksums: true}, s) // of the IP header
		return store(packet.LinkEthernet, all[0].Data, all[1].Data)
	}
	all, touched := rewritten(t, rewrite.Rules{Map: mappings(t, "198.18.0.0/16=10.1.0.0/16", ":80=:8080")}, parts(whole))
	if got := store(packet.LinkEthernet, all[0].Data, all[1].Data); text(got) != text(parts(want)) {
		t.Errorf("%swant\n%s", text(got), text(parts(want)))
	}
	if touched != (rewrite.Touched{Packets: 2, Mapped: 2, Fragments: 1}) {
		t.Errorf("%+v", touched)
	}
}

func TestMapARP(t *testing.T) {
	const head = macs + "0806 0001 0800 06 04 0001 020000000002"
	in := unhex(t, head+"0a000001 000000000000 0a000002")
	want := unhex(t, head+"ac100001 000000000000 ac100002")
	rules := rewrite.Rules{Map: mappings(t, "10.0.0.0/8=172.16.0.0/16")}
	if got, touched := one(t, rules, in); !bytes.Equal(got, want) || touched.Mapped != 1 {
		t.Errorf("%x, want\n%x", got, want)
	}
	for name, text := range map[string]string{
		"cut":         head + "0a000001 000000000000 0a0000",
		"not of IPv4": macs + "0806 0001 0801 06 04 0001 020000000002 0a000001 000000000000 0a000002",
	} {
		if got, touched := one(t, rules, unhex(t, text)); !bytes.Equal(got, unhex(t, text)) || touched.Mapped != 0 {
			t.Errorf("%s: %x", name, got)
		}
	}
}

func TestMapNeighbours(t *testing.T) {
	solicit := func(target string) []byte {
		return recipe{proto: "icmp6", v6: true, icmp: 135, dst: "ff02::1:ff00:1", ttl: 255, payload: unhex(t, "00000000"+target)}.frame(t)
	}
	got, _ := one(t, rewrite.Rules{Map: mappings(t, "2001:db8:1::/48=fd00:1:2::/48")}, solicit("20010db8000100000000000000000001"))
	if want := solicit("fd000001000200000000000000000001"); !bytes.Equal(got, want) {
		t.Errorf("%x, want\n%x", got, want)
	}
}

// An ICMP error quotes what came from the other end: its addresses, ports and whole checksums are mapped too.
func TestMapQuotes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		v6     bool
		proto  string
		typ    uint8
		quoted int // bytes of the transport
		rules  string
		want   recipe // of what is quoted
	}{
		{"unreachable, UDP whole", false, "udp", 3, 100, "198.18.0.0/16=10.1.0.0/16", recipe{src: "10.1.0.1"}},
		{"8 bytes of TCP", false, "tcp", 11, 8, "198.18.0.0/16=10.1.0.0/16", recipe{src: "10.1.0.1"}},
		{"18 bytes of TCP", false, "tcp", 11, 18, ":80=:8080", recipe{sport: 1024, dport: 8080}},
		{"odd", false, "udp", 3, 9, ":80=:8080", recipe{sport: 1024, dport: 8080}},
		{"IPv6", true, "udp", 1, 100, "2001:db8::/48=fd00::/48", recipe{src: "fd00::1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answer := func(inner recipe) []byte {
				inner.proto, inner.v6, inner.payload = tt.proto, tt.v6, counted(20)
				b := inner.frame(t)[14:]
				head, o := 20, recipe{proto: "icmp", icmp: tt.typ, src: "198.51.100.1", dst: "198.18.0.1"}
				if tt.v6 {
					head, o = 40, recipe{proto: "icmp6", v6: true, icmp: tt.typ, src: "2001:db8:7::1", dst: "2001:db8::1"}
				}
				if inner.src != "" {
					o.dst = inner.src
				}
				o.payload = b[:min(len(b), head+tt.quoted)]
				if tt.v6 {
					o.payload = append(unhex(t, "00000000"), o.payload...)
				} else {
					o.sport = 0xffff // unused, and not of the quoted packet
				}
				return o.frame(t)
			}
			in, want := answer(recipe{}), answer(tt.want)
			got, touched := one(t, rewrite.Rules{Map: mappings(t, tt.rules)}, in)
			if !bytes.Equal(got, want) || touched.Mapped != 1 {
				t.Errorf("%x, want\n%x", got, want)
			}
		})
	}
}

func TestCollisions(t *testing.T) {
	flow := func(src string, port uint16) []byte {
		return recipe{proto: "udp", src: src, sport: port, dport: 80}.frame(t)
	}
	for _, tt := range []struct {
		name, rules string
		in          [][]byte
		want        int64
		example     string
	}{
		{"apart", "10.0.0.0/8=172.16.0.0/16", [][]byte{flow("10.1.0.5", 5), flow("10.2.0.6", 5)}, 0, ""},
		{"one address, other ports", "10.0.0.0/8=172.16.0.0/16", [][]byte{flow("10.1.0.5", 5), flow("10.2.0.5", 6)}, 0, ""},
		{"one flow", "10.0.0.0/8=172.16.0.0/16", [][]byte{flow("10.1.0.5", 5), flow("10.1.0.5", 5), flow("10.2.0.5", 5), flow("10.2.0.5", 5)}, 2,
			"10.1.0.5 and 10.2.0.5 both become 172.16.0.5"},
		{"with one that stays", "10.0.0.0/8=172.16.0.0/16", [][]byte{flow("172.16.0.5", 5), flow("10.2.0.5", 5)}, 1, "172.16.0.5 and 10.2.0.5 both become 172.16.0.5"},
		{"ports", ":5=:6", [][]byte{flow("10.1.0.5", 5), flow("10.1.0.5", 6)}, 1, "10.1.0.5:5 and 10.1.0.5:6 both become 10.1.0.5:6"},
		{"the other end", "198.16.0.0/12=172.16.0.0/16", [][]byte{recipe{proto: "tcp", src: "10.0.0.1"}.frame(t), recipe{proto: "tcp", src: "10.0.0.1", dst: "198.20.0.1"}.frame(t)}, 1,
			"198.19.0.1 and 198.20.0.1 both become 172.16.0.1"},
		{"IPv6", "2001:db8::/32=fd00::/64", [][]byte{recipe{proto: "tcp", v6: true, dst: "fe80::1"}.frame(t), recipe{proto: "tcp", v6: true, src: "2001:db8:1::1", dst: "fe80::1"}.frame(t)}, 1,
			"2001:db8::1 and 2001:db8:1::1 both become fd00::1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, touched := rewritten(t, rewrite.Rules{Map: mappings(t, tt.rules)}, store(packet.LinkEthernet, tt.in...))
			if touched.Collisions != tt.want || touched.Collision != tt.example || touched.Unchecked != 0 {
				t.Errorf("%d, %q; want %d, %q", touched.Collisions, touched.Collision, tt.want, tt.example)
			}
		})
	}
}

// More flows than are kept are counted, not forgotten.
func TestCollisionsAreBounded(t *testing.T) {
	const flows = 1<<18 + 1000
	b := recipe{proto: "udp"}.frame(t)
	s := new(packet.Store)
	s.Grow(flows, flows*len(b))
	for i := range flows {
		copy(b[26:], []byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		s.Append(b, 0, len(b))
	}
	in, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	r := rewrite.Rules{Map: mappings(t, "10.0.0.0/8=11.0.0.0/8")}.Reader(in)
	var rec packet.Record
	for err == nil {
		err = r.Next(&rec)
	}
	if got := r.Touched(); got.Unchecked != 1000 || got.Collisions != 0 || got.Packets != flows {
		t.Errorf("%+v", got)
	}
}

func TestMapLongFrame(t *testing.T) {
	in := recipe{proto: "tcp", tcp: layers.TCP{ACK: true}, payload: counted(3000)}.frame(t)
	in[16], in[17] = 0, 0 // as segmentation offload leaves it
	got, touched := one(t, rewrite.Rules{Map: mappings(t, "198.18.0.0/16=10.1.0.0/16"), TTL: parsed(t, rewrite.ParseTTL, "9"), Swap: true}, in)
	if fmt.Sprint(got[26:38]) != fmt.Sprint([]byte{198, 19, 0, 1, 10, 1, 0, 1, 0, 80, 4, 0}) || got[22] != 9 || touched.Mapped != 1 || touched.TTL != 1 {
		t.Errorf("%x, %+v", got[:40], touched)
	}
}
