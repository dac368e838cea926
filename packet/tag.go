package packet

import (
	"encoding/binary"
	"math/bits"
)

// TagLen is the length of a tag: the last 18 bytes of an IP packet's payload.
//
//	0            2       4      5       6          10       18
//	| compensation | magic | lane | trial | sequence | time ns |
//
// Compensation makes the 18 bytes fold to 0xffff in one's complement, which is zero there: no checksum of IPv4, UDP, TCP or
// ICMP over them ever changes, at whatever offset they lie, and a tag that was damaged on the way is seen.
const TagLen = 18

// A Tag says which packet of ours a packet is.
type Tag struct {
	Magic uint16 // random per run, never 0
	Lane  uint8
	Trial uint8
	Seq   uint32 // of the lane in the trial; its upper bits are implied
	Nanos int64  // time of sending on the run's clock
}

// Put writes the tag into b[:TagLen].
func (t Tag) Put(b []byte) {
	_ = b[TagLen-1]
	head := uint64(t.Magic)<<48 | uint64(t.Lane)<<40 | uint64(t.Trial)<<32 | uint64(t.Seq)
	binary.BigEndian.PutUint64(b[2:], head)
	binary.BigEndian.PutUint64(b[10:], uint64(t.Nanos))
	binary.BigEndian.PutUint16(b, ^fold(head, uint64(t.Nanos)))
}

// fold is the one's complement sum of the words of both.
func fold(a, b uint64) uint16 {
	s, carry := bits.Add64(a, b, 0)
	s, carry = bits.Add64(s, 0, carry)
	s += carry
	s = s>>32 + s&0xffffffff
	s = s>>16 + s&0xffff
	s = s>>16 + s&0xffff
	return uint16(s>>16 + s&0xffff)
}

// ReadTag reads what stands in b[:TagLen]; whole says whether its check is right.
func ReadTag(b []byte) (t Tag, whole bool) {
	_ = b[TagLen-1]
	head, nanos := binary.BigEndian.Uint64(b[2:]), binary.BigEndian.Uint64(b[10:])
	t = Tag{Magic: uint16(head >> 48), Lane: uint8(head >> 40), Trial: uint8(head >> 32), Seq: uint32(head), Nanos: int64(nanos)}
	return t, binary.BigEndian.Uint16(b) == ^fold(head, nanos)
}

// TagMode says which packets get a tag.
type TagMode uint8

// Tag modes.
const (
	TagAuto   TagMode = iota // where the last 18 bytes of the payload are zero, or a tag already
	TagAlways                // wherever the payload has room
	TagNever                 // nowhere: packets are sent to the byte
)

// TagOffset is where a frame's tag goes, or -1 if the mode gives it none: no IP, no room, a fragment, cut short, an ICMP error, in
// which a tag would be another packet's.
func TagOffset(b []byte, mode TagMode) int {
	h, ok := Parse(b)
	if mode == TagNever || !ok || h.Type != TypeIPv4 && h.Type != TypeIPv6 || h.Fragment || h.Quotes(b) {
		return -1
	}
	at := h.End - TagLen
	if at < h.Payload || h.End > len(b) {
		return -1
	}
	if mode == TagAuto && !free(b[at:h.End]) {
		return -1
	}
	return at
}

// free says whether nothing is lost if b is overwritten: it is all zero, or a tag of another run.
func free(b []byte) bool {
	var or, and byte = 0, 0xff
	for _, c := range b {
		or |= c
		and &= c
	}
	if or == 0 {
		return true
	}
	t, whole := ReadTag(b)
	return whole && t.Magic != 0 && and != 0xff
}

// ClearTag zeroes the tag's place at offset at and corrects the transport's checksum for it, so that any tag may be put there.
func ClearTag(b []byte, at int) {
	var sum uint32
	for i, c := range b[at : at+TagLen] {
		if (at+i)%2 == 0 {
			sum += uint32(c) << 8
		} else {
			sum += uint32(c)
		}
	}
	clear(b[at : at+TagLen])
	h, ok := Parse(b)
	if !ok || sum == 0 {
		return
	}
	c := h.checksum(b)
	if c == 0 {
		return
	}
	if h.L4%2 == 1 { // words of the checksum start at odd offsets of the frame
		sum = sum<<8&0xff00ff00 | sum>>8&0x00ff00ff
	}
	sum += uint32(binary.BigEndian.Uint16(b[c:]))
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	if sum == 0 && h.Proto == ProtoUDP {
		sum = 0xffff
	}
	binary.BigEndian.PutUint16(b[c:], uint16(sum))
}
