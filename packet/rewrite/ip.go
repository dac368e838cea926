package rewrite

import (
	"encoding/binary"
	"net/netip"

	"loadtest/packet"
)

// An ip is what can be told of an IP packet that may be cut, quoted, or without a length, as segmentation offload leaves it;
// packet.Parse wants whole headers.
type ip struct {
	b           []byte
	v6          bool
	proto       uint8 // behind IPv6 extension headers
	fragment    bool
	later       bool // a fragment without the transport header
	more        bool // a fragment that is not the last
	routed      bool // IPv6 with hops to go: the transport's checksum is over another destination (RFC 8200, 8.1)
	l3, l4, end int  // end may lie beyond b; so may l4 in what contradicts itself
}

// Which end of a packet.
const (
	src = iota
	dst
)

// look finds the packet at offset l3; missing is how many bytes of it were not captured. false: not even the addresses.
func look(b []byte, l3 int, typ uint16, missing int) (p ip, ok bool) {
	p = ip{b: b, l3: l3}
	switch typ {
	case packet.TypeIPv4:
		return p, p.four(missing)
	case packet.TypeIPv6:
		return p, p.six(missing)
	}
	return p, false
}

func (p *ip) four(missing int) bool {
	h := p.b[p.l3:]
	if len(h) < 20 || h[0]>>4 != 4 {
		return false
	}
	head, total := int(h[0]&15)*4, int(binary.BigEndian.Uint16(h[2:]))
	if head < 20 || head > len(h) || total > 0 && total < head {
		return false
	}
	place := binary.BigEndian.Uint16(h[6:])
	p.later, p.more = place&0x1fff != 0, place&0x2000 != 0
	p.fragment = p.later || p.more
	p.proto, p.l4, p.end = h[9], p.l3+head, p.l3+total
	if total == 0 {
		p.end = len(p.b) + missing
	}
	return true
}

func (p *ip) six(missing int) bool {
	h := p.b[p.l3:]
	if len(h) < 40 || h[0]>>4 != 6 {
		return false
	}
	length := int(binary.BigEndian.Uint16(h[4:]))
	p.v6, p.proto, p.l4 = true, h[6], p.l3+40
	p.end = p.l4 + length
	if length == 0 && p.proto == packet.ProtoTCP {
		p.end = len(p.b) + missing
	}
	for !p.later && p.room(8) {
		next := 8
		switch p.proto {
		case 0, 43, 60: // hop-by-hop, routing, destination options (RFC 8200, 4)
			next += int(p.b[p.l4+1]) * 8
			p.routed = p.routed || p.proto == 43 && p.b[p.l4+3] != 0
		case 44: // fragment
			place := binary.BigEndian.Uint16(p.b[p.l4+2:])
			p.fragment, p.later, p.more = true, place>>3 != 0, place&1 != 0
		default:
			return true
		}
		p.proto = p.b[p.l4]
		p.l4 += next
	}
	return true
}

// room says whether so many bytes from the transport header on belong to the packet and were captured.
func (p *ip) room(n int) bool { return p.l4+n <= min(p.end, len(p.b)) }

// whole says whether all of the packet was captured.
func (p *ip) whole() bool { return p.end <= len(p.b) && p.l4 <= p.end }

// payload is where the transport's payload begins, or what follows IP where the transport cannot be read.
func (p *ip) payload() int {
	if p.fragment {
		return p.l4
	}
	switch n := 0; p.proto {
	case packet.ProtoTCP:
		if p.room(20) {
			n = int(p.b[p.l4+12]>>4) * 4
		}
		if n >= 20 && p.room(n) {
			return p.l4 + n
		}
	case packet.ProtoUDP, packet.ProtoICMP, packet.ProtoICMPv6:
		if p.room(8) {
			return p.l4 + 8
		}
	}
	return p.l4
}

// addr is the address of an end, which stands at addrAt.
func (p *ip) addr(end int) []byte {
	at := p.addrAt(end)
	if p.v6 {
		return p.b[at : at+16]
	}
	return p.b[at : at+4]
}

func (p *ip) addrAt(end int) int {
	if p.v6 {
		return p.l3 + 8 + 16*end
	}
	return p.l3 + 12 + 4*end
}

// port is where the port of an end stands; 0: there is none.
func (p *ip) port(end int) int {
	if (p.proto == packet.ProtoTCP || p.proto == packet.ProtoUDP) && !p.later && p.room(4) {
		return p.l4 + 2*end
	}
	return 0
}

func (p *ip) setAddr(end int, to netip.Addr) {
	d := setAddress(p.addr(end), to)
	if !p.v6 {
		correct(p.b[p.l3+10:], d, 0)
	}
	if s := p.pseudo(end); s > 0 {
		p.correct(s, d)
	}
}

func (p *ip) setPort(at int, to uint16) {
	d := uint32(^binary.BigEndian.Uint16(p.b[at:])) + uint32(to)
	binary.BigEndian.PutUint16(p.b[at:], to)
	if s := p.sum(); s > 0 {
		p.correct(s, d)
	}
}

// setLength writes where the packet ends.
func (p *ip) setLength(end int) {
	at, n := p.l3+2, end-p.l3
	if p.v6 {
		at, n = p.l3+4, n-40
	}
	d := uint32(^binary.BigEndian.Uint16(p.b[at:])) + uint32(uint16(n))
	binary.BigEndian.PutUint16(p.b[at:], uint16(n))
	if !p.v6 {
		correct(p.b[p.l3+10:], d, 0)
	}
	p.end = end
}
