package packet_test

import (
	"bytes"
	"math/rand/v2"
	"net"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"loadtest/packet"
)

// build is a frame with right checksums, made by gopacket.
func build(t testing.TB, proto string, v6, vlan bool, payload []byte) []byte {
	t.Helper()
	eth := &layers.Ethernet{SrcMAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, DstMAC: net.HardwareAddr{2, 0, 0, 0, 0, 2}, EthernetType: layers.EthernetTypeIPv4}
	next := layers.EthernetTypeIPv4
	if v6 {
		next = layers.EthernetTypeIPv6
	}
	list := []gopacket.SerializableLayer{eth}
	eth.EthernetType = next
	if vlan {
		eth.EthernetType = layers.EthernetTypeDot1Q
		list = append(list, &layers.Dot1Q{VLANIdentifier: 7, Type: next})
	}
	p := map[string]layers.IPProtocol{"udp": layers.IPProtocolUDP, "tcp": layers.IPProtocolTCP, "icmp": layers.IPProtocolICMPv4, "icmp6": layers.IPProtocolICMPv6, "raw": 253}[proto]
	var network gopacket.NetworkLayer
	if v6 {
		ip := &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: p, SrcIP: net.ParseIP("fd00::1"), DstIP: net.ParseIP("fd00::2")}
		network, list = ip, append(list, ip)
	} else {
		ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: p, SrcIP: net.IP{198, 18, 0, 1}, DstIP: net.IP{198, 19, 0, 1}}
		network, list = ip, append(list, ip)
	}
	switch proto {
	case "udp":
		l := &layers.UDP{SrcPort: 7, DstPort: 9}
		_ = l.SetNetworkLayerForChecksum(network)
		list = append(list, l)
	case "tcp":
		l := &layers.TCP{SrcPort: 7, DstPort: 9, ACK: true, Window: 1000}
		_ = l.SetNetworkLayerForChecksum(network)
		list = append(list, l)
	case "icmp":
		list = append(list, &layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(8, 0), Id: 3})
	case "icmp6":
		l := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(128, 0)}
		_ = l.SetNetworkLayerForChecksum(network)
		list = append(list, l)
	}
	buf := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, append(list, gopacket.Payload(payload))...); err != nil {
		t.Fatal(err)
	}
	b := append([]byte(nil), buf.Bytes()...)
	for len(b) < 60 {
		b = append(b, 0)
	}
	return b
}

// rebuilt is the frame with its checksums computed anew by gopacket.
func rebuilt(t *testing.T, proto string, v6, vlan bool, b []byte) []byte {
	h, ok := packet.Parse(b)
	if !ok {
		t.Fatal("not parsed")
	}
	payload := h.Payload
	if proto == "icmp6" { // gopacket counts the four bytes behind the checksum as payload
		payload -= 4
	}
	return build(t, proto, v6, vlan, b[payload:h.End])
}

// No checksum changes with the tag, whatever the protocol, the length's parity and what stood there before.
func TestTagKeepsChecksums(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		proto    string
		v6, vlan bool
	}{{"udp", false, false}, {"udp", false, true}, {"tcp", false, false}, {"icmp", false, false}, {"raw", false, false},
		{"udp", true, false}, {"tcp", true, true}, {"icmp6", true, false}} {
		for _, size := range []int{18, 19, 25, 100, 1001} {
			payload := make([]byte, size+4)
			for i := range payload {
				payload[i] = byte(rng.Uint32())
			}
			b := build(t, tt.proto, tt.v6, tt.vlan, payload)
			at := packet.TagOffset(b, packet.TagAlways)
			if at < 0 {
				t.Fatalf("%s, %d bytes: no room for a tag", tt.proto, size)
			}
			packet.ClearTag(b, at)
			tag := packet.Tag{Magic: uint16(rng.Uint32()) | 1, Lane: 3, Trial: 9, Seq: rng.Uint32(), Nanos: int64(rng.Uint64() >> 1)}
			tag.Put(b[at:])
			if want := rebuilt(t, tt.proto, tt.v6, tt.vlan, b); !bytes.Equal(b, want) {
				t.Errorf("%s v6=%v, %d bytes: checksum is wrong with the tag:\n% x\n% x", tt.proto, tt.v6, size, b, want)
			}
			if got, whole := packet.ReadTag(b[at:]); !whole || got != tag {
				t.Errorf("read %+v (whole %v), want %+v", got, whole, tag)
			}
			b[at+9] ^= 4
			if _, whole := packet.ReadTag(b[at:]); whole {
				t.Error("a damaged tag passes for whole")
			}
		}
	}
}

func TestWhereTheTagGoes(t *testing.T) {
	zero, text := make([]byte, 18), []byte("no room for a tag!")
	tagged := make([]byte, 18)
	packet.Tag{Magic: 77, Seq: 5}.Put(tagged)
	short := build(t, "udp", false, false, zero)
	for _, tt := range []struct {
		name  string
		b     []byte
		mode  packet.TagMode
		taken bool
	}{
		{"60-byte UDP, zeros", build(t, "udp", false, false, zero), packet.TagAuto, true},
		{"a tag of another run", build(t, "udp", false, false, tagged), packet.TagAuto, true},
		{"payload in use", build(t, "udp", false, false, text), packet.TagAuto, false},
		{"payload in use, always", build(t, "udp", false, false, text), packet.TagAlways, true},
		{"all ones", build(t, "udp", false, false, bytes.Repeat([]byte{255}, 18)), packet.TagAuto, false},
		{"17 bytes", build(t, "udp", false, false, zero[:17]), packet.TagAlways, false},
		{"60-byte TCP", build(t, "tcp", false, false, zero[:6]), packet.TagAuto, false},
		{"never", build(t, "udp", false, false, zero), packet.TagNever, false},
		{"cut short", short[:50], packet.TagAuto, false},
		{"fragment", append(append(append([]byte{}, short[:20]...), 0x20), short[21:]...), packet.TagAlways, false},
		{"ARP", append(append([]byte{}, short[:12]...), append([]byte{8, 6}, make([]byte, 46)...)...), packet.TagAlways, false},
		{"no frame", []byte{1, 2, 3}, packet.TagAlways, false},
	} {
		if at := packet.TagOffset(tt.b, tt.mode); (at >= 0) != tt.taken {
			t.Errorf("%s: tag at %d, want taken=%v", tt.name, at, tt.taken)
		}
	}
}

func TestFlowIsWhatARouterLeaves(t *testing.T) {
	b := build(t, "udp", false, false, make([]byte, 18))
	routed := append([]byte{}, b...)
	copy(routed, []byte{9, 9, 9, 9, 9, 9, 8, 8, 8, 8, 8, 8})
	routed[22]--
	routed[24]++
	if packet.Flow(b) != packet.Flow(routed) {
		t.Error("the flow changed with MAC addresses, TTL and checksum")
	}
	if packet.Flow(b) != packet.Flow(build(t, "udp", false, true, make([]byte, 18))) {
		t.Error("the flow changed with a VLAN tag")
	}
	for name, at := range map[string]int{"source": 29, "destination": 33, "source port": 35, "destination port": 37, "protocol": 23} {
		other := append([]byte{}, b...)
		other[at]++
		if packet.Flow(b) == packet.Flow(other) {
			t.Errorf("another %s is the same flow", name)
		}
	}
	arp := append(append([]byte{}, b[:12]...), 8, 6, 1, 2, 3)
	if packet.Flow(arp) != packet.Flow(append(append([]byte{}, arp...), make([]byte, 30)...)) {
		t.Error("padding changes the flow of a frame that is not IP")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(build(f, "udp", false, true, make([]byte, 30)))
	f.Add(build(f, "tcp", true, false, make([]byte, 30)))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, ok := packet.Parse(b)
		if ok && !(h.L3 <= h.L4 && h.L4 <= h.Payload && h.Payload <= h.End) {
			t.Fatalf("parts out of order: %+v", h)
		}
		packet.Flow(b)
		before := append([]byte{}, b...)
		if at := packet.TagOffset(b, packet.TagAlways); at >= 0 {
			packet.ClearTag(b, at)
			packet.Tag{Magic: 1}.Put(b[at:])
			h2, ok := packet.Parse(b)
			if !ok || h2 != h {
				t.Fatalf("a tag changed the headers: %+v, was %+v", h2, h)
			}
			if !bytes.Equal(b[at+packet.TagLen:], before[at+packet.TagLen:]) {
				t.Fatal("bytes behind the tag changed")
			}
		}
	})
}

func BenchmarkPut(b *testing.B) {
	buf := make([]byte, packet.TagLen)
	for i := uint32(0); b.Loop(); i++ {
		packet.Tag{Magic: 1, Seq: i, Nanos: int64(i)}.Put(buf)
	}
}
