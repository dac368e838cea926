package pcap

import (
	"fmt"
	"io"

	"loadtest/packet"
)

// Blocks of pcapng that matter here; all others are skipped.
const (
	blockSection   = 0x0a0d0d0a // the same in both byte orders
	blockInterface = 1
	blockObsolete  = 2 // packet block, before the enhanced one
	blockSimple    = 3
	blockEnhanced  = 6

	byteOrder  = 0x1a2b3c4d
	blockFrame = 12                // type and length before, length after
	maxBlock   = maxPacket + 1<<20 // longest block of the above that is taken, in bytes
	maxFaces   = 1 << 16           // interfaces of a section
	packetHead = 20                // interface, time (2 words), captured length, wire length
)

// An ng reads a pcapng. A section of it has its own byte order and interfaces.
type ng struct {
	*Reader
	order
	faces []face
}

// beginNG reads the first section header of a pcapng.
func (r *Reader) beginNG() error {
	s := &ng{Reader: r}
	r.info.Format = "pcapng"
	r.format = s
	_, err := s.block(nil)
	return err
}

func (s *ng) next(to *packet.Record) error {
	for {
		if got, err := s.block(to); got || err != nil {
			return err
		}
	}
}

// block reads the block at hand, and reports whether it was a packet.
func (s *ng) block(to *packet.Record) (bool, error) {
	b := s.in.peek(blockFrame)
	if len(b) < blockFrame {
		if len(b) == 0 && s.in.err == io.EOF {
			return false, io.EOF
		}
		return false, s.fail(s.short("a block has %d bytes or more, %d there", blockFrame, len(b)))
	}
	if s.u32(b) == blockSection {
		if err := s.turn(b[8:blockFrame]); err != nil {
			return false, s.fail(err)
		}
	}
	typ, length := s.u32(b), s.u32(b[4:])
	if length < blockFrame || length%4 != 0 {
		return false, s.fail(fmt.Errorf("block type %#x of %d bytes: want a multiple of 4, at least %d", typ, length, blockFrame))
	}
	switch typ {
	case blockSection, blockInterface, blockObsolete, blockSimple, blockEnhanced:
	default:
		return false, s.skipBlock(typ, int64(length))
	}
	if length > maxBlock {
		return false, s.fail(fmt.Errorf("block type %#x of %d bytes: want at most %d", typ, length, maxBlock))
	}
	n := int(length)
	if b = s.in.peek(n); len(b) < n {
		return false, s.fail(s.short("block type %#x: %d bytes promised, %d there", typ, n, len(b)))
	}
	if err := s.trailer(typ, length, b[n-4:n]); err != nil {
		return false, s.fail(err)
	}
	var err error
	switch body := b[8 : n-4]; typ {
	case blockSection:
		err = s.section(body)
	case blockInterface:
		err = s.describe(body)
	case blockSimple:
		err = s.simple(to, body)
	default:
		err = s.packet(to, body, typ == blockObsolete)
	}
	if err != nil {
		return false, s.fail(err)
	}
	s.in.skip(n)
	return typ != blockSection && typ != blockInterface, nil
}

// skipBlock passes over a block of any length without keeping it.
func (s *ng) skipBlock(typ uint32, length int64) error {
	at := s.fail(nil) // the block's beginning, for errors
	got := s.in.discard(length - 4)
	end := s.in.peek(4)
	if len(end) < 4 {
		at.Err = s.short("block type %#x: %d bytes promised, %d there", typ, length, got+int64(len(end)))
		return at
	}
	if at.Err = s.trailer(typ, uint32(length), end); at.Err != nil {
		return at
	}
	s.in.skip(4)
	return nil
}

// trailer checks that a block ends with the length with which it began.
func (s *ng) trailer(typ, length uint32, b []byte) error {
	if end := s.u32(b); end != length {
		return fmt.Errorf("block type %#x of %d bytes ends with length %d", typ, length, end)
	}
	return nil
}

// turn takes over the byte order of a section, of which its header has a known number.
func (s *ng) turn(magic []byte) error {
	for _, s.order = range []order{false, true} {
		if s.u32(magic) == byteOrder {
			return nil
		}
	}
	return fmt.Errorf("section header with byte order % x: want 1a 2b 3c 4d or 4d 3c 2b 1a", magic)
}

// section starts a section: the interfaces of the one before are no more.
func (s *ng) section(body []byte) error {
	if len(body) < 16 {
		return fmt.Errorf("section header of %d bytes: want 28 or more", len(body)+blockFrame)
	}
	major, minor := s.u16(body[4:]), s.u16(body[6:])
	if major != 1 || minor != 0 && minor != 2 { // some programs wrote 1.2 and meant 1.0
		return fmt.Errorf("pcapng version %d.%d: want 1.0", major, minor)
	}
	s.faces = s.faces[:0]
	s.info.Version = fmt.Sprintf("%d.%d", major, minor)
	s.info.order(s.order)
	s.info.Sections++
	return nil
}

// packet reads an enhanced packet block or its obsolete forerunner.
func (s *ng) packet(to *packet.Record, body []byte, obsolete bool) error {
	if len(body) < packetHead {
		return fmt.Errorf("packet block of %d bytes: want %d or more", len(body)+blockFrame, packetHead+blockFrame)
	}
	id := s.u32(body)
	if obsolete {
		id = uint32(s.u16(body)) // then the number of dropped packets
	}
	if uint64(id) >= uint64(len(s.faces)) {
		return fmt.Errorf("interface %d: the section has described %d, counted from 0", id, len(s.faces))
	}
	f := &s.faces[id]
	captured, wire := s.u32(body[12:]), s.u32(body[16:])
	if err := lengths(captured, wire); err != nil {
		return err
	}
	data := body[packetHead:]
	if int(captured) > len(data) {
		return fmt.Errorf("%d bytes promised, %d in the block", captured, len(data))
	}
	nanos, err := f.nanos(uint64(s.u32(body[4:]))<<32 | uint64(s.u32(body[8:])))
	if err != nil {
		return err
	}
	fcs := f.fcs
	if options := data[pad4(int(captured)):]; len(options) > 0 {
		if fcs, err = s.packetFCS(options, fcs); err != nil {
			return err
		}
	}
	f.fill(to, data[:captured:captured], nanos, int(wire), fcs)
	return nil
}

// simple reads a simple packet block: of the first interface, without a time, and as long as its snap length allowed.
func (s *ng) simple(to *packet.Record, body []byte) error {
	if len(body) < 4 {
		return fmt.Errorf("simple packet block of %d bytes: want %d or more", len(body)+blockFrame, 4+blockFrame)
	}
	if len(s.faces) == 0 {
		return fmt.Errorf("simple packet block before any interface of its section")
	}
	f := &s.faces[0]
	wire := s.u32(body)
	captured := wire
	if f.snap > 0 {
		captured = min(wire, f.snap)
	}
	if err := lengths(captured, wire); err != nil {
		return err
	}
	data := body[4:]
	if int(captured) > len(data) {
		return fmt.Errorf("%d bytes promised, %d in the block", captured, len(data))
	}
	f.fill(to, data[:captured:captured], 0, int(wire), f.fcs)
	return nil
}

// fill makes a record of a packet.
func (f *face) fill(to *packet.Record, data []byte, nanos int64, wire, fcs int) {
	if fcs > 0 {
		data, wire = withoutFCS(data, wire, fcs)
	}
	to.Data, to.Nanos, to.Wire, to.Link = data, nanos, wire, f.link
}

// pad4 rounds up to whole 32-bit words.
func pad4(n int) int { return (n + 3) &^ 3 }
