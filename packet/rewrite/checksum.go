package rewrite

import (
	"encoding/binary"

	"loadtest/packet"
)

// place is where the transport's checksum stands; 0: it has none, or it was not captured.
func (p *ip) place() int {
	at := 0
	switch {
	case p.later:
		return 0
	case p.proto == packet.ProtoTCP:
		at = 16
	case p.proto == packet.ProtoUDP:
		at = 6
	case p.proto == packet.ProtoICMP && !p.v6, p.proto == packet.ProtoICMPv6 && p.v6:
		at = 2
	}
	if at == 0 || !p.room(at+2) {
		return 0
	}
	return p.l4 + at
}

// sum is place, but 0 where the sender of UDP made no checksum (RFC 768).
func (p *ip) sum() int {
	s := p.place()
	if s > 0 && p.proto == packet.ProtoUDP && binary.BigEndian.Uint16(p.b[s:]) == 0 {
		return 0
	}
	return s
}

// pseudo is where the checksum stands that counts the address of an end; 0: none does.
func (p *ip) pseudo(end int) int {
	if p.proto == packet.ProtoICMP || p.routed && end == dst {
		return 0
	}
	return p.sum()
}

// zero is how the transport writes a checksum of zero, which one's complement has twice.
func (p *ip) zero() uint16 {
	if p.proto == packet.ProtoUDP {
		return 0xffff
	}
	return 0
}

// correct updates the checksum at offset s for a difference.
func (p *ip) correct(s int, d uint32) { correct(p.b[s:], d, p.zero()) }

// correct updates the checksum at the beginning of b for a difference (RFC 1624, 3); zero is how it writes one of zero.
func correct(b []byte, d uint32, zero uint16) {
	if d%0xffff == 0 {
		return
	}
	c := ^fold(uint64(^binary.BigEndian.Uint16(b)) + uint64(d))
	if c == 0 || c == 0xffff {
		c = zero
	}
	binary.BigEndian.PutUint16(b, c)
}

// diff is what to add to a sum when these bytes, of even length, take the place of those.
func diff(from, to []byte) (d uint32) {
	for i := 0; i+1 < len(from); i += 2 {
		d += uint32(^binary.BigEndian.Uint16(from[i:])) + uint32(binary.BigEndian.Uint16(to[i:]))
	}
	return d
}

// total is the sum of the 16-bit words of b, not folded; a last odd byte counts as if a zero followed (RFC 1071).
func total(b []byte) (s uint64) {
	for ; len(b) >= 4; b = b[4:] {
		s += uint64(binary.BigEndian.Uint32(b))
	}
	if len(b) >= 2 {
		s += uint64(binary.BigEndian.Uint16(b))
		b = b[2:]
	}
	if len(b) == 1 {
		s += uint64(b[0]) << 8
	}
	return s
}

func fold(s uint64) uint16 {
	s = s>>32 + s&0xffffffff
	s = s>>16 + s&0xffff
	s = s>>16 + s&0xffff
	return uint16(s>>16 + s&0xffff)
}

// right is what the transport's checksum at offset s should be; false where that cannot be told.
func (p *ip) right(s int) (uint16, bool) {
	if s == 0 || p.fragment || p.routed || !p.whole() {
		return 0, false
	}
	n := p.end - p.l4
	if p.proto == packet.ProtoUDP {
		u := int(binary.BigEndian.Uint16(p.b[p.l4+4:]))
		if u < 8 || u > n {
			return 0, false
		}
		n = u
	}
	if s+2 > p.l4+n { // of a header that is cut
		return 0, false
	}
	sum := total(p.b[p.l4:s]) + total(p.b[s+2:p.l4+n])
	if p.proto != packet.ProtoICMP {
		sum += total(p.addr(src)) + total(p.addr(dst)) + uint64(n) + uint64(p.proto)
	}
	c := ^fold(sum)
	if c == 0 {
		c = p.zero()
	}
	return c, true
}

// fix makes all checksums of the packet right that can be told, and says whether one was wrong.
func (p *ip) fix() (wrong bool) {
	if !p.v6 {
		h := p.b[p.l3:p.l4]
		wrong = put(h[10:], ^fold(total(h[:10])+total(h[12:])))
	}
	s := p.place()
	if !p.v6 {
		s = p.sum()
	}
	if c, ok := p.right(s); ok && put(p.b[s:], c) {
		wrong = true
	}
	return wrong
}

// put says whether the word changed.
func put(b []byte, v uint16) bool {
	changed := binary.BigEndian.Uint16(b) != v
	binary.BigEndian.PutUint16(b, v)
	return changed
}
