package match

import (
	"encoding/binary"
	"net"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"loadtest/packet"
)

// frame serializes layers, with lengths and checksums.
func frame(t testing.TB, l ...gopacket.SerializableLayer) []byte {
	t.Helper()
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true}, l...); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func ether(t layers.EthernetType) *layers.Ethernet {
	return &layers.Ethernet{SrcMAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, DstMAC: net.HardwareAddr{2, 0, 0, 0, 0, 2}, EthernetType: t}
}

func ip4(p layers.IPProtocol) *layers.IPv4 {
	return &layers.IPv4{Version: 4, IHL: 5, TTL: 64, Protocol: p, SrcIP: net.IP{198, 18, 0, 1}, DstIP: net.IP{198, 19, 0, 1}}
}

func ip6(p layers.IPProtocol) *layers.IPv6 {
	return &layers.IPv6{Version: 6, HopLimit: 255, NextHeader: p, SrcIP: net.ParseIP("2001:2::1"), DstIP: net.ParseIP("2001:2::2")}
}

func icmp6(kind uint8) gopacket.SerializableLayer {
	return &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(kind, 0)}
}

func TestKinds(t *testing.T) {
	const v4, v6 = layers.EthernetTypeIPv4, layers.EthernetTypeIPv6
	vlan := &layers.Dot1Q{VLANIdentifier: 7, Type: v4}
	data := gopacket.Payload(make([]byte, 30))
	cut := func(b []byte, n int) []byte { return b[:n] }
	for _, tt := range []struct {
		name  string
		frame []byte
		want  Kind
	}{
		{"ARP", frame(t, ether(layers.EthernetTypeARP), gopacket.Payload(make([]byte, 46))), ARP},
		{"RARP", frame(t, ether(0x8035), gopacket.Payload(make([]byte, 46))), RARP},
		{"802.1X", frame(t, ether(layers.EthernetTypeEAPOL), data), EAPOL},
		{"UDP", frame(t, ether(v4), ip4(17), &layers.UDP{}, data), IPv4UDP},
		{"UDP in a VLAN", frame(t, ether(layers.EthernetTypeDot1Q), vlan, ip4(17), &layers.UDP{}, data), IPv4UDP},
		{"TCP", frame(t, ether(v4), ip4(6), &layers.TCP{}, data), IPv4TCP},
		{"ICMP", frame(t, ether(v4), ip4(1), &layers.ICMPv4{}, data), IPv4ICMP},
		{"ESP", frame(t, ether(v4), ip4(50), data), ESP},
		{"ESP6", frame(t, ether(v6), ip6(50), data), ESP},
		{"GRE", frame(t, ether(v4), ip4(47), data), GRE},
		{"GRE6", frame(t, ether(v6), ip6(47), data), GRE},
		{"IGMP", frame(t, ether(v4), ip4(2), data), IPv4Other},
		{"IPv4, cut in its header", cut(frame(t, ether(v4), ip4(17), &layers.UDP{}, data), 30), IPv4Other},
		{"UDP6", frame(t, ether(v6), ip6(17), &layers.UDP{}, data), IPv6UDP},
		{"TCP6", frame(t, ether(v6), ip6(6), &layers.TCP{}, data), IPv6TCP},
		{"router solicitation", frame(t, ether(v6), ip6(58), icmp6(133), data), IPv6ND},
		{"neighbour solicitation", frame(t, ether(v6), ip6(58), icmp6(135), data), IPv6ND},
		{"redirect", frame(t, ether(v6), ip6(58), icmp6(137), data), IPv6ND},
		{"listener query", frame(t, ether(v6), ip6(58), icmp6(130), data), IPv6MLD},
		{"listener report, version 2", frame(t, ether(v6), ip6(58), icmp6(143), data), IPv6MLD},
		{"echo", frame(t, ether(v6), ip6(58), icmp6(128), data), IPv6ICMP},
		{"ICMPv6, cut before its type", cut(frame(t, ether(v6), ip6(58), icmp6(135), data), 54), IPv6Other},
		{"no next header", frame(t, ether(v6), ip6(59), data), IPv6Other},
		{"IPv6, cut", cut(frame(t, ether(v6), ip6(17), &layers.UDP{}, data), 40), IPv6Other},
		{"LLDP", frame(t, ether(layers.EthernetTypeLinkLayerDiscovery), data), LLDP},
		{"spanning tree", append([]byte{1, 128, 194, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 38, 0x42, 0x42, 3}, make([]byte, 43)...), STP},
		{"spanning tree of a VLAN", append([]byte{1, 0, 12, 204, 204, 205, 2, 0, 0, 0, 0, 1, 0, 50, 0xaa, 0xaa, 3, 0, 0, 12, 1, 11}, make([]byte, 43)...), STP},
		{"CDP", append([]byte{1, 0, 12, 204, 204, 204, 2, 0, 0, 0, 0, 1, 0, 50, 0xaa, 0xaa, 3, 0, 0, 12, 32, 0}, make([]byte, 43)...), Other},
		{"another LLC", append([]byte{1, 128, 194, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 38, 0xaa, 0xaa, 3}, make([]byte, 43)...), Other},
		{"an unknown EtherType", frame(t, ether(0x88b5), data), Other},
		{"too short", []byte{1, 2, 3}, Other},
		{"nothing", nil, Other},
		{"cut in a VLAN tag", frame(t, ether(layers.EthernetTypeDot1Q), vlan)[:15], Other},
	} {
		t.Run(tt.name, func(t *testing.T) {
			table := Table{Magic: 0xabcd, Trial: 1}
			table.Expect(1)
			if hit := table.Match(tt.frame); hit.Verdict != Foreign || hit.Kind != tt.want {
				t.Errorf("verdict %d, %v; want %d, %v", hit.Verdict, hit.Kind, Foreign, tt.want)
			}
			if got := KindOf(tt.frame); got != tt.want {
				t.Errorf("KindOf = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestKindsHaveDifferentNames(t *testing.T) {
	seen := map[string]bool{}
	for k := range Kinds {
		if name := k.String(); name == "" || seen[name] {
			t.Errorf("kind %d is named %q, not a name of its own", k, name)
		}
		seen[k.String()] = true
	}
}

func TestMatch(t *testing.T) {
	const magic = 0xbeef
	tagged := func(tag packet.Tag) []byte {
		b := frame(t, ether(layers.EthernetTypeIPv4), ip4(17), &layers.UDP{}, gopacket.Payload(make([]byte, 30)))
		tag.Put(b[len(b)-packet.TagLen:])
		return b
	}
	broken := tagged(packet.Tag{Magic: magic, Lane: 3, Trial: 9})
	broken[len(broken)-1]++
	good := tagged(packet.Tag{Magic: magic, Lane: 3, Trial: 9, Seq: 1<<32 - 1, Nanos: -5})
	known := frame(t, ether(layers.EthernetTypeIPv6), ip6(17), &layers.UDP{})
	for _, tt := range []struct {
		name  string
		frame []byte
		want  Hit
	}{
		{"tagged", good, Hit{Verdict: Tagged, Lane: 3, Seq: 1<<32 - 1, Nanos: -5}},
		{"tagged, padded by Ethernet", append(good[:len(good):len(good)], 0, 0, 7), Hit{Verdict: Tagged, Lane: 3, Seq: 1<<32 - 1, Nanos: -5}},
		{"pre-roll", tagged(packet.Tag{Magic: magic, Lane: 3, Trial: 8, Seq: 1}), Hit{Verdict: Preroll, Lane: 3, Seq: 1}},
		{"late", tagged(packet.Tag{Magic: magic, Lane: 3, Trial: 7, Seq: 1}), Hit{Verdict: Late, Lane: 3, Seq: 1}},
		{"another lane's", tagged(packet.Tag{Magic: magic, Lane: 4, Trial: 9}), Hit{Verdict: Astray, Lane: 4}},
		{"another run's", tagged(packet.Tag{Magic: magic + 1, Lane: 3, Trial: 9}), Hit{Kind: IPv4UDP}},
		{"damaged", broken, Hit{Verdict: Corrupt, Lane: 3, Nanos: 1}},
		{"quoted to its end", frame(t, ether(layers.EthernetTypeIPv4), ip4(1), &layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(11, 0)}, gopacket.Payload(good[14:])), Hit{Kind: IPv4ICMP}},
		{"cut", good[:len(good)-1], Hit{Kind: IPv4UDP}},
		{"by flow", known, Hit{Verdict: ByFlow, Flow: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			table := Table{Magic: magic, Trial: 9, Preroll: 8}
			table.Lanes[3] = true
			table.Expect(77)
			table.Expect(packet.Flow(known))
			if got := table.Match(tt.frame); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
	if hit := (&Table{Magic: magic}).Match(known); hit.Verdict != Foreign {
		t.Errorf("an empty table knows %+v", hit)
	}
}

// A flow has one number, however many there are.
func TestExpect(t *testing.T) {
	var table Table
	for pass := range 2 {
		for i := range 5000 {
			key := uint64(i) * 0x100000000 // equal in the lower bits: the worst case
			if i%2 == 0 {
				key = uint64(i)
			}
			if flow, known := table.Expect(key); int(flow) != i || known != (pass == 1) {
				t.Fatalf("pass %d, flow %d: number %d, known %v", pass, i, flow, known)
			}
		}
	}
	if table.Flows() != 5000 {
		t.Errorf("%d flows, want 5000", table.Flows())
	}
}

// A frame is ours of this trial if and only if a whole tag with the right numbers stands at the end of its IP payload.
// The last fragment of a packet carries its tag; that the rest came too is not said.
func TestFragmentsAreForeign(t *testing.T) {
	b := frame(t, ether(layers.EthernetTypeIPv4), ip4(17), &layers.UDP{}, gopacket.Payload(make([]byte, 30)))
	table := Table{Magic: 0xa5c3, Trial: 5}
	table.Lanes[2] = true
	packet.Tag{Magic: 0xa5c3, Lane: 2, Trial: 5}.Put(b[len(b)-packet.TagLen:])
	if hit := table.Match(b); hit.Verdict != Tagged {
		t.Fatalf("verdict %d of our own packet", hit.Verdict)
	}
	b[21] = 5 // fragment offset
	if hit := table.Match(b); hit.Verdict != Foreign || hit.Kind != Fragment {
		t.Errorf("verdict %d, kind %v of a fragment; want foreign, IP fragment", hit.Verdict, hit.Kind)
	}
}

func FuzzMatch(f *testing.F) {
	udp := frame(f, ether(layers.EthernetTypeIPv4), ip4(17), &layers.UDP{}, gopacket.Payload(make([]byte, 30)))
	f.Add(udp, true, -18)
	f.Add(udp, true, -19)
	f.Add(frame(f, ether(layers.EthernetTypeIPv6), ip6(58), icmp6(135), gopacket.Payload(make([]byte, 20))), true, -18)
	f.Add([]byte{}, false, 0)
	f.Fuzz(func(t *testing.T, b []byte, put bool, at int) {
		table := Table{Magic: 0xa5c3, Trial: 5, Preroll: 4}
		table.Lanes[2] = true
		if at < 0 {
			at += len(b)
		}
		if put && at >= 0 && at <= len(b)-packet.TagLen {
			packet.Tag{Magic: 0xa5c3, Lane: 2, Trial: 5, Seq: 7}.Put(b[at:])
		}
		table.Expect(packet.Flow([]byte("neither of them")))
		hit := table.Match(b)
		h, ok := packet.Parse(b)
		ours := false
		if ok && !h.Fragment && (h.Type == packet.TypeIPv4 || h.Type == packet.TypeIPv6) && h.End <= len(b) && h.End-packet.TagLen >= h.L4 {
			tag, whole := packet.ReadTag(b[h.End-packet.TagLen : h.End])
			ours = whole && tag.Magic == 0xa5c3 && tag.Lane == 2 && tag.Trial == 5
			if own := binary.BigEndian.Uint16(b[h.End-16:]) == 0xa5c3; own == (hit.Verdict == Foreign || hit.Verdict == ByFlow) {
				t.Fatalf("the magic is there: %v; verdict %d", own, hit.Verdict)
			}
		} else if hit.Verdict != Foreign && hit.Verdict != ByFlow {
			t.Fatalf("verdict %d of a frame without room for a tag", hit.Verdict)
		}
		if ours != (hit.Verdict == Tagged) {
			t.Fatalf("ours %v, verdict %d", ours, hit.Verdict)
		}
		if hit.Verdict == Foreign && hit.Kind >= OursAstray {
			t.Fatalf("a foreign frame of kind %v", hit.Kind)
		}
	})
}
