package split

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"net/netip"

	"loadtest/packet"
)

// An end is one of the two of a flow. What has no ports has 0.
type end struct {
	addr [16]byte
	port uint16
}

func (e end) compare(f end) int {
	return cmp.Or(bytes.Compare(e.addr[:], f.addr[:]), cmp.Compare(e.port, f.port))
}

// A message is what is looked at of an IP packet.
type message struct {
	src, dst end
	proto    uint8
	flags    uint8 // of TCP
}

// read is false of what is no IP packet, or not whole to its ports.
func read(b []byte) (m message, ok bool) {
	h, ok := packet.Parse(b)
	if !ok {
		return m, false
	}
	switch h.Type {
	case packet.TypeIPv4:
		m.src.addr = netip.AddrFrom4([4]byte(b[h.L3+12:])).As16()
		m.dst.addr = netip.AddrFrom4([4]byte(b[h.L3+16:])).As16()
	case packet.TypeIPv6:
		m.src.addr = [16]byte(b[h.L3+8:])
		m.dst.addr = [16]byte(b[h.L3+24:])
	default:
		return m, false
	}
	m.proto = h.Proto
	if h.Fragment || h.Proto != packet.ProtoUDP && h.Proto != packet.ProtoTCP {
		return m, true
	}
	if h.L4+4 > len(b) {
		return m, false
	}
	m.src.port = binary.BigEndian.Uint16(b[h.L4:])
	m.dst.port = binary.BigEndian.Uint16(b[h.L4+2:])
	if h.Proto == packet.ProtoTCP {
		m.flags = b[h.L4+13]
	}
	return m, true
}

// A key is the same for both directions of a flow.
type key struct {
	low, high end
	proto     uint8
}

// evidence is by what the client is known; more is better.
type evidence uint8

const (
	first evidence = iota + 1 // who spoke first, and from which port
	synAck
	syn
)

type flow struct {
	key
	known      evidence
	highClient bool    // the client is the high end
	seen       [2]bool // directions: from the low end, from the high end
}

// key is that of the message's flow; high says that it is from the high end.
func (m message) key() (k key, high bool) {
	if m.src.compare(m.dst) > 0 {
		return key{low: m.dst, high: m.src, proto: m.proto}, true
	}
	return key{low: m.src, high: m.dst, proto: m.proto}, false
}

// ported says whether the flow has ports: fragments have none either.
func (k key) ported() bool { return k.low.port != 0 || k.high.port != 0 }

// numbered is a flow's number and, in the last bit, whether a packet is from its high end.
type numbered int32

const none numbered = -1

// A table holds the flows of a capture in the order of their first packets.
type table struct {
	number map[key]numbered
	flows  []flow
}

func newTable() *table { return &table{number: make(map[key]numbered)} }

// add takes the next packet of the capture.
func (t *table) add(m message) numbered {
	k, high := m.key()
	n, known := t.number[k]
	if !known {
		n = numbered(len(t.flows) * 2)
		t.number[k] = n
		t.flows = append(t.flows, flow{key: k})
	}
	f := &t.flows[n/2]
	f.seen[side(high)] = true
	e, fromClient := m.tells()
	if e > f.known {
		f.known, f.highClient = e, high == fromClient
	}
	return n + numbered(side(high))
}

// tells is what a message alone says about who sent it.
func (m message) tells() (e evidence, fromClient bool) {
	const flagSYN, flagACK, wellKnown = 2, 16, 1024
	if m.proto == packet.ProtoTCP && m.flags&flagSYN != 0 {
		if m.flags&flagACK != 0 {
			return synAck, false
		}
		return syn, true
	}
	return first, m.src.port >= wellKnown || m.dst.port < wellKnown
}

// settle decides what has no ports by where its hosts were first seen in what has some.
func (t *table) settle() {
	server := make(map[[16]byte]bool)
	see := func(addr [16]byte, is bool) {
		if _, ok := server[addr]; !ok {
			server[addr] = is
		}
	}
	for _, f := range t.flows {
		if f.ported() {
			see(f.low.addr, f.highClient)
			see(f.high.addr, !f.highClient)
		}
	}
	for i := range t.flows {
		f := &t.flows[i]
		if f.ported() {
			continue
		}
		low, lowKnown := server[f.low.addr]
		high, highKnown := server[f.high.addr]
		switch {
		case lowKnown && highKnown && low == high: // they do not tell them apart
		case lowKnown:
			f.highClient = low
		case highKnown:
			f.highClient = !high
		}
	}
}

func (t *table) fromServer(n numbered) bool { return n&1 == 1 != t.flows[n/2].highClient }

// source is the address that a packet is from.
func (t *table) source(n numbered) netip.Addr {
	f := &t.flows[n/2]
	if n&1 == 1 {
		return netip.AddrFrom16(f.high.addr).Unmap()
	}
	return netip.AddrFrom16(f.low.addr).Unmap()
}

func (t *table) twoSided() (n int) {
	for i := range t.flows {
		if f := &t.flows[i]; f.proto == packet.ProtoTCP && f.ported() && f.seen[0] && f.seen[1] {
			n++
		}
	}
	return n
}
