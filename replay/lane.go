package replay

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"loadtest/internal/pace"
	"loadtest/internal/preflight"
	"loadtest/internal/tally"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/packet/rewrite"
	"loadtest/trial"
	"loadtest/units"
)

// A lane is one stream on one transmit queue: its packets with room for tags, its schedule and its books. The sender owns it;
// back belongs to the receiver.
type lane struct {
	part     part
	name     string
	id       uint8
	magic    uint16
	cur      *chunk   // the next packet is its pos-th; nil: not read from disk yet
	before   *chunk   // of the feed, which packets of the burst at hand may still be in
	feed     *feed    // nil: cur is all
	lead     int64    // captured time before the first packet, ns
	wrap     int64    // from the last to the end of the pass
	pass     int64    // packets of one pass
	place    int64    // of the next packet in its pass
	turn     int64    // passes begun before this one, in all trials
	vary     *variety // nil: each pass is like the first
	skipped  int      // further ones of the source, in one pass
	untagged int64    // packets of a pass without a tag

	unit     trial.Unit
	pacer    pace.Pacer
	pos      int         // next packet of cur
	left     int64       // packets until the last loop ends
	next     int64       // sequence number of the next tagged packet
	recent   []departure // of the packets of a burst's length before the next one, a ring
	slot     int         // of recent: the next packet's
	tag      packet.Tag
	pre      uint8 // trial number of the pre-roll
	counting bool  // the pre-roll is over
	sent     tally.Sent
	since    int64 // when the packet was due that is not read from disk yet; Never: it is
	starved  int64 // longest time that one was not, ns

	published struct{ next, intended, sent, bits, returned, returnedBits atomic.Int64 }

	receiver *receiver
	back     *tally.Back
	top      int64               // highest sequence number that the port has counted + 1
	flow     func([]byte) uint64 // key of a packet without a tag when it comes back
}

// A departure is when a packet left and when it was due, both since start.
type departure struct{ at, due int64 }

// sendable says whether every packet of a stream can leave through the port as it is.
func sendable(s Stream, port nic.Info) error {
	if s.Packets.Len() == 0 {
		return fmt.Errorf("%s holds no packets: nothing to send for stream %s", s.Source, s.Name)
	}
	check := preflight.NewCheck(func(uint16) string { return s.Source }, preflight.PortOf(port), preflight.Skips{Made: true})
	r, err := s.Packets.Open()
	if err != nil {
		return err
	}
	var rec packet.Record
	for r.Next(&rec) == nil {
		check.Add(&rec)
	}
	return check.Err()
}

func newLane(p part, id uint8, o Options, own bool) *lane {
	s := p.Stream
	l := &lane{part: p, name: s.Name, id: id, pass: int64(s.Packets.Len()), skipped: s.Skipped, recent: make([]departure, o.Burst), flow: packet.Flow}
	l.lead, l.wrap = gaps(s)
	l.vary = newVariety(s.Vary)
	l.sent.Lateness.Grow()
	if s.Disk != nil {
		l.pass, l.untagged, l.wrap = s.Count, s.Untagged.Packets, max(0, l.wrap)
		l.feed = newFeed(s, o, l.vary)
		return l
	}
	l.cur = load(s, o, own, l.wrap, l.vary)
	for i := range l.cur.meta {
		if l.cur.meta[i].tag < 0 {
			l.untagged++
		}
	}
	return l
}

// gaps are the captured time before the first packet and that behind the last one. Times that go back count as no time, and a
// pass ends with the mean gap. What is a part of a capture keeps its place in it: the rest of the span is behind its last packet.
func gaps(s Stream) (lead, wrap int64) {
	p := s.Packets
	var sum int64
	for i := range p.Len() - 1 {
		sum += max(0, p.Frame(i+1).Nanos-p.Frame(i).Nanos)
	}
	switch last := p.Len() - 1; {
	case s.Span > 0:
		lead = max(0, p.Frame(0).Nanos-s.Epoch)
		wrap = max(0, s.Span-sum) // to the next pass's first, which has its lead again
	case last > 0:
		wrap = sum / int64(last)
	}
	return lead, wrap
}

// begin sets the lane to the start of a trial.
func (l *lane) begin(ctx context.Context, s trial.Spec, points []trial.Point, end int64, share float64, number, pre uint8) error {
	l.unit, l.pos, l.next, l.since, l.starved = s.Unit, 0, 0, pace.Never, 0
	for i := range l.recent {
		l.recent[i] = departure{at: math.MinInt64 / 2}
	}
	if s.Unit == trial.Factor && l.wrap == 0 && s.Loops == 0 {
		return fmt.Errorf("stream %s: its packets carry no times to replay; give a rate (-b 1G)", l.name)
	}
	if l.place > 0 { // the trial before ended within a pass
		l.place = 0
		l.turn++
	}
	l.left = math.MaxInt64
	if s.Loops > 0 {
		l.left = s.Loops * l.pass
	}
	l.pacer = pace.New(points, end, share)
	if s.Unit == trial.Factor && l.lead > 0 {
		l.pacer.Next(pace.Wait(l.lead))
	}
	if l.feed != nil {
		if err := l.feed.begin(ctx, s.Loops); err != nil {
			return err
		}
		if !l.fetch(true) {
			return fmt.Errorf("stream %s: %w", l.name, l.feed.err)
		}
	}
	l.tag = packet.Tag{Magic: l.magic, Lane: l.id, Trial: number}
	l.pre, l.counting = pre, false
	l.sent.Reset()
	for _, a := range []*atomic.Int64{&l.published.next, &l.published.intended, &l.published.sent, &l.published.bits, &l.published.returned, &l.published.returnedBits} {
		a.Store(0)
	}
	return nil
}

// bare calls do for each packet without a tag, of a feed for one of each flow; i is its number in the chunk, or among these.
func (l *lane) bare(do func(i int, b []byte) error) error {
	if l.feed != nil {
		u := l.feed.stream.Untagged
		for i := range u.store.Len() {
			if err := do(i, u.store.Frame(i).Data); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range l.cur.meta {
		if l.cur.meta[i].tag < 0 {
			if err := do(i, l.cur.store.Frame(i).Data); err != nil {
				return err
			}
		}
	}
	return nil
}

// varied copies the i-th of them to buf, and says where its passes differ.
func (l *lane) varied(i int, buf []byte) ([]byte, []rewrite.Place) {
	if l.feed != nil {
		u := l.feed.stream.Untagged
		b := u.store.Frame(i).Data
		return append(buf[:0], b...), l.vary.places(nil, b, u.server[i])
	}
	return append(buf[:0], l.cur.store.Frame(i).Data...), l.cur.places(i, len(l.vary.rules))
}

// number gives the i-th of them the number of its flow.
func (l *lane) number(i int, flow int32) {
	if l.feed != nil {
		l.feed.flows[packet.Flow(l.feed.stream.Untagged.store.Frame(i).Data)] = flow
	} else {
		l.cur.meta[i].flow = flow
	}
}

// restore makes the packets what they were, where passes differ.
func (l *lane) restore() {
	if l.vary == nil || l.feed != nil {
		return
	}
	for i := range l.cur.meta {
		l.vary.put(l.cur.store.Frame(i).Data, l.cur.places(i, len(l.vary.rules)), 0)
	}
}

// end gives back what was read ahead.
func (l *lane) end() {
	if l.feed != nil {
		l.feed.end(l.cur, l.before)
		l.cur, l.before = nil, nil
	}
}

// cost is what the packet at pos takes of the load.
func (l *lane) cost() pace.Cost {
	switch l.unit {
	case trial.Packets:
		return pace.OnePacket
	case trial.Factor:
		return pace.Wait(l.cur.gap(l.pos))
	}
	return pace.Bits(units.WireBits(l.cur.store.Size(l.pos)))
}

// advance moves to the next packet of the schedule.
func (l *lane) advance() {
	l.pacer.Next(l.cost())
	l.left--
	if l.place++; l.place == l.pass {
		l.place = 0
		l.turn++
	}
	if l.pos++; l.pos == len(l.cur.meta) {
		l.pos = 0
		if l.feed != nil {
			l.nextChunk()
		}
	}
}

// gate is the earliest time of a packet that is due then: a burst and one packet more take half their time at least, so catching
// up goes at twice the load.
func (l *lane) gate(due int64) int64 {
	d := &l.recent[l.slot]
	return d.at + (due-d.due)/2
}

func (l *lane) publish() {
	l.published.next.Store(l.next)
	l.published.intended.Store(l.sent.Intended)
	l.published.sent.Store(l.sent.Sent)
	l.published.bits.Store(l.sent.WireBits)
}
