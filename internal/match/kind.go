package match

import "loadtest/packet"

// A Kind names what a foreign frame is.
type Kind uint8

// Kinds of foreign frames.
const (
	ARP Kind = iota
	IPv4UDP
	IPv4TCP
	IPv4ICMP
	IPv4ESP
	IPv4Other
	IPv6ND
	IPv6MLD
	IPv6ICMP
	IPv6UDP
	IPv6TCP
	IPv6Other
	Fragment
	LLDP
	STP
	Other
	OursAstray
	Kinds // how many there are
)

var kindNames = [Kinds]string{"ARP", "IPv4 UDP", "IPv4 TCP", "ICMP", "ESP", "IPv4", "IPv6 ND", "IPv6 MLD", "ICMPv6", "IPv6 UDP",
	"IPv6 TCP", "IPv6", "IP fragment", "LLDP", "STP", "other", "ours at the wrong port"}

// String is the kind's name in reports.
func (k Kind) String() string { return kindNames[k] }

func kind(b []byte, h packet.Headers, ok bool) Kind {
	switch h.Type {
	case packet.TypeARP:
		return ARP
	case packet.TypeLLDP:
		return LLDP
	case packet.TypeIPv4:
		return kind4(h, ok)
	case packet.TypeIPv6:
		return kind6(b, h, ok)
	}
	if h.L3 > 0 && h.Type < 0x0600 && len(b) > h.L3 && b[h.L3] == 0x42 { // LLC SAP of spanning tree (IEEE 802.1D)
		return STP
	}
	return Other
}

func kind4(h packet.Headers, ok bool) Kind {
	switch {
	case !ok:
		return IPv4Other
	case h.Fragment:
		return Fragment
	case h.Proto == packet.ProtoUDP:
		return IPv4UDP
	case h.Proto == packet.ProtoTCP:
		return IPv4TCP
	case h.Proto == packet.ProtoICMP:
		return IPv4ICMP
	case h.Proto == packet.ProtoESP:
		return IPv4ESP
	}
	return IPv4Other
}

func kind6(b []byte, h packet.Headers, ok bool) Kind {
	switch {
	case !ok:
		return IPv6Other
	case h.Fragment:
		return Fragment
	case h.Proto == packet.ProtoUDP:
		return IPv6UDP
	case h.Proto == packet.ProtoTCP:
		return IPv6TCP
	case h.Proto == packet.ProtoICMPv6 && h.L4 < len(b):
		switch t := b[h.L4]; {
		case t >= 133 && t <= 137: // RFC 4861
			return IPv6ND
		case t >= 130 && t <= 132 || t == 143: // RFC 2710, RFC 3810
			return IPv6MLD
		}
		return IPv6ICMP
	}
	return IPv6Other
}
