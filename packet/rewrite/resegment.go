package rewrite

import (
	"encoding/binary"

	"loadtest/packet"
)

// segments are what a TCP packet becomes that was longer than the wire allows: what receive offload put together, or segmentation
// offload was to divide.
type segments struct {
	b    []byte // the long frame
	ip   ip
	head int // bytes of its headers
	mss  int // payload of each but the last
	at   int // where the next begins in the payload
	n    int // of them, so far
	out  []byte
}

// TCP flags (RFC 9293, 3.1).
const (
	flagFIN = 1 << iota
	flagSYN
	flagRST
	flagPSH
	flagACK
	flagURG
	flagECE
	flagCWR
)

// divide gives the first part of a frame that is too long, or the frame.
func (r *Reader) divide(b []byte, missing int) []byte {
	t, limit := &r.touched, r.rules.Resegment
	if fits(b, limit) {
		return b
	}
	h, _ := packet.Parse(b)
	p, ok := look(b, h.L3, h.Type, missing)
	head := p.payload()
	if binary.BigEndian.Uint16(b[12:]) == packet.TypeVLAN {
		limit += tagLen
	}
	if !ok || missing > 0 || !p.dividable(head) || head >= limit {
		t.Long++
		return b
	}
	if p.end <= limit { // only what is behind the packet was too much
		t.Cut++
		return b[:p.end]
	}
	r.segments = segments{b: b, ip: p, head: head, mss: limit - head, out: r.segments.out}
	t.Resegmented++
	t.Segments += int64((p.end - head + r.segments.mss - 1) / r.segments.mss)
	b, _ = r.segments.next()
	return b
}

// dividable says whether the packet is TCP that its headers can be repeated for, whole and without SYN, RST and URG.
func (p *ip) dividable(payload int) bool {
	return p.proto == packet.ProtoTCP && !p.fragment && !p.routed && p.whole() && payload >= p.l4+20 && payload < p.end &&
		p.b[p.l4+13]&(flagSYN|flagRST|flagURG) == 0
}

// next is the next part, with its own sequence number, IP identification, length, flags and checksums; false behind the last.
func (s *segments) next() ([]byte, bool) {
	left := s.ip.end - s.head - s.at
	if left <= 0 {
		return nil, false
	}
	n := min(s.mss, left)
	b := append(append(s.out[:0], s.b[:s.head]...), s.b[s.head+s.at:s.head+s.at+n]...)
	s.out = b
	p := s.ip
	p.b = b
	tcp := b[p.l4:]
	binary.BigEndian.PutUint32(tcp[4:], binary.BigEndian.Uint32(tcp[4:])+uint32(s.at))
	if left > n {
		tcp[13] &^= flagFIN | flagPSH
	}
	if s.n > 0 {
		tcp[13] &^= flagCWR // RFC 3168, 6.1.2: once
	}
	p.setLength(len(b))
	if !p.v6 {
		id := b[p.l3+4:]
		binary.BigEndian.PutUint16(id, binary.BigEndian.Uint16(id)+uint16(s.n))
	}
	p.fix()
	s.at += n
	s.n++
	return b, true
}

// fits says whether a frame is at most limit bytes long; as in Linux, with an 802.1Q tag it may be longer by the tag.
func fits(b []byte, limit int) bool {
	over := len(b) - limit
	return over <= 0 || over <= tagLen && len(b) >= packet.EtherLen && binary.BigEndian.Uint16(b[12:]) == packet.TypeVLAN
}
