package rewrite

import (
	"encoding/binary"

	"loadtest/packet"
)

// cut makes a frame limit bytes long, or as long as its headers, and corrects what counts its length: that of 802.3, of IP and of
// UDP, and their checksums. A wrong checksum stays wrong by as much; of a packet that was captured short, nobody knows, and
// it becomes right. Fragments that others follow keep a multiple of 8 bytes (RFC 791, 2.3).
func cut(b []byte, limit, missing int) []byte {
	h, _ := packet.Parse(b)
	p, ok := look(b, h.L3, h.Type, missing)
	if !ok {
		n := min(len(b), max(limit, h.L3))
		if h.L3 > 0 && h.Type < 0x0600 {
			length := b[h.L3-2:]
			binary.BigEndian.PutUint16(length, min(h.Type, uint16(n-h.L3)))
		}
		return b[:n]
	}
	n := max(limit, p.payload())
	if p.more {
		n -= (n - p.l4) % 8
	}
	if n >= p.end || p.end > len(b)+missing { // only what is behind the packet; or it lies about its length
		return b[:min(len(b), max(n, limit))]
	}
	if n > len(b) { // not even the headers were captured
		return b
	}
	p.shorten(n, missing)
	return b[:n]
}

// shorten ends the packet at n.
func (p *ip) shorten(n, missing int) {
	s, off := p.sum(), uint16(0)
	if c, ok := p.right(s); ok {
		off = fold(uint64(binary.BigEndian.Uint16(p.b[s:])) + uint64(^c))
	}
	p.setLength(n)
	if p.proto == packet.ProtoUDP && !p.fragment && p.room(8) {
		length := p.b[p.l4+4:]
		binary.BigEndian.PutUint16(length, min(binary.BigEndian.Uint16(length), uint16(n-p.l4)))
	}
	c, ok := p.right(s)
	if !ok {
		return
	}
	if off%0xffff != 0 {
		if c = fold(uint64(c) + uint64(off)); c == 0xffff {
			c = p.zero()
		}
	}
	binary.BigEndian.PutUint16(p.b[s:], c)
}
