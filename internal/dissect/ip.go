package dissect

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"

	"loadtest/packet"
)

// IP protocols beside those of package packet.
const (
	protoIGMP   = 2
	protoIPv4   = 4
	protoIPv6   = 41
	protoGRE    = 47
	protoAH     = 51
	protoL2TPv3 = 115
)

// UDP ports of what is told apart (IANA).
const (
	portIKE    = 500
	portNATT   = 4500
	portVXLAN  = 4789
	portGeneve = 6081
)

// ip is a line about a frame of IP.
func (f frame) ip() string {
	if !f.ok {
		return fmt.Sprintf("%s, cut or broken, %s from %s", version(f.Type == packet.TypeIPv6), f.size(), f.from())
	}
	p := f.body()
	switch {
	case f.Fragment:
		return fmt.Sprintf("IP fragment %s, %s of %s", f.way(), f.size(), protocol(f.Proto))
	case f.icmp():
		return f.icmpLine(p)
	case f.Proto == protoIGMP && f.Type == packet.TypeIPv4:
		return f.groups("IGMP", p)
	case f.Proto == packet.ProtoUDP && len(p) >= 8:
		return f.udp(p)
	case f.Proto == packet.ProtoTCP: // 20 bytes of it are there
		return fmt.Sprintf("TCP %s %s, %s", f.sockets(p), flags(p[13]), f.size())
	case f.Proto == packet.ProtoESP && len(p) >= 8:
		return fmt.Sprintf("ESP %s, SPI 0x%08x, %s", f.way(), binary.BigEndian.Uint32(p), f.size())
	}
	return fmt.Sprintf("%s %s, %s", protocol(f.Proto), f.way(), f.size())
}

func version(v6 bool) string {
	if v6 {
		return "IPv6"
	}
	return "IPv4"
}

// protocol names an IP protocol.
func protocol(n uint8) string {
	name, ok := map[uint8]string{
		packet.ProtoICMP: "ICMP", protoIGMP: "IGMP", protoIPv4: "IPv4 in IP", packet.ProtoTCP: "TCP", packet.ProtoUDP: "UDP",
		protoIPv6: "IPv6 in IP", protoGRE: "GRE", packet.ProtoESP: "ESP", protoAH: "AH", packet.ProtoICMPv6: "ICMPv6", 88: "EIGRP",
		89: "OSPF", 103: "PIM", 112: "VRRP", protoL2TPv3: "L2TPv3", 132: "SCTP",
	}[n]
	if !ok {
		return fmt.Sprintf("IP protocol %d", n)
	}
	return name
}

// way is where a packet comes from and goes to.
func (f frame) way() string {
	src, dst := f.addrs()
	return fmt.Sprintf("%s → %s", src, dst)
}

// sockets is way with the ports.
func (f frame) sockets(p []byte) string {
	src, dst := f.addrs()
	return fmt.Sprintf("%s → %s", netip.AddrPortFrom(src, binary.BigEndian.Uint16(p)), netip.AddrPortFrom(dst, binary.BigEndian.Uint16(p[2:])))
}

func flags(bits byte) string {
	var all []string
	for i, name := range []string{"FIN", "SYN", "RST", "PSH", "ACK", "URG"} {
		if bits&(1<<i) != 0 {
			all = append(all, name)
		}
	}
	if all == nil {
		return "no flags"
	}
	return strings.Join(all, ",")
}

// udp is a line about a datagram; p is its header and what of the payload is there.
func (f frame) udp(p []byte) string {
	src, dst := binary.BigEndian.Uint16(p), binary.BigEndian.Uint16(p[2:])
	data := p[8:]
	switch {
	case dst == 67 || dst == 68:
		return f.dhcp(data)
	case dst == 546 || dst == 547:
		return f.dhcp6(data)
	case (dst == portVXLAN || dst == portGeneve) && len(data) >= 8: // RFC 7348, 5; RFC 8926, 3.4: the network at the same place
		name := map[uint16]string{portVXLAN: "VXLAN", portGeneve: "Geneve"}[dst]
		return fmt.Sprintf("%s %s, VNI %d, %s", name, f.way(), binary.BigEndian.Uint32(data[4:])>>8, f.size())
	case natESP(src, dst, data):
		return fmt.Sprintf("ESP in UDP %s, SPI 0x%08x, %s", f.way(), binary.BigEndian.Uint32(data), f.size())
	}
	name, ok := map[uint16]string{portIKE: "IKE", portNATT: "IKE", 1900: "SSDP", 5353: "mDNS", 5355: "LLMNR"}[dst]
	if !ok {
		name = "UDP"
	}
	return fmt.Sprintf("%s %s, %s", name, f.sockets(p), f.size())
}

// natESP tells ESP in UDP from IKE, whose first 4 bytes are zero, and from the one byte of a keepalive (RFC 3948, 2).
func natESP(src, dst uint16, data []byte) bool {
	return (src == portNATT || dst == portNATT) && len(data) >= 8 && binary.BigEndian.Uint32(data) != 0
}

// dhcp is a line about DHCP (RFC 2131, 2; RFC 2132, 9.6).
func (f frame) dhcp(p []byte) string {
	name := ""
	if len(p) > 240 {
		name = dhcpType(p[240:])
	}
	if name == "" {
		return "DHCP, " + f.size() + " from " + f.from()
	}
	if p[0] == 2 { // a server's
		src, _ := f.addrs()
		return fmt.Sprintf("DHCP %s %s from %s", name, addr(p[16:20]), src)
	}
	return "DHCP " + name + " from " + mac(p[28:34])
}

func dhcpType(options []byte) string {
	for len(options) > 0 && options[0] != 255 {
		if options[0] == 0 {
			options = options[1:]
			continue
		}
		if len(options) < 3 || len(options) < 2+int(options[1]) {
			break
		}
		if options[0] == 53 {
			return map[byte]string{1: "discover", 2: "offer", 3: "request", 4: "decline", 5: "ack", 6: "nak", 7: "release", 8: "inform"}[options[2]]
		}
		options = options[2+int(options[1]):]
	}
	return ""
}

// dhcp6 is a line about DHCPv6 (RFC 8415, 7.3).
func (f frame) dhcp6(p []byte) string {
	name := ""
	if len(p) > 0 {
		name = map[byte]string{1: "solicit", 2: "advertise", 3: "request", 4: "confirm", 5: "renew", 6: "rebind", 7: "reply", 8: "release",
			9: "decline", 10: "reconfigure", 11: "information request", 12: "relay", 13: "relay reply"}[p[0]]
	}
	src, _ := f.addrs()
	if name == "" {
		return fmt.Sprintf("DHCPv6, %s from %s", f.size(), src)
	}
	return fmt.Sprintf("DHCPv6 %s from %s", name, src)
}
