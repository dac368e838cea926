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

	nic.Schedule
	loads  int
	played int // packets
	lanes  []nic.Lane

	passes int // of so many of our packets one is passed on, as not understood; 0: none
	seen   int

	await nic.Await
	table match.Table
	back  map[uint8]*heard
	frame []packet.Frame
}

type heard struct {
	nic.Arrivals
	window  match.Window
	latency trial.Histogram
}

func (p *playing) Load(lanes []nic.Lane) error {
	p.loads++
	p.lanes = lanes
	p.Schedule.Load(lanes)
	return p.no
}

func (p *playing) Begin(plan nic.Plan) error {
	p.Schedule.Begin(plan)
	return nil
}

func (p *playing) Play(now int64) (next int64, err error) {
	for range 64 {
		t, wait, ok := p.Next(now)
		if !ok {
			return wait, nil
		}
		if p.gone > 0 && p.played >= p.gone {
			return now, nic.ErrClosed
		}
		l := &p.lanes[t.Lane]
		b := append([]byte(nil), l.Store.Frame(t.Packet).Data...)
		if t.Tagged {
			t.Tag.Nanos = now
			t.Tag.Put(b[l.Tags[t.Packet]:])
		}
		p.Take(&t, now)
		refused := p.refuse != nil && p.refuse(p.played)
		p.played++
		if !refused {
			n, _ := p.Port.Send([]packet.Frame{{Data: b}})
			refused = n == 0
		}
		if refused {
			p.Refused(&t)
		} else {
			p.Done(&t, now)
		}
	}
	return now, nil
}

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
		if p.seen++; p.passes > 0 && p.seen%p.passes == 0 {
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
