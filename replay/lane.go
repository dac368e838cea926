package replay

import (
	"fmt"
	"math"
	"strings"
	"sync/atomic"

	"loadtest/internal/pace"
	"loadtest/internal/tally"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/trial"
	"loadtest/units"
)

// A lane is one stream on one transmit queue: its packets with room for tags, its schedule and its books. The sender owns it;
// back belongs to the receiver.
type lane struct {
	name     string
	id       uint8
	magic    uint16
	store    packet.Store // own copy, in enough passes that a burst holds no packet twice
	meta     []meta
	gaps     []int64 // captured time from each packet to the next, ns
	lead     int64   // captured time before the first one
	pass     int     // packets of one pass
	skipped  int     // further ones of the source, in one pass
	untagged int     // packets of the store without a tag

	unit     trial.Unit
	pacer    pace.Pacer
	pos      int         // next packet of the store
	left     int64       // packets until the last loop ends
	next     int64       // sequence number of the next tagged packet
	recent   []departure // of the packets of a burst's length before the next one, a ring
	slot     int         // of recent: the next packet's
	tag      packet.Tag
	pre      uint8 // trial number of the pre-roll
	counting bool  // the pre-roll is over
	sent     tally.Sent

	published struct{ next, intended, sent, bits, returned, returnedBits atomic.Int64 }

	receiver *receiver
	back     *tally.Back
	flow     func([]byte) uint64 // key of a packet without a tag when it comes back
}

// A departure is when a packet left and when it was due, both since start.
type departure struct{ at, due int64 }

// meta is what the sender must know of a packet without looking at its bytes.
type meta struct {
	size, bits int32
	tag        int32 // offset of its tag, -1: none
	flow       int32 // of an untagged packet, in the receiver's table
}

// Sendable says whether every packet of a stream can leave through the port as it is.
func Sendable(s Stream, port nic.Info) error {
	if s.Packets.Len() == 0 {
		return fmt.Errorf("%s holds no packets: nothing to send for stream %s", s.Source, s.Name)
	}
	if s.Packets.Link > 1 {
		return fmt.Errorf("%s has no Ethernet header (link type %d); only Ethernet captures (1) can be sent", s.Source, s.Packets.Link)
	}
	long, first, longest := 0, 0, 0
	for i := range s.Packets.Len() {
		size := s.Packets.Size(i)
		switch {
		case size < packet.EtherLen:
			return fmt.Errorf("%s record %d: %d bytes are no Ethernet frame", s.Source, i+1, size)
		case s.Packets.Wire(i) > size:
			return fmt.Errorf("%s record %d was captured short: %d of %d bytes; %d of %d records are. Capture again with the full length (tcpdump -s 0)",
				s.Source, i+1, size, s.Packets.Wire(i), s.Packets.Snapped(), s.Packets.Len())
		case port.MaxFrame > 0 && size > port.MaxFrame:
			if long++; long == 1 {
				first = i
			}
			longest = max(longest, size)
		}
	}
	if long > 0 {
		return fmt.Errorf("%s record %d: %d bytes, %s takes %d (MTU %d); %d of %d records are too long%s",
			s.Source, first+1, s.Packets.Size(first), port.Name, port.MaxFrame, port.MTU, long, s.Packets.Len(), widen(port, longest))
	}
	return nil
}

// widen is how to give a port of the kernel a larger MTU.
func widen(port nic.Info, frame int) string {
	if port.Backend != "afpacket" {
		return ""
	}
	name, netns, ok := strings.Cut(strings.TrimPrefix(port.Name, "afpacket:"), "@")
	if ok {
		netns = "-n " + netns + " "
	}
	return fmt.Sprintf(". ip %slink set %s mtu %d", netns, name, frame-packet.EtherLen)
}

func newLane(s Stream, id uint8, o Options) *lane {
	l := &lane{name: s.Name, id: id, pass: s.Packets.Len(), skipped: s.Skipped, recent: make([]departure, o.Burst)}
	passes := (2*o.Burst + l.pass - 1) / l.pass
	l.store.Grow(passes*l.pass, passes*int(s.Packets.Bytes()))
	l.meta = make([]meta, 0, passes*l.pass)
	l.gaps, l.lead = gaps(s)
	for i := range passes * l.pass {
		f := s.Packets.Frame(i % l.pass)
		l.store.Append(f.Data, f.Nanos, len(f.Data))
		b := l.store.Frame(i).Data
		m := meta{size: int32(len(b)), bits: int32(units.WireBits(len(b))), tag: int32(packet.TagOffset(b, o.Tag)), flow: -1}
		if m.tag >= 0 {
			packet.ClearTag(b, int(m.tag))
		} else {
			l.untagged++
		}
		l.meta = append(l.meta, m)
	}
	l.flow = packet.Flow
	l.sent.Lateness.Grow()
	return l
}

// gaps are the captured times between packets; those that go back count as 0, and the pass ends with the mean gap. What is a
// part of a capture keeps its place in it: lead before the first packet, and the rest of the span after the last.
func gaps(s Stream) (g []int64, lead int64) {
	p := s.Packets
	g = make([]int64, p.Len())
	var sum int64
	for i := range g[:len(g)-1] {
		g[i] = max(0, p.Frame(i+1).Nanos-p.Frame(i).Nanos)
		sum += g[i]
	}
	switch last := len(g) - 1; {
	case s.Span > 0:
		lead = max(0, p.Frame(0).Nanos-s.Epoch)
		g[last] = max(0, s.Span-sum) // to the next pass's first, which has its lead again
	case last > 0:
		g[last] = sum / int64(last)
	}
	return g, lead
}

// begin sets the lane to the start of a trial.
func (l *lane) begin(s trial.Spec, points []trial.Point, end int64, share float64, number, pre uint8) error {
	l.unit, l.pos, l.next = s.Unit, 0, 0
	for i := range l.recent {
		l.recent[i] = departure{at: math.MinInt64 / 2}
	}
	if s.Unit == trial.Factor && l.gaps[l.pass-1] == 0 && (l.pass > 1 || s.Loops == 0) {
		return fmt.Errorf("stream %s: its packets carry no times to replay; give a rate (-b 1G)", l.name)
	}
	l.left = math.MaxInt64
	if s.Loops > 0 {
		l.left = s.Loops * int64(l.pass)
	}
	l.pacer = pace.New(points, end, share)
	if s.Unit == trial.Factor && l.lead > 0 {
		l.pacer.Next(pace.Wait(l.lead))
	}
	l.tag = packet.Tag{Magic: l.magic, Lane: l.id, Trial: number}
	l.pre, l.counting = pre, false
	l.sent.Reset()
	for _, a := range []*atomic.Int64{&l.published.next, &l.published.intended, &l.published.sent, &l.published.bits, &l.published.returned, &l.published.returnedBits} {
		a.Store(0)
	}
	return nil
}

// cost is what the packet at pos takes of the load.
func (l *lane) cost() pace.Cost {
	switch l.unit {
	case trial.Packets:
		return pace.OnePacket
	case trial.Factor:
		return pace.Wait(l.gaps[l.pos%l.pass])
	}
	return pace.Bits(int64(l.meta[l.pos].bits))
}

// advance moves to the next packet of the schedule.
func (l *lane) advance() {
	l.pacer.Next(l.cost())
	if l.pos++; l.pos == len(l.meta) {
		l.pos = 0
	}
	l.left--
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
