// Package pace says when each packet of a load is due.
//
//	trial.Spec ─Lines→ stretches of constant load ─Pacer→ due times of packets
//
// A packet is due when the area under the load's lines equals what all packets before it cost. Due times are absolute and
// exact: a remainder is carried, nothing is rounded twice, nothing overflows, at any load and after any time.
package pace

import (
	"math"
	"time"

	"loadtest/trial"
)

// Slope is the longest line that a slope is cut into.
const Slope = int64(10 * time.Millisecond)

// A Line is a stretch of constant load, until End in ns since the start.
type Line struct {
	End  int64
	Load float64
}

// Never is the end of a load without one, and when a packet behind the end of a load is due.
const Never = math.MaxInt64

// LineAt is the line that begins at t ns: the points' own, or a piece of at most Slope of a slope with its mean load.
// end is where the load as a whole ends.
func LineAt(points []trial.Point, t, end int64) Line {
	for i, p := range points {
		at := int64(p.At)
		if t >= at {
			continue
		}
		if i == 0 {
			return Line{min(at, end), p.Load}
		}
		q := points[i-1]
		if q.Load == p.Load {
			return Line{min(at, end), p.Load}
		}
		l := Line{End: min(at, t+Slope, end)}
		middle := float64(t-int64(q.At)) + float64(l.End-t)/2
		l.Load = q.Load + (p.Load-q.Load)*middle/float64(p.At-q.At)
		return l
	}
	if len(points) == 0 {
		return Line{End: end}
	}
	return Line{end, points[len(points)-1].Load}
}

// fraction is how many bits of a load's fraction count: loads up to 2^49, packets up to 64 KiB.
const fraction = 14

// A Cost is what a packet takes of a load: a time at load 1, in ns / 2^14.
type Cost uint64

// Bits is the cost of so many wire bits of a load in bit/s.
func Bits(n int64) Cost { return Cost(n) * 1e9 << fraction }

// OnePacket is the cost of a packet of a load in packets/s.
const OnePacket = Cost(1e9 << fraction)

// Wait is the cost of a captured gap of so many ns, for a load that is a factor.
func Wait(ns int64) Cost { return Cost(min(max(ns, 0), math.MaxInt64>>fraction)) << fraction }

// A Pacer is one stream's schedule. Times are ns since its start.
type Pacer struct {
	points []trial.Point
	end    int64
	share  float64

	line Line
	rate uint64 // the line's load, in 2^-14
	due  int64
	rem  uint64 // of a ns, in units of 1/rate
	gap  int64  // between the two latest due times
}

// New is the schedule of a load until end (Never: open), times share.
func New(points []trial.Point, end int64, share float64) Pacer {
	p := Pacer{points: points, end: end, share: share}
	p.enter(0)
	p.Next(0)
	return p
}

// enter begins the line at t.
func (p *Pacer) enter(t int64) {
	p.line = LineAt(p.points, t, p.end)
	load := p.line.Load * p.share
	switch {
	case math.IsInf(load, 1):
		p.rate = math.MaxUint64
	case load > 0:
		p.rate = uint64(math.Round(load * (1 << fraction)))
	default:
		p.rate = 0
	}
}

// Due is when the next packet is due; Never when the load is over.
func (p *Pacer) Due() int64 { return p.due }

// Gap is the time between the next packet's deadline and the one before it.
func (p *Pacer) Gap() int64 { return p.gap }

// Unpaced says whether packets go out as fast as the port takes them.
func (p *Pacer) Unpaced() bool { return p.rate == math.MaxUint64 }

// Next moves to the packet after one that costs c.
func (p *Pacer) Next(c Cost) {
	from := p.due
	if p.due == Never {
		return
	}
	if p.Unpaced() && p.due < p.line.End {
		p.gap = 0
		return
	}
	left := uint64(c)
	for {
		if p.rate > 0 {
			ns := left / p.rate
			rem := left%p.rate + p.rem
			if rem >= p.rate || rem < p.rem { // the second: it wrapped
				rem -= p.rate
				ns++
			}
			if ns < uint64(p.line.End-p.due) {
				p.due += int64(ns)
				p.rem = rem
				p.gap = p.due - from
				return
			}
			left += p.rem - uint64(p.line.End-p.due)*p.rate
		}
		p.rem = 0
		if p.line.End >= p.end {
			p.due = Never
			return
		}
		p.due = p.line.End
		p.enter(p.due)
	}
}

// Catch makes the next packet of an unpaced line due now; behind the line's end the next line begins.
func (p *Pacer) Catch(now int64) {
	for p.Unpaced() && p.due != Never {
		if now < p.line.End {
			p.due = max(p.due, now)
			return
		}
		if p.line.End >= p.end {
			p.due = Never
			return
		}
		p.due = p.line.End
		p.enter(p.due)
		if !p.Unpaced() {
			p.rem = 0
			p.Next(0)
		}
	}
}
