package dut

import "encoding/binary"

// Fields of the IPv4 header at byte 6, RFC 791 section 3.1.
const (
	dontFragment  = 0x4000
	moreFragments = 0x2000
	fragmentUnit  = 8 // bytes that an offset counts
)

// mayFragment tells whether a router may cut a plain packet: IPv4 without DF.
func mayFragment(f *frame) bool {
	return binary.BigEndian.Uint16(f.data[12:]) == typeIPv4 && binary.BigEndian.Uint16(f.data[ethernet+6:])&dontFragment == 0
}

// oversize takes a frame over the hop that is longer than its MTU: in pieces, if that is the policy.
func (h *hop) oversize(f *frame, t int64) {
	switch {
	case h.policy != policyFragment:
		h.drop(f, tooLong)
	case f.tunnel != nil:
		h.train(f, t)
	case mayFragment(f):
		h.fragment(f, t)
	default:
		h.drop(f, tooLong)
	}
}

// train takes a frame in a tunnel over the hop in fragments; it comes whole when the last of them has arrived, and is lost if
// one is.
func (h *hop) train(f *frame, t int64) {
	header := f.tunnel.Header()
	left := f.outer - ethernet - header
	if f.tunnel.IPv6 {
		header += fragmentHeader
	}
	each := (h.mtu - header) &^ (fragmentUnit - 1)
	var last int64
	lost := false
	for ; left > 0; left -= each {
		done, ok := h.serve(t, ethernet+header+min(left, each))
		lost = lost || !ok
		last = done
	}
	if lost {
		h.drop(f, fragmentLost)
		return
	}
	h.arrive(f, last+h.delay)
}

// fragmentHeader is the length of IPv6's, RFC 8200 section 4.5.
const fragmentHeader = 8

// fragment cuts a plain IPv4 packet, RFC 791 section 3.2. Options are copied to every piece, whatever their copied flag says.
func (h *hop) fragment(f *frame, t int64) {
	ip := f.data[ethernet:]
	header, length := int(ip[0]&15)*4, int(binary.BigEndian.Uint16(ip[2:]))
	each := (h.mtu - header) &^ (fragmentUnit - 1)
	if each <= 0 {
		h.drop(f, tooLong)
		return
	}
	field := binary.BigEndian.Uint16(ip[6:])
	for at := header; at < length; at += each {
		n := min(each, length-at)
		piece := h.net.slab.get(ethernet + header + n)
		h.net.totals.Fragments++
		copy(piece.data, f.data[:ethernet+header])
		copy(piece.data[ethernet+header:], ip[at:at+n])
		out := piece.data[ethernet:]
		offset := field + uint16((at-header)/fragmentUnit)
		if at+n < length {
			offset |= moreFragments
		}
		binary.BigEndian.PutUint16(out[2:], uint16(header+n))
		binary.BigEndian.PutUint16(out[6:], offset)
		setChecksum(out[:header], 10)
		h.cross(piece, t)
	}
	h.net.totals.Fragments--
	h.net.slab.put(f)
}

// sum16 is the one's complement sum of b, RFC 1071, on top of sum.
func sum16(sum uint64, b []byte) uint16 {
	for ; len(b) >= 4; b = b[4:] {
		sum += uint64(binary.BigEndian.Uint32(b))
	}
	if len(b) >= 2 {
		sum += uint64(binary.BigEndian.Uint16(b))
		b = b[2:]
	}
	if len(b) == 1 {
		sum += uint64(b[0]) << 8
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return uint16(sum)
}

// setChecksum writes the Internet checksum of b into it at byte i.
func setChecksum(b []byte, i int) {
	binary.BigEndian.PutUint16(b[i:], 0)
	binary.BigEndian.PutUint16(b[i:], ^sum16(0, b))
}
