package dissect

import (
	"encoding/hex"
	"net"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

var (
	device = net.HardwareAddr{0x00, 0x1b, 0x21, 0xaa, 0x00, 0x02}
	router = net.HardwareAddr{0x00, 0x1b, 0x21, 0xaa, 0x00, 0x01}
)

// unhex is bytes from hex with spaces.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ether is a frame of the device's around a payload, padded as on the wire.
func ether(kind uint16, payload []byte) []byte {
	b := append([]byte{0x02, 0, 0, 0, 0, 1}, device...)
	b = append(b, byte(kind>>8), byte(kind))
	b = append(b, payload...)
	for len(b) < 60 {
		b = append(b, 0)
	}
	return b
}

// tagged is a frame with a VLAN tag.
func tagged(b []byte, id byte) []byte {
	return append(append(append([]byte(nil), b[:12]...), 0x81, 0, 0xa0, id), b[12:]...)
}

// arp is an ARP message of the device's.
func arp(op byte, sender, target string) []byte {
	p := append([]byte{0, 1, 8, 0, 6, 4, 0, op}, device...)
	p = append(p, net.ParseIP(sender).To4()...)
	p = append(append(p, make([]byte, 6)...), net.ParseIP(target).To4()...)
	return ether(0x0806, p)
}

// serial is layers as bytes, with lengths.
func serial(t testing.TB, l ...gopacket.SerializableLayer) []byte {
	t.Helper()
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true}, l...); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// ip is an IP packet, its version by the addresses.
func ip(t testing.TB, src, dst string, proto byte, payload []byte) []byte {
	t.Helper()
	from, to := net.ParseIP(src), net.ParseIP(dst)
	if from.To4() != nil {
		return serial(t, &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocol(proto), SrcIP: from, DstIP: to}, gopacket.Payload(payload))
	}
	return serial(t, &layers.IPv6{Version: 6, HopLimit: 255, NextHeader: layers.IPProtocol(proto), SrcIP: from, DstIP: to}, gopacket.Payload(payload))
}

// etherIP is ip in a frame.
func etherIP(t testing.TB, src, dst string, proto byte, payload []byte) []byte {
	t.Helper()
	if strings.Contains(src, ":") {
		return ether(0x86dd, ip(t, src, dst, proto, payload))
	}
	return ether(0x0800, ip(t, src, dst, proto, payload))
}

// udp is a datagram.
func udp(t testing.TB, src, dst uint16, payload []byte) []byte {
	t.Helper()
	return serial(t, &layers.UDP{SrcPort: layers.UDPPort(src), DstPort: layers.UDPPort(dst)}, gopacket.Payload(payload))
}

// address is the 16 bytes of an IPv6 address.
func address(s string) []byte { return net.ParseIP(s) }

func join(parts ...[]byte) (b []byte) {
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// bridges is a BPDU with this root and bridge.
const bridges = "0000 02 02 3c  8000 001b21aa0001  00000000  8001 001b21aa0002  8003  0000 1400 0200 0f00"
