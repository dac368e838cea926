package pcap

import (
	"encoding/binary"
	"io"
	"math/bits"
)

// bufferSize is what one read asks for: it stays in the second-level cache while it is parsed.
const bufferSize = 256 << 10

// An input is a window that slides over a reader. It grows only by bytes that are there, whatever a length promises.
type input struct {
	r   io.Reader
	buf []byte
	win []byte // not yet used; a part of buf
	off int64  // where win begins, counted from the first byte read
	err error  // what ended reading; io.EOF at the end
}

// peek returns what is unused: n bytes or more, fewer only when err says why. It is good until the next peek.
func (in *input) peek(n int) []byte {
	if len(in.win) < n {
		in.fill(n)
	}
	return in.win
}

// skip uses up n bytes that peek has shown.
func (in *input) skip(n int) {
	in.win = in.win[n:]
	in.off += int64(n)
}

// discard uses up n bytes without keeping them, and returns how many were there.
func (in *input) discard(n int64) int64 {
	left := n
	for left > 0 {
		b := in.peek(1)
		if len(b) == 0 {
			break
		}
		step := int(min(left, int64(len(b))))
		in.skip(step)
		left -= int64(step)
	}
	return n - left
}

// fill reads until the window has n bytes or reading ends.
func (in *input) fill(n int) {
	in.win = in.buf[:copy(in.buf, in.win)]
	for idle := 0; len(in.win) < n && in.err == nil; {
		if len(in.win) == len(in.buf) { // full of bytes that are there: double
			in.buf = append(make([]byte, 0, 2*len(in.buf)), in.buf...)[:2*len(in.buf)]
		}
		var got int
		got, in.err = in.r.Read(in.buf[len(in.win):])
		in.win = in.buf[:len(in.win)+got]
		if idle++; got > 0 {
			idle = 0
		} else if idle == 100 && in.err == nil {
			in.err = io.ErrNoProgress
		}
	}
}

// An order is the byte order of numbers: false is little endian, true big endian.
type order bool

func (o order) String() string {
	if o {
		return "big endian"
	}
	return "little endian"
}

func (o order) u16(b []byte) uint16 {
	v := binary.LittleEndian.Uint16(b)
	if o {
		v = bits.ReverseBytes16(v)
	}
	return v
}

func (o order) u32(b []byte) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if o {
		v = bits.ReverseBytes32(v)
	}
	return v
}

func (o order) u64(b []byte) uint64 {
	v := binary.LittleEndian.Uint64(b)
	if o {
		v = bits.ReverseBytes64(v)
	}
	return v
}
