package neigh_test

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"loadtest/internal/neigh"
	"loadtest/nic"
	"loadtest/packet"
)

var (
	port    = [6]byte{2, 0, 0, 0, 0, 1}
	other   = [6]byte{2, 0, 0, 0, 0, 2} // another port of the tester's
	device  = [6]byte{2, 0, 0, 0, 0, 9}
	stray   = [6]byte{2, 0, 0, 0, 0, 0x77}
	all     = [6]byte{255, 255, 255, 255, 255, 255}
	nobody  = [6]byte{}
	addr    = netip.MustParseAddr
	nowhere = netip.MustParseAddr("0.0.0.0")
)

// frame builds a frame: its addresses, VLAN tags, then layers; lengths and checksums are made.
func frame(t testing.TB, dst, src [6]byte, vlans []uint16, rest ...gopacket.SerializableLayer) []byte {
	t.Helper()
	types := map[gopacket.LayerType]layers.EthernetType{layers.LayerTypeARP: layers.EthernetTypeARP,
		layers.LayerTypeIPv4: layers.EthernetTypeIPv4, layers.LayerTypeIPv6: layers.EthernetTypeIPv6, gopacket.LayerTypePayload: 0x8035}
	next := types[rest[0].LayerType()]
	eth := &layers.Ethernet{DstMAC: dst[:], SrcMAC: src[:], EthernetType: next}
	all := []gopacket.SerializableLayer{eth}
	for i, v := range vlans {
		tag := &layers.Dot1Q{VLANIdentifier: v, Type: next}
		if eth.EthernetType = layers.EthernetTypeDot1Q; i > 0 {
			all[i].(*layers.Dot1Q).Type = layers.EthernetTypeDot1Q
		}
		all = append(all, tag)
	}
	return serialize(t, append(all, rest...))
}

func serialize(t testing.TB, all []gopacket.SerializableLayer) []byte {
	t.Helper()
	for i, l := range all {
		switch l := l.(type) {
		case *layers.ICMPv6:
			l.SetNetworkLayerForChecksum(all[i-1].(gopacket.NetworkLayer))
		case *layers.UDP:
			l.SetNetworkLayerForChecksum(all[i-1].(gopacket.NetworkLayer))
		}
	}
	buf := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, all...); err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(buf.Bytes())
}

func arp(op uint16, mac [6]byte, ip netip.Addr, targetMAC [6]byte, target netip.Addr) gopacket.SerializableLayer {
	return &layers.ARP{AddrType: 1, Protocol: layers.EthernetTypeIPv4, HwAddressSize: 6, ProtAddressSize: 4, Operation: op,
		SourceHwAddress: mac[:], SourceProtAddress: ip.AsSlice(), DstHwAddress: targetMAC[:], DstProtAddress: target.AsSlice()}
}

func v4(src, dst string, proto layers.IPProtocol) *layers.IPv4 {
	return &layers.IPv4{Version: 4, IHL: 5, TOS: 0x20, TTL: 9, Protocol: proto, SrcIP: net.ParseIP(src), DstIP: net.ParseIP(dst)}
}

func v6(src, dst string, hops uint8) *layers.IPv6 {
	return &layers.IPv6{Version: 6, HopLimit: hops, NextHeader: layers.IPProtocolICMPv6, SrcIP: net.ParseIP(src), DstIP: net.ParseIP(dst)}
}

func icmp(kind uint8, payload string) []gopacket.SerializableLayer {
	return []gopacket.SerializableLayer{&layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(kind, 0), Id: 7, Seq: 8}, gopacket.Payload(payload)}
}

func icmp6(kind uint8, body gopacket.SerializableLayer, more ...gopacket.SerializableLayer) []gopacket.SerializableLayer {
	return append([]gopacket.SerializableLayer{&layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(kind, 0)}, body}, more...)
}

// solicit and advertise are messages of neighbour discovery; mac is an option, absent if nobody.
func solicit(target string, mac [6]byte) []gopacket.SerializableLayer {
	return icmp6(135, &layers.ICMPv6NeighborSolicitation{TargetAddress: net.ParseIP(target), Options: option(1, mac)})
}

func advertise(target string, flags uint8, mac [6]byte) []gopacket.SerializableLayer {
	return icmp6(136, &layers.ICMPv6NeighborAdvertisement{Flags: flags, TargetAddress: net.ParseIP(target), Options: option(2, mac)})
}

func option(kind layers.ICMPv6Opt, mac [6]byte) layers.ICMPv6Options {
	if mac == nobody {
		return nil
	}
	return layers.ICMPv6Options{{Type: kind, Data: mac[:]}}
}

func echo6(kind uint8, payload string) []gopacket.SerializableLayer {
	return icmp6(kind, &layers.ICMPv6Echo{Identifier: 7, SeqNumber: 8}, gopacket.Payload(payload))
}

// join puts layers into one list.
func join(first gopacket.SerializableLayer, rest []gopacket.SerializableLayer) []gopacket.SerializableLayer {
	return append([]gopacket.SerializableLayer{first}, rest...)
}

// show says what a frame of the tester's is, and fails where it is not as gopacket makes it: lengths, checksums, padding of zeros.
func show(t testing.TB, b []byte) (text string) {
	t.Helper()
	p := gopacket.NewPacket(b, layers.LayerTypeEthernet, gopacket.Default)
	if e := p.ErrorLayer(); e != nil && b[12] != 0x80 { // gopacket does not know RARP
		t.Errorf("%x: %v", b, e.Error())
	}
	var again []gopacket.SerializableLayer
	for _, l := range p.Layers() {
		if echo, ok := l.(*layers.ICMPv6); ok && echo.TypeCode.Type() < 130 { // gopacket forgets the payload of its ICMPv6Echo
			m := echo.LayerPayload()
			again = append(again, echo, gopacket.Payload(m))
			text += fmt.Sprintf(" %v id %d seq %d %q", echo.TypeCode, m[1], m[3], m[4:])
			break
		}
		if s, ok := l.(gopacket.SerializableLayer); ok {
			again = append(again, s)
		}
		text += describe(l)
	}
	if b[12] != 0x80 {
		made := serialize(t, again)
		if len(made) > len(b) || !bytes.Equal(made, b[:len(made)]) || len(bytes.Trim(b[len(made):], "\x00")) > 0 || len(b) > len(made) && len(b) != 60 {
			t.Errorf("%x\nis in gopacket's words\n%x", b, made)
		}
	}
	if len(b) < 60 {
		t.Errorf("%x has %d bytes", b, len(b))
	}
	return text
}

func describe(l gopacket.Layer) string {
	switch l := l.(type) {
	case *layers.Ethernet:
		return fmt.Sprintf("%v>%v", l.SrcMAC, l.DstMAC)
	case *layers.Dot1Q:
		return fmt.Sprintf(" vlan %d", l.VLANIdentifier)
	case *layers.ARP:
		return fmt.Sprintf(" ARP %d: %v at %v to %v at %v", l.Operation, net.IP(l.SourceProtAddress), net.HardwareAddr(l.SourceHwAddress),
			net.IP(l.DstProtAddress), net.HardwareAddr(l.DstHwAddress))
	case *layers.IPv4:
		return fmt.Sprintf(" %v>%v ttl %d tos %d", l.SrcIP, l.DstIP, l.TTL, l.TOS)
	case *layers.IPv6:
		return fmt.Sprintf(" %v>%v hops %d", l.SrcIP, l.DstIP, l.HopLimit)
	case *layers.ICMPv4:
		return fmt.Sprintf(" %v id %d seq %d %q", l.TypeCode, l.Id, l.Seq, l.LayerPayload())
	case *layers.ICMPv6NeighborSolicitation:
		return fmt.Sprintf(" NS %v %v", l.TargetAddress, l.Options)
	case *layers.ICMPv6NeighborAdvertisement:
		return fmt.Sprintf(" NA %v flags %x %v", l.TargetAddress, l.Flags, l.Options)
	}
	return ""
}

// A sink is a port that keeps what is sent.
type sink struct {
	frames [][]byte
	nanos  []int64
	room   int   // it takes so many more frames, unless negative
	max    int   // longest frame; 0: any
	err    error // of Send
}

func (s *sink) Send(frames []packet.Frame) (n int, err error) {
	for i, f := range frames {
		switch {
		case s.err != nil:
			return i, s.err
		case s.room == 0:
			return i, nil
		case s.max > 0 && len(f.Data) > s.max:
			return i, nic.ErrTooLong
		}
		s.room--
		s.frames, s.nanos = append(s.frames, bytes.Clone(f.Data)), append(s.nanos, f.Nanos)
	}
	return len(frames), nil
}

func (s *sink) Recv([]packet.Frame) (int, error) { return 0, nil }
func (s *sink) Close() error                     { return nil }

// sent is what a host has to say now, described.
func sent(t testing.TB, h *neigh.Host) (all []string) {
	t.Helper()
	s := &sink{room: -1}
	if err := h.Flush(s); err != nil || h.Pending() {
		t.Errorf("Flush: %v; still pending: %v", err, h.Pending())
	}
	for _, f := range s.frames {
		all = append(all, show(t, f))
	}
	return all
}

// tester is a host with addresses as of --addr, less their port.
func tester(t testing.TB, addresses ...string) neigh.Options {
	t.Helper()
	o := neigh.Options{MAC: port, Own: func(mac [6]byte) bool { return mac == port || mac == other }}
	for _, text := range addresses {
		_, a, err := neigh.ParseAddress("eth2=" + text)
		if err != nil {
			t.Fatal(err)
		}
		o.Addresses = append(o.Addresses, a)
	}
	return o
}
