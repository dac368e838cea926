package pcap

import (
	"fmt"
	"math"
	"math/bits"
)

// Options of pcapng that matter here.
const (
	optionEnd = 0

	packetFlags = 2 // of packet blocks

	interfaceName  = 2 // of interfaces
	timeResolution = 9
	fcsLength      = 13
	timeOffset     = 14
)

// maxName is how much of an interface's name is kept, in bytes.
const maxName = 64

// A face is an interface that packets of a section were captured at.
type face struct {
	link uint16
	snap uint32 // 0: none
	fcs  int    // bytes

	// A time of t units is t · mul / div / 2^shift + offset in ns since 1970.
	mul, div uint64
	shift    uint
	offset   int64
}

// describe adds an interface to the section.
func (s *ng) describe(body []byte) error {
	if len(body) < 8 {
		return fmt.Errorf("interface description of %d bytes: want %d or more", len(body)+blockFrame, 8+blockFrame)
	}
	f := face{link: known(s.u16(body)), snap: s.u32(body[4:])}
	f.resolution(6)
	i := Interface{Link: f.link, Snap: int(f.snap), Unit: unit(10, 6)}
	var seen uint16 // options with low numbers: the first of each counts, as it does for Wireshark
	for rest := body[8:]; len(rest) > 0; {
		code, value, next, err := s.option(rest)
		if bit := uint16(1) << (code & 15); err == nil && code < 16 && seen&bit == 0 {
			seen |= bit
			err = f.option(s.order, code, value, &i)
		}
		if err != nil {
			return fmt.Errorf("interface %d: %w", len(s.faces), err)
		}
		rest = next
	}
	if len(s.faces) == maxFaces {
		return fmt.Errorf("more than %d interfaces in a section", maxFaces)
	}
	s.faces = append(s.faces, f)
	if len(s.info.Interfaces) < maxFaces {
		s.info.Interfaces = append(s.info.Interfaces, i)
	}
	return nil
}

// option takes note of one option of the interface, and says in i what there is to say of it.
func (f *face) option(o order, code uint16, value []byte, i *Interface) error {
	want := map[uint16]int{timeResolution: 1, fcsLength: 1, timeOffset: 8}[code]
	if want > 0 && len(value) != want {
		return fmt.Errorf("option %d of %d bytes: want %d", code, len(value), want)
	}
	switch code {
	case interfaceName:
		i.Name = string(value[:min(len(value), maxName)])
	case timeResolution:
		f.resolution(value[0])
		base := 10
		if value[0]&0x80 != 0 {
			base = 2
		}
		i.Unit = unit(base, int(value[0]&0x7f))
	case fcsLength: // in bits; some take it for bytes, as the draft's own example does
		f.fcs = int(value[0])
		if f.fcs >= 8 {
			f.fcs /= 8
		}
		i.FCS = f.fcs
	case timeOffset:
		seconds := int64(o.u64(value))
		if most := int64(math.MaxInt64 / 1_000_000_000); seconds > most || seconds < -most {
			return fmt.Errorf("time offset of %d s: want less than 292 years", seconds)
		}
		f.offset = seconds * 1e9
	}
	return nil
}

// resolution sets the unit of time: 10^-v s, or with the highest bit set 2^-v s.
func (f *face) resolution(v byte) {
	e := int(v & 0x7f)
	f.mul, f.div, f.shift = 1, 1, 0
	switch {
	case v&0x80 != 0:
		f.mul, f.shift = 1e9, uint(e)
	case e <= 9:
		f.mul = pow10(9 - e)
	case e <= 28:
		f.div = pow10(e - 9)
	default: // 2^64 of them are less than 1 ns
		f.mul = 0
	}
}

// nanos is a time in ns since 1970.
func (f *face) nanos(t uint64) (int64, error) {
	high, low := bits.Mul64(t, f.mul)
	shift := f.shift
	if shift >= 64 {
		high, low, shift = 0, high, shift-64
	}
	low = low>>shift | high<<(64-shift)
	high >>= shift
	if f.div > 1 { // a division costs as much as all the rest
		low /= f.div
	}
	if high != 0 || low > uint64(math.MaxInt64)-uint64(f.offset) { // right for an offset below 0 too, as it wraps around
		return 0, fmt.Errorf("time %d in the interface's units is after the year 2262", t)
	}
	return int64(low + uint64(f.offset)), nil
}

// packetFCS looks for the length of the FCS, in bytes, in a packet's options.
func (s *ng) packetFCS(options []byte, fcs int) (int, error) {
	for len(options) > 0 {
		code, value, rest, err := s.option(options)
		if err != nil {
			return 0, err
		}
		if code == packetFlags && len(value) == 4 {
			if n := int(s.u32(value) >> 5 & 0xf); n > 0 { // 0: not known
				fcs = n
			}
		}
		options = rest
	}
	return fcs, nil
}

// option splits the first option off; b is in whole 32-bit words. After the end of options nothing is left.
func (s *ng) option(b []byte) (code uint16, value, rest []byte, err error) {
	code, n := s.u16(b), int(s.u16(b[2:]))
	b = b[4:]
	if code == optionEnd {
		return code, nil, nil, nil
	}
	if n > len(b) {
		return 0, nil, nil, fmt.Errorf("option %d: %d bytes promised, %d in the block", code, n, len(b))
	}
	return code, b[:n], b[pad4(n):], nil
}

func pow10(e int) uint64 {
	p := uint64(1)
	for range e {
		p *= 10
	}
	return p
}
