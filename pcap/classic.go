package pcap

import (
	"fmt"

	"loadtest/packet"
)

// The sizes of pcap's headers.
const (
	fileHeader   = 24 // magic, version (16+16 bits), zone, accuracy, snap length, link type and FCS
	recordHeader = 16 // seconds, fraction, captured length, wire length
)

// The magic numbers of pcap as it is written.
const (
	magicMicros = 0xa1b2c3d4
	magicNanos  = 0xa1b23c4d
)

// A kind is what a magic number of pcap tells.
type kind struct {
	name  string
	unit  int64 // of fractions, in ns
	more  int   // bytes behind the file header
	heads []head
}

// A head is a form of record headers: recordHeader bytes and some more. Where a magic number stands for several, the records tell.
type head struct {
	name string // of the variant; empty: that of the kind
	size int
}

// kinds are the pcaps that are read, by magic number.
var kinds = map[uint32]kind{
	magicMicros: {"pcap", 1000, 0, []head{{"", 16}, {"modified pcap (Red Hat 6.1)", 24}, {"pcap of a Nokia system", 20}}},
	magicNanos:  {"pcap", 1, 0, []head{{"", 16}}},
	0xa1b2cd34:  {"modified pcap", 1000, 0, []head{{"", 24}, {"modified pcap (SuSE 6.3)", 28}}},
	0x1c0001ac:  {"pcap of an IXIA", 1, 4, []head{{"", 16}}},
	0x1c0001ab:  {"pcap of an IXIA", 1000, 4, []head{{"", 16}}},
}

// aix are the link types of interfaces as AIX numbers them (RFC 1573): its files are of version 2.2, and have times in ns.
var aix = map[uint32]uint32{6: 1, 9: 6, 24: 0}

// A classic reads a pcap. The snap length of its header is a hint that programs get wrong; each record's own length counts.
type classic struct {
	*Reader
	order
	unit  int64 // of fractions, in ns
	head  int   // size of a record's header
	minor uint16
	link  uint16
	fcs   int // bytes
}

// beginClassic reads the header of a pcap.
func (r *Reader) beginClassic(o order, k kind) error {
	h := r.in.peek(fileHeader + k.more)
	if len(h) < fileHeader+k.more {
		return r.head(r.short("a pcap header has %d bytes, %d there", fileHeader+k.more, len(h)))
	}
	c := &classic{Reader: r, order: o, unit: k.unit, minor: o.u16(h[6:])}
	if major := o.u16(h[4:]); major != 2 || c.minor > 4 {
		return r.head(fmt.Errorf("pcap version %d.%d: want 2.4, or an older 2.x", major, c.minor))
	}
	network, snap := o.u32(h[20:]), o.u32(h[16:])
	if network&0x03ff0000 != 0 {
		return r.head(fmt.Errorf("link type %#x has bits that mean nothing: want a LINKTYPE_ number below 65536", network))
	}
	if link, ok := aix[network]; ok && k.unit == 1000 && c.minor == 2 {
		k.name, c.unit, network = "pcap of AIX", 1, link
	}
	if c.minor < 4 { // the variants came with 2.4
		k.heads = k.heads[:1]
	}
	c.link = known(uint16(network))
	if network&0x04000000 != 0 {
		c.fcs = int(network>>28) * 2
	}
	r.in.skip(fileHeader + k.more)

	best := c.variant(k.heads, snap)
	name := best.name
	if name == "" {
		name = k.name
	}
	c.head = best.size
	exponent := 9
	if c.unit == 1000 {
		exponent = 6
	}
	r.info.Format, r.info.Version = name, fmt.Sprintf("2.%d", c.minor)
	r.info.order(o)
	r.info.Interfaces = []Interface{{Link: c.link, Snap: int(snap), Unit: unit(10, exponent), FCS: c.fcs}}
	r.format = c
	return nil
}

func (c *classic) next(to *packet.Record) error {
	b := c.in.peek(c.head)
	if len(b) < c.head {
		return c.noHeader(len(b))
	}
	captured, wire := c.u32(b[8:]), c.u32(b[12:])
	if c.minor < 4 && (c.minor < 3 || captured > wire) { // before 2.4 they were the other way round
		captured, wire = wire, captured
	}
	if captured > maxPacket || int32(wire) < 0 {
		return c.fail(lengths(captured, wire))
	}
	n := c.head + int(captured)
	if b = c.in.peek(n); len(b) < n {
		return c.fail(c.short("%d bytes promised, %d there", captured, len(b)-c.head))
	}
	to.Data, to.Wire = b[c.head:n:n], int(wire)
	to.Nanos = int64(c.u32(b))*1e9 + int64(c.u32(b[4:]))*c.unit
	to.Link = c.link
	if c.fcs > 0 {
		to.Data, to.Wire = withoutFCS(to.Data, to.Wire, c.fcs)
	}
	c.in.skip(n)
	return nil
}

// known is a link type as a Store has it: 0, BSD loopback, differs from 108 in nothing but the order of the address family's bytes,
// which packet.Store takes either way; a Store means Ethernet by 0.
func known(link uint16) uint16 {
	if link == 0 {
		return packet.LinkLoop
	}
	return link
}
