package packet

import (
	"encoding/binary"
	"net/netip"
)

// EtherTypes and IP protocols that the tester tells apart.
const (
	TypeIPv4 = 0x0800
	TypeARP  = 0x0806
	TypeVLAN = 0x8100
	TypeQinQ = 0x88a8
	TypeIPv6 = 0x86dd
	TypeLLDP = 0x88cc

	ProtoICMP   = 1
	ProtoTCP    = 6
	ProtoUDP    = 17
	ProtoESP    = 50
	ProtoICMPv6 = 58

	// EtherLen is the length of an Ethernet header without VLAN tags.
	EtherLen = 14
)

// Headers says where the parts of a frame lie. Offsets are into the frame; a part that is not there has offset 0.
type Headers struct {
	Type     uint16 // EtherType behind VLAN tags; below 0x0600 an 802.3 length
	Proto    uint8  // IP protocol behind IPv6 extension headers
	Fragment bool   // of an IP packet: the payload is not whole
	L3       int    // network header
	L4       int    // transport header, or what follows IP
	Payload  int    // behind the transport header, if it is UDP, TCP or ICMP; else L4
	End      int    // of the IP packet: what follows is Ethernet padding; may lie beyond a frame that was cut
}

// Parse finds the parts of an Ethernet frame. It is false where a header does not fit into the frame or contradicts itself;
// Type and L3 are good even then if L3 > 0.
func Parse(b []byte) (h Headers, ok bool) {
	if len(b) < EtherLen {
		return h, false
	}
	at := 12
	h.Type = binary.BigEndian.Uint16(b[at:])
	for h.Type == TypeVLAN || h.Type == TypeQinQ {
		if at += 4; len(b) < at+2 {
			return h, false
		}
		h.Type = binary.BigEndian.Uint16(b[at:])
	}
	h.L3 = at + 2
	switch h.Type {
	case TypeIPv4:
		return h, h.ipv4(b)
	case TypeIPv6:
		return h, h.ipv6(b)
	}
	h.L4, h.Payload, h.End = h.L3, h.L3, len(b)
	return h, true
}

func (h *Headers) ipv4(b []byte) bool {
	ip := b[h.L3:]
	if len(ip) < 20 || ip[0]>>4 != 4 {
		return false
	}
	ihl := int(ip[0]&15) * 4
	total := int(binary.BigEndian.Uint16(ip[2:]))
	if ihl < 20 || total < ihl || len(ip) < ihl {
		return false
	}
	h.Proto = ip[9]
	h.Fragment = binary.BigEndian.Uint16(ip[6:])&0x3fff != 0
	h.L4 = h.L3 + ihl
	h.End = h.L3 + total
	return h.transport(b)
}

func (h *Headers) ipv6(b []byte) bool {
	ip := b[h.L3:]
	if len(ip) < 40 || ip[0]>>4 != 6 {
		return false
	}
	h.Proto = ip[6]
	h.L4 = h.L3 + 40
	h.End = h.L4 + int(binary.BigEndian.Uint16(ip[4:]))
	for {
		length := 0
		switch h.Proto {
		case 0, 43, 60: // hop-by-hop, routing, destination options (RFC 8200, 4)
			if h.L4+8 > min(h.End, len(b)) {
				return false
			}
			length = (int(b[h.L4+1]) + 1) * 8
		case 44: // fragment
			if h.L4+8 > min(h.End, len(b)) {
				return false
			}
			h.Fragment = true
			length = 8
		default:
			return h.transport(b)
		}
		h.Proto = b[h.L4]
		if h.L4 += length; h.L4 > h.End {
			return false
		}
	}
}

// transport sets Payload.
func (h *Headers) transport(b []byte) bool {
	h.Payload = h.L4
	if h.Fragment {
		return true
	}
	switch h.Proto {
	case ProtoUDP, ProtoICMP, ProtoICMPv6:
		h.Payload += 8
	case ProtoTCP:
		if h.L4+20 > min(h.End, len(b)) {
			return false
		}
		h.Payload += int(b[h.L4+12]>>4) * 4
		if h.Payload < h.L4+20 {
			return false
		}
	}
	return h.Payload <= h.End
}

// Addresses are those of the IP packet in a frame; false where there is none.
func Addresses(b []byte) (src, dst netip.Addr, ok bool) {
	switch h, ok := Parse(b); {
	case !ok:
	case h.Type == TypeIPv4:
		return netip.AddrFrom4([4]byte(b[h.L3+12:])), netip.AddrFrom4([4]byte(b[h.L3+16:])), true
	case h.Type == TypeIPv6:
		return netip.AddrFrom16([16]byte(b[h.L3+8:])), netip.AddrFrom16([16]byte(b[h.L3+24:])), true
	}
	return src, dst, false
}

// Quotes tells whether the packet is an ICMP error, which quotes another packet, its tag too (RFC 792, RFC 4443).
func (h *Headers) Quotes(b []byte) bool {
	switch {
	case h.Proto != ProtoICMP && h.Proto != ProtoICMPv6 || h.Fragment || h.L4 >= len(b):
		return false
	case h.Proto == ProtoICMPv6:
		return b[h.L4] < 128
	}
	switch b[h.L4] {
	case 3, 4, 5, 11, 12:
		return true
	}
	return false
}

// checksum is where the transport's checksum stands, 0 if it has none.
func (h *Headers) checksum(b []byte) int {
	if h.Fragment {
		return 0
	}
	switch h.Proto {
	case ProtoTCP:
		return h.L4 + 16
	case ProtoUDP:
		if binary.BigEndian.Uint16(b[h.L4+6:]) != 0 { // 0: the sender made none (RFC 768)
			return h.L4 + 6
		}
	case ProtoICMP, ProtoICMPv6:
		return h.L4 + 2
	}
	return 0
}
