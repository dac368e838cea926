// Package pace says when each packet of a load is due.
//
//	trial.Spec ─Lines→ stretches of constant load ─Pacer→ due times of packets
//
// A packet is due when the area under the load's lines equals what all packets before it cost. Due times are absolute and
// exact: a remainder is carried, nothing is rounded twice, nothing overflows, at any load and after any time.
package pace

import (
	"math/bits"

	"loadtest/trial"
)

// A Cost is what a packet takes of a load: the ns it would take at load 1.
type Cost uint64

// Bits is the cost of so many wire bits, below 2^34, of a load in bit/s.
func Bits(n int64) Cost { return Cost(n) * 1e9 }

// OnePacket is the cost of a packet of a load in packets/s.
const OnePacket = Cost(1e9)

// Wait is the cost of a captured gap of so many ns, for a load that is a factor.
func Wait(ns int64) Cost { return Cost(max(ns, 0)) }

// A Pacer is one stream's schedule. Times are ns since its start.
type Pacer struct {
	points []trial.Point
	end    int64
	share  float64

	line Line
	load load // the line's times share
	due  int64
	rem  uint64 // of a ns, in units of 1/load.m
	gap  int64  // between the two latest due times
}

// New is the schedule of a load until end (Never: open), times share. The product in float64 is the load: it is within 2^-53 of
// what was meant, 0.3 ns in a month, and from there on due times are exact.
func New(points []trial.Point, end int64, share float64) Pacer {
	p := Pacer{points: points, end: end, share: share}
	p.enter(0)
	p.Next(0)
	return p
}

// enter begins the line at t.
func (p *Pacer) enter(t int64) {
	p.due, p.rem = t, 0
	p.line = LineAt(p.points, t, p.end)
	p.load = loadOf(p.line.Load * p.share)
}

// Due is when the next packet is due; Never when the load is over.
func (p *Pacer) Due() int64 { return p.due }

// Gap is the time between the next packet's deadline and the one before it.
func (p *Pacer) Gap() int64 { return p.gap }

// Unpaced says whether packets go out as fast as the port takes them.
func (p *Pacer) Unpaced() bool { return p.load.m == unlimited }

// Next moves to the packet after one that costs c.
func (p *Pacer) Next(c Cost) {
	if p.load.unit > 0 && p.due != Never { // the usual case of what follows
		hi, lo := bits.Mul64(uint64(c), p.load.unit)
		lo, carry := bits.Add64(lo, p.rem, 0)
		if hi += carry; hi < p.load.m {
			ns, rem := bits.Div64(hi, lo, p.load.m)
			if ns < uint64(p.line.End-p.due) {
				p.due, p.rem, p.gap = p.due+int64(ns), rem, int64(ns)
				return
			}
		}
	}
	p.cross(c)
}

// cross is Next for all cases.
func (p *Pacer) cross(c Cost) {
	from := p.due
	for rest := (left{whole: uint64(c)}); p.due != Never; p.enter(p.line.End) {
		if p.Unpaced() && p.due < p.line.End {
			break
		}
		ns := uint64(p.line.End - p.due)
		if t, rem, ok := p.load.time(rest, p.rem); ok && t < ns {
			p.due += int64(t)
			p.rem = rem
			break
		}
		rest = p.load.pay(rest, ns, p.rem)
		if p.line.End >= p.end {
			p.due = Never
			return
		}
	}
	p.gap = p.due - from
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
		p.enter(p.line.End)
		if !p.Unpaced() {
			p.Next(0)
		}
	}
}
