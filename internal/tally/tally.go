// Package tally keeps the books of a trial: what a lane sent, what a receiver saw of it, and what both make of the stream.
//
//	sender → Sent ┐
//	              ├─Stream→ trial.Stream      received + lost = sent, sent + unsent = intended
//	receiver → Back, flows ┘
//
// Each part has one owner, who counts in plain variables; totals for other threads are published once per burst.
package tally

import (
	"math/bits"

	"loadtest/internal/match"
	"loadtest/trial"
)

// Sent is the sending side of one lane.
type Sent struct {
	Intended, Sent  int64
	Bytes, WireBits int64
	Tagged          int64   // of Sent
	ByFlow          []int64 // sent without a tag, by flow of the receiver's table
	Skipped         int64
	Lateness        trial.Histogram
}

// Reset empties the book and keeps its memory.
func (s *Sent) Reset() {
	s.Lateness.Reset()
	clear(s.ByFlow)
	*s = Sent{ByFlow: s.ByFlow, Lateness: s.Lateness}
}

// Back is the receiving side of one lane.
type Back struct {
	match.Window
	Bytes, WireBits int64
	Late, Corrupt   int64
	Forged          int64 // with sequence numbers that were never sent

	Untagged, UntaggedBits int64 // all that came by flow, copies too

	Half    trial.Arrivals
	Latency trial.Histogram
	vary    meter

	Counted Counted // by the port itself, beside all that
}

// Counted is what a port that knows the tester's packets has counted of a lane; none of them was seen by who keeps the book.
type Counted struct {
	Received, Bytes, WireBits     int64
	Duplicated, Reordered, TooOld int64
	Half                          trial.Arrivals
}

// Arrived is how many packets with a tag came, each once.
func (b *Back) Arrived() int64 { return b.Received + b.Counted.Received }

// Grow allocates what a trial needs, so that nothing is allocated in one.
func (b *Back) Grow() {
	b.Latency.Grow()
	b.vary.Between.Grow()
}

// Took books a tagged packet that came for the first time: the lower 32 bits of its sequence, its delay in ns.
func (b *Back) Took(seq uint32, delay int64) {
	b.Latency.Record(delay, 1)
	b.vary.see(seq, delay)
}

// Reset empties the book and keeps its memory.
func (b *Back) Reset() {
	b.Window.Reset()
	b.Latency.Reset()
	b.vary.reset()
	*b = Back{Window: b.Window, Latency: b.Latency, vary: b.vary}
}

// Flows is what a receiver saw of untagged packets, by flow.
type Flows struct {
	Packets, Bytes, WireBits []int64
}

// Stream makes a stream's result from its lane: both sides, and the receiver's flows.
func Stream(name string, s *Sent, b *Back, f *Flows) trial.Stream {
	r := trial.Stream{
		Name: name, Intended: s.Intended, Sent: s.Sent, Untagged: s.Sent - s.Tagged, Skipped: s.Skipped,
		SentBytes: s.Bytes, SentWireBits: s.WireBits, Lateness: s.Lateness.Clone(),
	}
	if b == nil {
		return r
	}
	c := &b.Counted
	r.Received = min(b.Arrived(), s.Tagged)
	r.ReceivedBytes, r.RecvWireBits = b.Bytes+c.Bytes, b.WireBits+c.WireBits
	r.Duplicated, r.Reordered = b.Duplicated+c.Duplicated, b.Reordered+c.Reordered
	r.Late, r.Corrupt, r.Surplus = b.Late, b.Corrupt, b.TooOld+c.TooOld+b.Forged+b.Arrived()-r.Received
	r.Half, r.Latency = b.Half, b.Latency.Clone()
	if c.Received == 0 { // else what came here is a rest, which nobody saw next to the others
		r.Variation = b.vary.variation()
	}
	r.Half.Packets += c.Half.Packets
	r.Half.Bytes += c.Half.Bytes
	r.Half.WireBits += c.Half.WireBits
	for flow, sent := range s.ByFlow {
		if sent == 0 {
			continue
		}
		arrived := f.Packets[flow]
		received := min(arrived, sent)
		r.Received += received
		r.Surplus += arrived - received
		if arrived > 0 { // of packets of one flow the mean size, as far as they count
			r.ReceivedBytes += part(f.Bytes[flow], received, arrived)
			r.RecvWireBits += part(f.WireBits[flow], received, arrived)
		}
	}
	return r
}

// part is total · n / of, for n <= of.
func part(total, n, of int64) int64 {
	hi, lo := bits.Mul64(uint64(total), uint64(n))
	q, _ := bits.Div64(hi, lo, uint64(of))
	return int64(q)
}
