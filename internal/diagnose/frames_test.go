package diagnose

import (
	"encoding/hex"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

const (
	routerMAC = "00:1b:21:aa:00:02"
	switchMAC = "00:1b:21:bb:00:03"
)

func hw(t testing.TB, s string) net.HardwareAddr {
	t.Helper()
	m, err := net.ParseMAC(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// station is a MAC address.
func station(t testing.TB, s string) [6]byte {
	t.Helper()
	return [6]byte(hw(t, s))
}

// frame is a frame of the router's.
func frame(t testing.TB, kind layers.EthernetType, l ...gopacket.SerializableLayer) []byte {
	t.Helper()
	b := gopacket.NewSerializeBuffer()
	all := append([]gopacket.SerializableLayer{&layers.Ethernet{SrcMAC: hw(t, routerMAC), DstMAC: layers.EthernetBroadcast, EthernetType: kind}}, l...)
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true}, all...); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// whoHas is the router's question for an address.
func whoHas(t testing.TB, target, asker string) []byte {
	t.Helper()
	to, from := netip.MustParseAddr(target), netip.MustParseAddr(asker)
	if to.Is6() {
		ip := &layers.IPv6{Version: 6, HopLimit: 255, NextHeader: layers.IPProtocolICMPv6, SrcIP: from.AsSlice(), DstIP: net.ParseIP("ff02::1")}
		return frame(t, layers.EthernetTypeIPv6, ip, gopacket.Payload(append([]byte{135, 0, 0, 0, 0, 0, 0, 0}, to.AsSlice()...)))
	}
	return frame(t, layers.EthernetTypeARP, &layers.ARP{AddrType: 1, Protocol: 0x0800, HwAddressSize: 6, ProtAddressSize: 4, Operation: 1,
		SourceHwAddress: hw(t, routerMAC), SourceProtAddress: from.AsSlice(), DstHwAddress: make([]byte, 6), DstProtAddress: to.AsSlice()})
}

// ip4 is a packet of the router's.
func ip4(t testing.TB, proto layers.IPProtocol, l ...gopacket.SerializableLayer) []byte {
	t.Helper()
	ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: proto, SrcIP: net.IP{198, 19, 0, 1}, DstIP: net.IP{198, 19, 0, 2}}
	return frame(t, layers.EthernetTypeIPv4, append([]gopacket.SerializableLayer{ip}, l...)...)
}

func esp(t testing.TB) []byte {
	return ip4(t, layers.IPProtocolESP, gopacket.Payload("\x00\x00\x01\x01"+strings.Repeat("x", 46)))
}

func lldp(t testing.TB) []byte {
	t.Helper()
	b, err := hex.DecodeString("02070400" + "1b21bb0003" + "0406054769302f33" + "06020078" + "0a08636f72652d737731" + "0000")
	if err != nil {
		t.Fatal(err)
	}
	return frame(t, layers.EthernetTypeLinkLayerDiscovery, gopacket.Payload(b))
}

func eapol(t testing.TB) []byte {
	return frame(t, layers.EthernetTypeEAPOL, gopacket.Payload{1, 0, 0, 5, 1, 1, 0, 5, 1})
}

func bpdu(t testing.TB) []byte {
	return frame(t, 38, gopacket.Payload(append([]byte{0x42, 0x42, 3}, make([]byte, 40)...)))
}

// heard is what a port heard: so many of each frame.
func heard(what ...any) (h Heard) {
	for i := 0; i < len(what); i += 2 {
		for range what[i].(int) {
			h.See(what[i+1].([]byte))
		}
	}
	return h
}
