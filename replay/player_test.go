package replay

import (
	"loadtest/internal/match"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/trial"
	"loadtest/units"
)

// A playing is a port that plays and classifies by the book, packet by packet, above one that only sends and receives.
type playing struct {
	nic.Port
	refuse func(n int) bool // of the n-th packet offered to the driver
	no     error            // what Load answers
	gone   int              // after so many packets Play fails

	plan   nic.Plan
	lanes  []nic.Lane
	state  []playState
	loads  int
	played int // packets

	await nic.Await
	table match.Table
	back  map[uint8]*heard
	frame []packet.Frame
}

type playState struct {
	nic.Offer
	pos, n    int64
	rem       uint64
	lateness  trial.Histogram
	countFrom bool
}

type heard struct {
	nic.Arrivals
	window  match.Window
	latency trial.Histogram
}

func (p *playing) Load(lanes []nic.Lane) error {
	p.loads++
	p.lanes = lanes
	return p.no
}

func (p *playing) Begin(plan nic.Plan) error {
	p.plan, p.state = plan, make([]playState, len(plan.Lanes))
	for i := range p.state {
		p.state[i].Due = plan.Start + plan.Lanes[i].Lead
	}
	return nil
}

// first is the lane whose packet is due first, -1: there is none any more.
func (p *playing) first() (lane int) {
	lane = -1
	for i := range p.state {
		s, l := &p.state[i], p.plan.Lanes[i]
		if l.Den == 0 || s.Due >= p.plan.End || l.Packets > 0 && s.n >= l.Packets {
			continue
		}
		if lane < 0 || s.Due < p.state[lane].Due {
			lane = i
		}
	}
	return lane
}

func (p *playing) Play(now int64) (next int64, err error) {
	for range 64 {
		i := p.first()
		if i < 0 {
			return nic.Never, nil
		}
		s := &p.state[i]
		if p.plan.Lanes[i].Num == 0 {
			s.Due = max(s.Due, now)
		}
		if s.Due > now {
			return s.Due, nil
		}
		if p.gone > 0 && p.played >= p.gone {
			return now, nic.ErrClosed
		}
		p.one(i, now)
	}
	return now, nil
}

// one plays a packet of a lane.
func (p *playing) one(i int, now int64) {
	s, l, load := &p.state[i], &p.lanes[i], p.plan.Lanes[i]
	pos := int(s.pos)
	size, counted := l.Store.Size(pos), s.Due >= p.plan.Count
	sent, tagged := now-s.Due <= p.plan.Credit, l.Tags[pos] >= 0
	if sent {
		b := append([]byte(nil), l.Store.Frame(pos).Data...)
		if counted && !s.countFrom {
			s.countFrom, s.Issued = true, 0
		}
		if tagged {
			t := packet.Tag{Magic: l.Magic, Lane: l.ID, Trial: p.plan.Trial, Seq: uint32(s.Issued), Nanos: now}
			if !counted {
				t.Trial = p.plan.Preroll
			}
			t.Put(b[l.Tags[pos]:])
			s.Issued++
		}
		if p.refuse != nil && p.refuse(p.played) {
			sent = false
			if tagged && counted {
				s.Refused++
			}
		} else if n, _ := p.Port.Send([]packet.Frame{{Data: b}}); n == 0 {
			if load.Num == 0 { // of an unpaced lane it was not intended
				s.Issued--
				return
			}
			sent = false
			if tagged && counted {
				s.Refused++
			}
		}
		p.played++
	}
	if counted {
		s.Intended++
		if sent {
			s.Sent++
			s.Bytes += int64(size)
			s.WireBits += units.WireBits(size)
			s.lateness.Record(now-s.Due, 1)
			if tagged {
				s.Tagged++
			}
		}
	}
	s.n++
	s.pos = (s.pos + 1) % int64(l.Store.Len())
	cost := uint64(1)
	switch load.Unit {
	case trial.WireBits:
		cost = uint64(units.WireBits(size))
	case trial.Factor:
		cost = uint64(l.Gaps[pos])
	}
	sum := cost*load.Num + s.rem
	s.Due += int64(sum / load.Den)
	s.rem = sum % load.Den
}

func (p *playing) Played(lane int) nic.Offer { return p.state[lane].Offer }

func (p *playing) Lateness(lane int, into *trial.Histogram) { into.Add(&p.state[lane].lateness) }

func (p *playing) Classify(a nic.Await) error {
	p.await, p.back = a, map[uint8]*heard{}
	p.table = match.Table{Magic: a.Magic, Trial: a.Trial, Preroll: a.Preroll}
	for _, id := range a.Lanes {
		p.table.Lanes[id] = true
		p.back[id] = &heard{}
		p.back[id].window.Reset()
		p.back[id].window.Limit = 1 << 40
	}
	return nil
}

func (p *playing) Classified(lane uint8) nic.Arrivals {
	h := p.back[lane]
	a := h.Arrivals
	a.Received, a.Duplicated, a.Reordered, a.TooOld = h.window.Received, h.window.Duplicated, h.window.Reordered, h.window.TooOld
	return a
}

func (p *playing) Latency(lane uint8, into *trial.Histogram) { into.Add(&p.back[lane].latency) }

func (p *playing) Recv(frames []packet.Frame) (int, error) {
	n, err := p.Port.Recv(frames)
	rest := frames[:0]
	for _, f := range frames[:n] {
		hit := p.table.Match(f.Data)
		h := p.back[hit.Lane]
		if h == nil || hit.Verdict != match.Tagged && hit.Verdict != match.Preroll {
			rest = append(rest, f)
			continue
		}
		h.Last = max(f.Nanos, hit.Nanos)
		if hit.Verdict == match.Preroll || h.window.See(hit.Seq) != match.New {
			continue
		}
		h.Top = max(h.Top, int64(hit.Seq)+1)
		h.Bytes += int64(len(f.Data))
		h.WireBits += units.WireBits(len(f.Data))
		h.latency.Record(h.Last-hit.Nanos, 1)
		if h.Last >= p.await.Half && h.Last < p.await.HalfEnd {
			h.Half.Packets++
			h.Half.Bytes += int64(len(f.Data))
			h.Half.WireBits += units.WireBits(len(f.Data))
		}
	}
	return len(rest), err
}
