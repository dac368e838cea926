package gen

import (
	"bytes"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"loadtest/packet"
	"loadtest/units"
)

func made(t testing.TB, text string, o Options) *packet.Store {
	t.Helper()
	store, err := parsed(t, text).Packets(o)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// rebuilt is a frame as gopacket writes what it read, with its own lengths and checksums.
func rebuilt(t *testing.T, b []byte) (names string, again []byte) {
	t.Helper()
	p := gopacket.NewPacket(b, layers.LayerTypeEthernet, gopacket.Default)
	var list []gopacket.SerializableLayer
	for _, l := range p.Layers() {
		names += l.LayerType().String() + " "
		switch l := l.(type) {
		case *layers.UDP:
			_ = l.SetNetworkLayerForChecksum(p.NetworkLayer())
		case *layers.TCP:
			_ = l.SetNetworkLayerForChecksum(p.NetworkLayer())
		case *layers.ICMPv6:
			_ = l.SetNetworkLayerForChecksum(p.NetworkLayer())
			list = append(list, l, gopacket.Payload(l.Payload))
			continue
		case *layers.ICMPv6Echo: // gopacket would drop what follows it
			continue
		}
		list = append(list, l.(gopacket.SerializableLayer))
	}
	buf := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, list...); err != nil {
		t.Fatal(err)
	}
	return names, buf.Bytes()
}

func TestPacketsAreWhatGopacketMakes(t *testing.T) {
	mac := Options{Src: [6]byte{2, 0, 0, 0, 0, 1}, Dst: [6]byte{2, 0, 0, 0, 0, 2}}
	for _, tt := range []struct{ words, layers string }{
		{"", "Ethernet IPv4 UDP Payload "},
		{",vlan=100", "Ethernet Dot1Q IPv4 UDP Payload "},
		{",proto=tcp", "Ethernet IPv4 TCP Payload "},
		{",proto=icmp", "Ethernet IPv4 ICMPv4 Payload "},
		{",ip6", "Ethernet IPv6 UDP Payload "},
		{",ip6,proto=tcp,vlan=4094", "Ethernet Dot1Q IPv6 TCP Payload "},
		{",ip6,proto=icmp", "Ethernet IPv6 ICMPv6 ICMPv6Echo "},
	} {
		for _, size := range []string{"96", "97", "1518", "imix", "9216"} {
			for _, swap := range []bool{false, true} {
				t.Run(fmt.Sprintf("gen:%s%s swap=%v", size, tt.words, swap), func(t *testing.T) {
					o := mac
					o.Swap = swap
					s := made(t, "gen:"+size+tt.words, o)
					for i := range s.Len() {
						b := s.Frame(i).Data
						names, want := rebuilt(t, b)
						if size != "imix" && names != tt.layers {
							t.Fatalf("packet %d: %s, want %s", i, names, tt.layers)
						}
						if !bytes.Equal(b, want) {
							t.Fatalf("packet %d:\n% x, gopacket\n% x", i, b, want)
						}
						if !bytes.HasPrefix(b, []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1}) {
							t.Fatalf("packet %d: addresses % x", i, b[:12])
						}
					}
				})
			}
		}
	}
}

// first is the first packet in full, by RFC 2544's words: TTL 64, no DF, source port c020, destination port 7.
func TestFirstPacket(t *testing.T) {
	b := made(t, "gen", Options{Src: [6]byte{1, 1, 1, 1, 1, 1}, Dst: [6]byte{2, 2, 2, 2, 2, 2}}).Frame(0)
	want := "020202020202 010101010101 0800 4500002e000000004011ee95 c6120002 c6130002 c0200007001ab368" + fmt.Sprintf("%036x", 0)
	got := fmt.Sprintf("%x %x %x %x %x %x %x%x", b.Data[:6], b.Data[6:12], b.Data[12:14], b.Data[14:26], b.Data[26:30], b.Data[30:34], b.Data[34:42], b.Data[42:])
	if got != want || b.Nanos != 0 {
		t.Errorf("at %d\n%s, want\n%s", b.Nanos, got, want)
	}
}

func TestTagRoom(t *testing.T) {
	for _, words := range []string{"", ",ip6", ",proto=tcp", ",proto=tcp,ip6", ",proto=icmp", ",proto=icmp,ip6,vlan=3", ",vlan=3"} {
		s := parsed(t, "gen:1518,flows=2"+words)
		for _, size := range []units.Size{s.least(), s.Tagged() - 1, s.Tagged(), s.Tagged() + 1, 1518} {
			if size < s.least() {
				continue
			}
			sized, err := s.With(fmt.Sprint(int(size)))
			if err != nil {
				t.Fatal(err)
			}
			store, err := sized.Packets(Options{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range store.Len() {
				b := store.Frame(i).Data
				if len(b) != int(size)-4 {
					t.Errorf("%s: packet %d has %d bytes, want %d", sized, i, len(b), int(size)-4)
				}
				if at := packet.TagOffset(b, packet.TagAuto); (at >= 0) != (size >= s.Tagged()) || at >= 0 && at != len(b)-packet.TagLen {
					t.Errorf("%s: tag at %d of %d, Tagged %d", sized, at, len(b), s.Tagged())
				}
			}
		}
	}
}

// ends are the addresses of a packet and its UDP or TCP ports, as text.
func ends(t *testing.T, b []byte) string {
	t.Helper()
	p := gopacket.NewPacket(b, layers.LayerTypeEthernet, gopacket.NoCopy)
	text := p.NetworkLayer().NetworkFlow().String()
	if l := p.TransportLayer(); l != nil {
		src, dst := l.TransportFlow().Endpoints()
		text += " " + src.String() + "->" + dst.String()
	}
	return text
}

func TestTuples(t *testing.T) {
	for _, tt := range []struct {
		text  string
		avoid []string
		want  []string
	}{
		{"gen,flows=3", nil, []string{"198.18.0.2->198.19.0.2 49184->7", "198.18.0.3->198.19.0.3 49184->7", "198.18.0.4->198.19.0.4 49184->7"}},
		{"gen,flows=2", []string{"198.18.0.2", "198.19.0.3", "10.0.0.1"}, []string{"198.18.0.3->198.19.0.2 49184->7", "198.18.0.4->198.19.0.4 49184->7"}},
		{"gen,flows=2", []string{"::ffff:198.18.0.2", "198.18.0.2"}, []string{"198.18.0.3->198.19.0.2 49184->7", "198.18.0.4->198.19.0.3 49184->7"}},
		{"gen,ip6,flows=2", []string{"2001:2:0:1::2"}, []string{"2001:2:0:1::3->2001:2:0:2::2 49184->7", "2001:2:0:1::4->2001:2:0:2::3 49184->7"}},
		{"gen,src=2001:db8::/32,dst=fd00::/8,flows=1", []string{"2001:db8:1::2"}, []string{"2001:db8::2->fd00::2 49184->7"}},
		// Two hosts each: the pairs crosswise, then the ports.
		{"gen,src=10.0.0.0/31,dst=11.0.0.0/31,flows=6", nil, []string{"10.0.0.0->11.0.0.0 49184->7", "10.0.0.1->11.0.0.1 49184->7",
			"10.0.0.0->11.0.0.1 49184->7", "10.0.0.1->11.0.0.0 49184->7", "10.0.0.0->11.0.0.0 49185->7", "10.0.0.1->11.0.0.1 49185->7"}},
		{"gen,src=10.0.0.0/29,dst=11.0.0.9,flows=6", nil, []string{"10.0.0.2->11.0.0.9 49184->7", "10.0.0.3->11.0.0.9 49184->7", "10.0.0.4->11.0.0.9 49184->7",
			"10.0.0.5->11.0.0.9 49184->7", "10.0.0.6->11.0.0.9 49184->7", "10.0.0.2->11.0.0.9 49185->7"}},
		{"gen,src=fd00::/127,dst=fd01::/126,flows=3,proto=icmp", nil, []string{"fd00::->fd01::2", "fd00::1->fd01::3", "fd00::->fd01::3"}},
		{"gen,src=0.0.0.0/1,dst=128.0.0.0/1,flows=1", nil, []string{"0.0.0.2->128.0.0.2 49184->7"}},
	} {
		t.Run(tt.text, func(t *testing.T) {
			var o Options
			for _, a := range tt.avoid {
				o.Avoid = append(o.Avoid, netip.MustParseAddr(a))
			}
			s := made(t, tt.text, o)
			var got []string
			for i := range s.Len() {
				got = append(got, ends(t, s.Frame(i).Data))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// All flows differ, those of the other direction too, up to the last tuple there is; and none is to or from whom it must not.
func TestFlowsDiffer(t *testing.T) {
	avoid := []netip.Addr{netip.MustParseAddr("10.0.0.7"), netip.MustParseAddr("10.0.0.14"), netip.MustParseAddr("fd00::8")}
	forbidden := func(end string) bool {
		return slices.Contains([]string{"10.0.0.0", "10.0.0.1", "10.0.0.7", "10.0.0.14", "10.0.0.15", "fd00::8", "fd01::1"}, end)
	}
	for _, text := range []string{
		"gen,flows=200000",
		"gen,flows=200000,proto=tcp,ip6",
		"gen,src=10.0.0.0/28,dst=10.0.0.16/28,proto=icmp,flows=143",   // 11 hosts, 13 hosts: all pairs
		"gen,src=10.0.0.0/28,dst=10.0.0.128/25,proto=icmp,flows=1375", // 11, 125
		"gen,src=12.0.0.0/28,dst=11.0.0.0/27,proto=icmp,flows=377",    // 13, 29
		"gen,src=fd00::/123,dst=fd01::/122,proto=icmp,flows=1798",     // 29, 62
		"gen,src=fd00::/126,dst=fd01::/125,proto=icmp,flows=12",       // 2, 6: with a common divisor
		"gen,src=10.0.0.4/31,dst=11.0.0.0/31,flows=258048",            // all ports of 4 pairs
		"gen,src=fd00::/126,dst=fd01::/125,proto=tcp,flows=300000",
		"gen:imix,src=10.0.0.32/27,dst=10.0.0.64/27,flows=841,proto=icmp,vlan=100",
	} {
		t.Run(text, func(t *testing.T) {
			spec := parsed(t, text)
			seen := make(map[uint64]int)
			for _, swap := range []bool{false, true} {
				s, err := spec.Packets(Options{Avoid: avoid, Swap: swap})
				if err != nil {
					t.Fatal(err)
				}
				for i := range s.Len() {
					seen[packet.Flow(s.Frame(i).Data)]++
					if i%97 == 0 || s.Len() < 3000 {
						if from, to, _ := strings.Cut(ends(t, s.Frame(i).Data), "->"); forbidden(from) || forbidden(strings.Fields(to)[0]) {
							t.Fatalf("packet %d: %s to %s", i, from, to)
						}
					}
				}
			}
			if len(seen) != 2*spec.Flows {
				t.Errorf("%d flows in both directions, want %d", len(seen), 2*spec.Flows)
			}
			for f, n := range seen {
				if n != len(spec.Sizes) {
					t.Fatalf("flow %x: %d packets, want one of each size, %d", f, n, len(spec.Sizes))
				}
			}
		})
	}
}

// The mix is in each flow as it is in all: every size, in its share.
func TestMix(t *testing.T) {
	for _, flows := range []int{1, 7, 12, 24, 256} {
		s := made(t, fmt.Sprintf("gen:imix,flows=%d", flows), Options{})
		got := make(map[string]map[int]int)
		for i := range s.Len() {
			e := ends(t, s.Frame(i).Data)
			if got[e] == nil {
				got[e] = make(map[int]int)
			}
			got[e][s.Size(i)+4]++
		}
		if want := int64(flows) * (7*60 + 4*590 + 1514); len(got) != flows || s.Bytes() != want || parsed(t, fmt.Sprintf("gen:imix,flows=%d", flows)).Bytes() != want {
			t.Errorf("%d flows of %d bytes, want %d of %d", len(got), s.Bytes(), flows, want)
		}
		for e, sizes := range got {
			if !maps.Equal(sizes, map[int]int{64: 7, 594: 4, 1518: 1}) {
				t.Errorf("%d flows: %s: %v, want 64:7 594:4 1518:1", flows, e, sizes)
			}
		}
	}
}

// What Parse let pass can be too much once the run's own addresses are known.
func TestPacketsErrors(t *testing.T) {
	for _, tt := range []struct{ text, avoid, want string }{
		{"gen:64,flows=2,proto=icmp,src=10.0.0.0/31,dst=11.0.0.0", "10.0.0.1",
			`"gen:64,flows=2,proto=icmp,src=10.0.0.0/31,dst=11.0.0.0/32": 2 flows: 10.0.0.0/31 to 11.0.0.0/32 are at most 1 of icmp. Fewer flows, or wider prefixes`},
		{"gen,dst=11.0.0.0/30", "11.0.0.2", `"gen:64,dst=11.0.0.0/30": 11.0.0.0/30 has no host but the router's and the tester's: want a wider prefix`},
	} {
		s, err := parsed(t, tt.text).Packets(Options{Avoid: []netip.Addr{netip.MustParseAddr(tt.avoid)}})
		if s != nil || err == nil || err.Error() != tt.want {
			t.Errorf("%v, %v; want %s", s, err, tt.want)
		}
	}
}
