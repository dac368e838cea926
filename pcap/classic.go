package pcap

import (
	"fmt"
	"io"

	"loadtest/packet"
)

// The magic numbers of pcap and the sizes of its headers.
const (
	magicMicros = 0xa1b2c3d4
	magicNanos  = 0xa1b23c4d

	fileHeader   = 24 // magic, version (16+16 bits), zone, accuracy, snap length, link type and FCS
	recordHeader = 16 // seconds, fraction, captured length, wire length
)

// classic reads a pcap whose fractions of a second are in units of so many ns. The snap length of the header is a hint that
// programs get wrong; each record's own length counts.
func (s *scan) classic(o order, unit int64) error {
	h := s.in.peek(fileHeader)
	if len(h) < fileHeader {
		return s.head(s.cut("a pcap header has %d bytes, %d there", fileHeader, len(h)))
	}
	major, minor := o.u16(h[4:]), o.u16(h[6:])
	if major != 2 || minor > 4 {
		return s.head(fmt.Errorf("pcap version %d.%d: want 2.4", major, minor))
	}
	network := o.u32(h[20:])
	s.link = known(uint16(network))
	fcs := 0
	if network&0x04000000 != 0 {
		fcs = int(network>>28) * 2
	}
	s.in.skip(fileHeader)

	for {
		b := s.in.peek(recordHeader)
		if len(b) < recordHeader {
			if len(b) == 0 && s.in.err == io.EOF {
				return nil
			}
			return s.fail(s.cut("a record header has %d bytes, %d there", recordHeader, len(b)))
		}
		captured, wire := o.u32(b[8:]), o.u32(b[12:])
		if minor < 3 || minor == 3 && captured > wire { // before 2.4 they were the other way round
			captured, wire = wire, captured
		}
		if err := lengths(captured, wire); err != nil {
			return s.fail(err)
		}
		n := recordHeader + int(captured)
		b = s.in.peek(n)
		if len(b) < n {
			return s.fail(s.cut("%d bytes promised, %d there", captured, len(b)-recordHeader))
		}
		nanos := int64(o.u32(b))*1e9 + int64(o.u32(b[4:]))*unit
		s.take(b[recordHeader:n], nanos, int(wire), fcs)
		s.in.skip(n)
	}
}

// known is a link type as a Store has it: 0, BSD loopback, differs from 108 in nothing but the order of the address family's bytes,
// which packet.Store takes either way; a Store means Ethernet by 0.
func known(link uint16) uint16 {
	if link == 0 {
		return packet.LinkLoop
	}
	return link
}
