package pcap

import (
	"fmt"
	"io"
)

// Blocks of pcapng that matter here; all others are skipped.
const (
	blockSection   = 0x0a0d0d0a // the same in both byte orders
	blockInterface = 1
	blockObsolete  = 2 // packet block, before the enhanced one
	blockSimple    = 3
	blockEnhanced  = 6

	byteOrder  = 0x1a2b3c4d
	blockFrame = 12      // type and length before, length after
	maxBlock   = 2 << 27 // longest block of the above that is taken, in bytes
	packetHead = 20      // interface, time (2 words), captured length, wire length
)

// A section is a part of a pcapng with its own byte order and interfaces.
type section struct {
	order
	faces []face
}

// ng reads a pcapng.
func (s *scan) ng() error {
	var sec section
	for {
		b := s.in.peek(blockFrame)
		if len(b) == 0 && s.in.err == io.EOF {
			s.end(&sec)
			return nil
		}
		if len(b) < blockFrame {
			return s.fail(s.cut("a block has %d bytes or more, %d there", blockFrame, len(b)))
		}
		if sec.u32(b) == blockSection {
			sec.order = false
			if sec.u32(b[8:]) != byteOrder {
				sec.order = true
			}
			if sec.u32(b[8:]) != byteOrder {
				return s.fail(fmt.Errorf("section header with byte order % x: want 1a 2b 3c 4d or 4d 3c 2b 1a", b[8:12]))
			}
		}
		typ, length := sec.u32(b), sec.u32(b[4:])
		if length < blockFrame || length%4 != 0 {
			return s.fail(fmt.Errorf("block type %#x of %d bytes: want a multiple of 4, at least %d", typ, length, blockFrame))
		}
		if err := s.block(&sec, typ, int64(length)); err != nil {
			return err
		}
	}
}

// block reads the block at hand.
func (s *scan) block(sec *section, typ uint32, length int64) error {
	switch typ {
	case blockSection, blockInterface, blockObsolete, blockSimple, blockEnhanced:
	default:
		return s.skipBlock(sec, typ, length)
	}
	if length > maxBlock {
		return s.fail(fmt.Errorf("block type %#x of %d bytes: want at most %d", typ, length, maxBlock))
	}
	n := int(length)
	b := s.in.peek(n)
	if len(b) < n {
		return s.fail(s.cut("block type %#x: %d bytes promised, %d there", typ, n, len(b)))
	}
	if err := trailer(sec, typ, length, b[n-4:n]); err != nil {
		return s.fail(err)
	}
	body := b[8 : n-4]
	var err error
	switch typ {
	case blockSection:
		err = sec.begin(body)
	case blockInterface:
		err = sec.describe(body)
	case blockSimple:
		err = s.simple(sec, body)
	default:
		err = s.packet(sec, body, typ == blockObsolete)
	}
	if err != nil {
		return s.fail(err)
	}
	s.in.skip(n)
	return nil
}

// skipBlock passes over a block of any length without keeping it.
func (s *scan) skipBlock(sec *section, typ uint32, length int64) error {
	at := s.fail(nil) // the block's beginning, for errors
	got := s.in.discard(length - 4)
	end := s.in.peek(4)
	if len(end) < 4 {
		at.Err = s.cut("block type %#x: %d bytes promised, %d there", typ, length, got+int64(len(end)))
		return at
	}
	if at.Err = trailer(sec, typ, length, end); at.Err != nil {
		return at
	}
	s.in.skip(4)
	return nil
}

// trailer checks that a block ends with the length with which it began.
func trailer(sec *section, typ uint32, length int64, b []byte) error {
	if end := sec.u32(b); int64(end) != length {
		return fmt.Errorf("block type %#x of %d bytes ends with length %d", typ, length, end)
	}
	return nil
}

// begin starts a section: the interfaces of the one before are no more.
func (sec *section) begin(body []byte) error {
	if len(body) < 16 {
		return fmt.Errorf("section header of %d bytes: want 28 or more", len(body)+blockFrame)
	}
	major, minor := sec.u16(body[4:]), sec.u16(body[6:])
	if major != 1 || minor != 0 && minor != 2 { // some programs wrote 1.2 and meant 1.0
		return fmt.Errorf("pcapng version %d.%d: want 1.0", major, minor)
	}
	sec.faces = sec.faces[:0]
	return nil
}

// packet takes an enhanced packet block or its obsolete forerunner.
func (s *scan) packet(sec *section, body []byte, obsolete bool) error {
	if len(body) < packetHead {
		return fmt.Errorf("packet block of %d bytes: want %d or more", len(body)+blockFrame, packetHead+blockFrame)
	}
	id := sec.u32(body)
	if obsolete {
		id = uint32(sec.u16(body)) // then the number of dropped packets
	}
	if uint64(id) >= uint64(len(sec.faces)) {
		return fmt.Errorf("interface %d: the section has described %d, counted from 0", id, len(sec.faces))
	}
	f := &sec.faces[id]
	captured, wire := sec.u32(body[12:]), sec.u32(body[16:])
	if err := lengths(captured, wire); err != nil {
		return err
	}
	data := body[packetHead:]
	if int(captured) > len(data) {
		return fmt.Errorf("%d bytes promised, %d in the block", captured, len(data))
	}
	nanos, err := f.nanos(uint64(sec.u32(body[4:]))<<32 | uint64(sec.u32(body[8:])))
	if err != nil {
		return err
	}
	fcs := f.fcs
	if options := data[pad4(int(captured)):]; len(options) > 0 {
		if fcs, err = sec.packetFCS(options, fcs); err != nil {
			return err
		}
	}
	return s.ngTake(f, data[:captured], nanos, int(wire), fcs)
}

// simple takes a simple packet block: of the first interface, without a time, and as long as its snap length allowed.
func (s *scan) simple(sec *section, body []byte) error {
	if len(body) < 4 {
		return fmt.Errorf("simple packet block of %d bytes: want %d or more", len(body)+blockFrame, 4+blockFrame)
	}
	if len(sec.faces) == 0 {
		return fmt.Errorf("simple packet block before any interface of its section")
	}
	f := &sec.faces[0]
	wire := sec.u32(body)
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
	return s.ngTake(f, data[:captured], 0, int(wire), f.fcs)
}

// ngTake keeps a packet if its link type is that of the packets before it.
func (s *scan) ngTake(f *face, data []byte, nanos int64, wire, fcs int) error {
	if s.packets == 0 {
		s.link = f.link
	}
	if f.link != s.link {
		return fmt.Errorf("link type %s after packets with %s: want one link type, a file for each", linkName(f.link), linkName(s.link))
	}
	s.take(data, nanos, wire, fcs)
	return nil
}

// end settles the link type of a capture without packets.
func (s *scan) end(sec *section) {
	if s.packets > 0 {
		return
	}
	s.link = 1
	if len(sec.faces) > 0 && sec.faces[0].link != 0 {
		s.link = sec.faces[0].link
	}
}

// pad4 rounds up to whole 32-bit words.
func pad4(n int) int { return (n + 3) &^ 3 }
