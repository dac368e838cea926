package split

import (
	"hash/maphash"
	"net/netip"

	"loadtest/packet"
)

// A flow is one of IP: its key, and what is known of it.
type flow struct {
	key
	marks
}

// marks are what was seen of a flow, a bit each, and above them by what its client is known.
type marks uint8

const (
	seenLow    marks = 1 << iota // from the low end
	seenHigh                     // from the high end
	seenSYN                      // that opens TCP
	seenAnswer                   // SYN and ACK
	highClient                   // the client is the high end

	twoSided  = seenLow | seenHigh
	handshake = seenSYN | seenAnswer
)

func (m marks) known() evidence  { return evidence(m >> 5) }
func (m marks) has(n marks) bool { return m&n == n }

// settle says who the client is.
func (m *marks) settle(e evidence, high bool) {
	*m = *m&(1<<5-1)&^highClient | marks(e)<<5
	if high {
		*m |= highClient
	}
}

// Flows are the flows of a capture, both directions of one as one, in the order of their first packets. A flow takes 38 bytes and
// 8 to 16 of the index.
type Flows struct {
	most  int // 0: any number
	count int
	parts [][]flow // of partLen each, so that none moves
	index []uint32 // 1 + number, by hash; 0: free. At most half of it is used
	seed  maphash.Seed
	full  bool
}

const partLen = 1 << 12

// none is the number of what has no flow.
const none = -1

// NewFlows makes an empty table, which takes no more than so many flows; 0: any number.
func NewFlows(most int) *Flows {
	return &Flows{most: most, index: make([]uint32, 2*partLen), seed: maphash.MakeSeed()}
}

func (t *Flows) flow(n int) *flow { return &t.parts[n/partLen][n%partLen] }

// Add counts a frame, of which Parse said h and ok; not what is no IP packet, or not whole to its ports.
func (t *Flows) Add(b []byte, h *packet.Headers, ok bool) {
	var m message
	if m.read(b, h, ok) {
		t.add(&m)
	}
}

// add takes the next packet. Its flow's number is even from the low end, odd from the high end, none if the table is full.
func (t *Flows) add(m *message) int {
	at := t.find(&m.key)
	n := int(t.index[at]) - 1
	if n < 0 {
		if t.full = t.full || t.most > 0 && t.count == t.most; t.full {
			return none
		}
		n = t.insert(at, &m.key)
	}
	f := t.flow(n)
	from := seenLow
	if m.high {
		from = seenHigh
	}
	f.marks |= from
	e, fromClient := m.tells()
	switch e {
	case syn:
		f.marks |= seenSYN
	case synAck:
		f.marks |= seenAnswer
	}
	if e > f.known() {
		f.settle(e, m.high == fromClient)
	}
	return m.number(n)
}

// lookup is what add gave for the message.
func (t *Flows) lookup(m *message) int {
	if n := int(t.index[t.find(&m.key)]) - 1; n >= 0 {
		return m.number(n)
	}
	return none
}

// find is the place of a key in the index, or where it would be.
func (t *Flows) find(k *key) int {
	mask := uint64(len(t.index) - 1)
	at := t.hash(k) & mask
	for ; t.index[at] != 0; at = (at + 1) & mask {
		if t.flow(int(t.index[at])-1).key == *k {
			break
		}
	}
	return int(at)
}

// hash has a seed of its own, so that no capture can be made to collide.
func (t *Flows) hash(k *key) uint64 { return maphash.Bytes(t.seed, k[:]) }

// insert makes a flow, whose place in the index is at.
func (t *Flows) insert(at int, k *key) (n int) {
	n = t.count
	if n%partLen == 0 {
		t.parts = append(t.parts, make([]flow, partLen))
	}
	t.count++
	t.flow(n).key = *k
	t.index[at] = uint32(t.count)
	if t.count*2 > len(t.index) {
		t.grow()
	}
	return n
}

func (t *Flows) grow() {
	t.index = make([]uint32, 2*len(t.index))
	mask := uint64(len(t.index) - 1)
	for n := range t.count {
		at := t.hash(&t.flow(n).key) & mask
		for t.index[at] != 0 {
			at = (at + 1) & mask
		}
		t.index[at] = uint32(n + 1)
	}
}

func (t *Flows) fromServer(n int) bool { return n&1 == 1 != t.flow(n/2).has(highClient) }

// source is the address that a packet is from.
func (t *Flows) source(n int) netip.Addr {
	low, high := t.flow(n / 2).addrs()
	if n&1 == 1 {
		low = high
	}
	return netip.AddrFrom16(low).Unmap()
}

// Counts are how many flows there are. TCP and UDP with ports count as such; fragments, which have none, are other flows, one for
// each pair of hosts.
type Counts struct {
	TCP        int64 `json:"tcp"`
	TwoSided   int64 `json:"tcp_two_sided"`  // of these, of how many both directions are there
	Opened     int64 `json:"tcp_opened"`     // how many have a SYN
	Handshakes int64 `json:"tcp_handshakes"` // how many have a SYN and its answer
	UDP        int64 `json:"udp"`
	ICMP       int64 `json:"icmp"` // pairs of hosts, also of ICMPv6
	Other      int64 `json:"other"`
	AtLeast    bool  `json:"at_least"` // the table was full: there are more
}

// Counts counts.
func (t *Flows) Counts() (c Counts) {
	c.AtLeast = t.full
	for n := range t.count {
		f := t.flow(n)
		switch ported := f.ported(); {
		case f.proto() == packet.ProtoTCP && ported:
			c.TCP++
			c.TwoSided += one(f.has(twoSided))
			c.Opened += one(f.has(seenSYN))
			c.Handshakes += one(f.has(twoSided | handshake))
		case f.proto() == packet.ProtoUDP && ported:
			c.UDP++
		case f.proto() == packet.ProtoICMP || f.proto() == packet.ProtoICMPv6:
			c.ICMP++
		default:
			c.Other++
		}
	}
	return c
}

func one(is bool) int64 {
	if is {
		return 1
	}
	return 0
}
