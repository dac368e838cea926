package survey

import (
	"encoding/binary"
	"math/bits"

	"loadtest/packet"
)

// checksums counts those that are wrong. Nothing is said of transports behind IP options or extension headers, which may change
// what the checksum is over, and of packets that are not whole.
func (s *Survey) checksums(r *packet.Record, b []byte, h *packet.Headers, ok bool) {
	if !ok || h.L4 > len(b) { // an extension header is cut
		return
	}
	ip := b[h.L3:h.L4]
	addresses := ip[8:]
	if h.Type == packet.TypeIPv4 {
		if fold(sum(0, ip)) != 0xffff {
			s.WrongIPv4.see(r)
		}
		addresses = ip[12:]
	}
	plain := len(ip) == 40 || h.Type == packet.TypeIPv4 && len(ip) == 20
	if !plain || h.Fragment || h.End > len(b) {
		return
	}
	switch p := b[h.L4:h.End]; h.Proto {
	case packet.ProtoTCP:
		if !right(addresses, p, h.Proto) {
			s.WrongTCP.see(r)
		}
	case packet.ProtoUDP:
		// The sender may have made none (RFC 768, RFC 6935). What a length leaves out is not summed.
		if n := int(binary.BigEndian.Uint16(p[4:])); p[6]|p[7] != 0 && n >= 8 && n <= len(p) && !right(addresses, p[:n], h.Proto) {
			s.WrongUDP.see(r)
		}
	}
}

// right says whether the checksum in a TCP segment or UDP datagram is right (RFC 9293, 3.1; RFC 8200, 8.1).
func right(addresses, p []byte, proto uint8) bool {
	return fold(sum(sum(uint64(len(p))+uint64(proto), addresses), p)) == 0xffff
}

// sum adds the big-endian words of b to a one's complement sum (RFC 1071), eight bytes at a time.
func sum(s uint64, b []byte) uint64 {
	var carry uint64
	for ; len(b) >= 32; b = b[32:] {
		s, carry = bits.Add64(s, binary.BigEndian.Uint64(b), carry)
		s, carry = bits.Add64(s, binary.BigEndian.Uint64(b[8:]), carry)
		s, carry = bits.Add64(s, binary.BigEndian.Uint64(b[16:]), carry)
		s, carry = bits.Add64(s, binary.BigEndian.Uint64(b[24:]), carry)
	}
	for ; len(b) >= 8; b = b[8:] {
		s, carry = bits.Add64(s, binary.BigEndian.Uint64(b), carry)
	}
	var rest [8]byte
	copy(rest[:], b)
	s, carry = bits.Add64(s, binary.BigEndian.Uint64(rest[:]), carry)
	return s + carry // as the rest has a zero byte, this fits
}

// fold makes a sum of 16 bits of one of 64.
func fold(s uint64) uint16 {
	s = s>>32 + s&0xffffffff
	s = s>>16 + s&0xffff
	s = s>>16 + s&0xffff
	return uint16(s>>16 + s&0xffff)
}
