package match

import (
	"bytes"

	"loadtest/packet"
)

// A Kind names what a foreign frame is.
type Kind uint8

// Kinds of foreign frames.
const (
	ARP Kind = iota
	RARP
	IPv4UDP
	IPv4TCP
	IPv4ICMP
	ESP
	GRE
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
	EAPOL
	Other
	OursAstray
	Kinds // how many there are
)

var kindNames = [Kinds]string{"ARP", "RARP", "IPv4 UDP", "IPv4 TCP", "ICMP", "ESP", "GRE", "IPv4", "IPv6 ND", "IPv6 MLD", "ICMPv6",
	"IPv6 UDP", "IPv6 TCP", "IPv6", "IP fragment", "LLDP", "STP", "802.1X", "other", "ours at the wrong port"}

// String is the kind's name in reports.
func (k Kind) String() string { return kindNames[k] }

// Protocols that only here have a kind of their own.
const (
	typeRARP  = 0x8035
	typeEAPOL = 0x888e
	protoGRE  = 47
)

// KindOf says what a frame is, whosever it may be.
func KindOf(b []byte) Kind {
	h, ok := packet.Parse(b)
	return kind(b, h, ok)
}

func kind(b []byte, h packet.Headers, ok bool) Kind {
	switch h.Type {
	case packet.TypeARP:
		return ARP
	case typeRARP:
		return RARP
	case packet.TypeLLDP:
		return LLDP
	case typeEAPOL:
		return EAPOL
	case packet.TypeIPv4:
		return kind4(h, ok)
	case packet.TypeIPv6:
		return kind6(b, h, ok)
	}
	if h.L3 > 0 && h.Type < 0x0600 && spanningTree(b[h.L3:]) {
		return STP
	}
	return Other
}

// spanningTree knows BPDUs by their LLC SAP (IEEE 802.1D), and those that Cisco sends for each VLAN by their SNAP.
func spanningTree(llc []byte) bool {
	return len(llc) > 0 && llc[0] == 0x42 || bytes.HasPrefix(llc, []byte{0xaa, 0xaa, 3, 0, 0, 0x0c, 1, 0x0b})
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
		return ESP
	case h.Proto == protoGRE:
		return GRE
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
	case h.Proto == packet.ProtoESP:
		return ESP
	case h.Proto == protoGRE:
		return GRE
	}
	return IPv6Other
}
