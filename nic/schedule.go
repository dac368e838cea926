package nic

import (
	"math"

	"loadtest/packet"
	"loadtest/trial"
	"loadtest/units"
)

// A Schedule carries out a Plan for a Player that is told by Go what to send: it is pure, and keeps the lanes' books. Programs in
// other languages do the same.
type Schedule struct {
	plan  Plan
	lanes []scheduled
}

// scheduled is one lane.
type scheduled struct {
	*Lane
	Load
	Offer
	left, rem     uint64
	due           int64 // Never: there is no next packet
	tat           int64 // when one at twice the load would be through with what was sent
	pos           int
	turns         int64 // so far
	counting      bool
	head, preroll packet.Tag
	lateness      trial.Histogram
}

// A Turn is a packet that is due: which one, and how it leaves.
type Turn struct {
	Lane, Packet int
	Tag          packet.Tag // where Tagged
	Tagged       bool
	counted      bool
	due, step    int64
	rem          uint64
}

// Load takes the lanes in.
func (s *Schedule) Load(lanes []Lane) {
	s.lanes = make([]scheduled, len(lanes))
	for i := range lanes {
		s.lanes[i].Lane = &lanes[i]
		s.lanes[i].lateness.Grow()
	}
}

// Begin begins a trial.
func (s *Schedule) Begin(p Plan) {
	s.plan = p
	for i := range s.lanes {
		l := &s.lanes[i]
		*l = scheduled{Lane: l.Lane, Load: p.Lanes[i], lateness: l.lateness, left: math.MaxUint64}
		l.lateness.Reset()
		l.head = packet.Tag{Magic: l.Magic, Lane: l.ID, Trial: p.Trial}
		l.preroll = l.head
		l.preroll.Trial = p.Preroll
		if l.Packets > 0 {
			l.left = uint64(l.Packets)
		}
		l.next(p.Start+l.Lead, p.End)
		if l.Den == 0 {
			l.due = Never
		}
	}
}

// next is when the lane's next packet is due.
func (l *scheduled) next(due, end int64) {
	l.due, l.Due = due, due
	if due >= end || l.left == 0 {
		l.due = Never
	}
}

// Next is the packet whose turn it is at a time; without one, ok is false, and wait is when there is one: Never if the plan is carried
// out. What is too late by then stays unsent, in bounded time. The turn is the same until Take.
func (s *Schedule) Next(now int64) (t Turn, wait int64, ok bool) {
	for range 64 {
		l, i := s.first(now)
		if l == nil || l.due > now {
			if l == nil {
				return t, Never, false
			}
			return t, l.due, false
		}
		s.turn(&t, l, i)
		if l.Num == 0 {
			return t, 0, true
		}
		if now-l.due > s.plan.Credit {
			if t.counted {
				l.Intended++
			}
			s.advance(l, &t)
			continue
		}
		if slack := 16 * t.step; l.tat > now+slack { // twice the load at most, 32 packets excepted
			return t, l.tat - slack, false
		}
		return t, 0, true
	}
	return t, now, false
}

// first is the lane that is due first.
func (s *Schedule) first(now int64) (first *scheduled, at int) {
	for i := range s.lanes {
		l := &s.lanes[i]
		if l.Num == 0 && l.due < now {
			l.next(now, s.plan.End)
		}
		if l.due != Never && (first == nil || l.due < first.due || l.due == first.due && l.turns < first.turns) {
			first, at = l, i
		}
	}
	return first, at
}

// turn describes a lane's next packet.
func (s *Schedule) turn(t *Turn, l *scheduled, i int) {
	*t = Turn{Lane: i, Packet: l.pos, Tagged: l.Tags[l.pos] >= 0, counted: l.due >= s.plan.Count, due: l.due}
	cost := uint64(1)
	switch l.Unit {
	case trial.WireBits:
		cost = uint64(units.WireBits(l.Store.Size(l.pos)))
	case trial.Factor:
		cost = uint64(l.Gaps[l.pos])
	}
	sum := cost*l.Num + l.rem
	t.step, t.rem = int64(sum/l.Den), sum%l.Den
	if t.Tagged {
		t.Tag = l.preroll
		if t.counted {
			if t.Tag = l.head; !l.counting {
				l.counting, l.Issued = true, 0
			}
		}
		t.Tag.Seq = uint32(l.Issued)
	}
}

// Take gives a turn its number, and goes on to the next one. Done or Refused follows, however much later.
func (s *Schedule) Take(t *Turn, now int64) {
	l := &s.lanes[t.Lane]
	if t.Tagged {
		l.Issued++
	}
	l.tat = max(l.tat, now) + t.step/2
	s.advance(l, t)
}

// Done books a turn whose packet the driver took at a time.
func (s *Schedule) Done(t *Turn, now int64) {
	l := &s.lanes[t.Lane]
	if !t.counted {
		return
	}
	size := l.Store.Size(t.Packet)
	l.Intended++
	l.Sent++
	l.Bytes += int64(size)
	l.WireBits += units.WireBits(size)
	if t.Tagged {
		l.Tagged++
	}
	l.lateness.Record(now-t.due, 1)
}

// Refused books a turn whose packet the driver did not take: it is unsent, or, where nothing said when it was due, was not intended.
func (s *Schedule) Refused(t *Turn) {
	l := &s.lanes[t.Lane]
	if !t.counted {
		return
	}
	if l.Num != 0 {
		l.Intended++
	}
	if t.Tagged {
		l.Offer.Refused++
	}
}

// Late says whether a turn's packet may leave no more at a time.
func (s *Schedule) Late(t *Turn, now int64) bool {
	return s.lanes[t.Lane].Num != 0 && now-t.due > s.plan.Credit || now >= s.plan.End+s.plan.Credit
}

// advance goes on to the lane's next packet.
func (s *Schedule) advance(l *scheduled, t *Turn) {
	if l.pos++; l.pos == l.Store.Len() {
		l.pos = 0
	}
	l.left--
	l.rem = t.rem
	l.turns++
	l.next(t.due+t.step, s.plan.End)
}

// Played is how far a lane is.
func (s *Schedule) Played(lane int) Offer {
	o := s.lanes[lane].Offer
	if !s.lanes[lane].counting {
		o.Issued = 0
	}
	return o
}

// Lateness adds how late a lane's packets left.
func (s *Schedule) Lateness(lane int, into *trial.Histogram) { into.Add(&s.lanes[lane].lateness) }
