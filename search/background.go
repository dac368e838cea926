package search

import (
	"fmt"
	"math"
	"time"
)

// Background is a loss that does not depend on the load: a cable, an optic, a bug, a lossy link. No load is free of it, and a trial
// without loss is luck.
type Background struct {
	Ratio, Low, High float64 // lost of sent, and its 95 % bounds
	Lost, Sent       int64   // packets that this was counted on
	From, To         float64 // loads between which it was seen to be the same
	Cliff            float64 // To, where the device loses more above that, in a short search; 0 = none was seen
	Half             float64 // load at which half of the trials are clean: what a no-drop rate would be
	Goal             float64 // loss ratio that finds the cliff: well above Ratio
}

// believed is how many times likelier, as a logarithm, it has to be that losses grow with the load. It is much, as there are many ways
// to grow.
const believed = 11

// unlikely is less than that by so much that it is worth a trial to find out before the end.
const unlikely = 4

// doubt asks whether what was lost below the cliff has to do with the load at all, where that can be doubted: by one trial at a low
// load that is long enough for ten losses. Before the end only a limit far below the cliff is doubted.
func (l *ladder) doubt(atEnd bool) {
	if l.Loss > 0 || l.Loops > 0 || l.asked || l.background != nil {
		return
	}
	cliff := l.cliff()
	seen := l.Known.losses.sum(0, cliff)
	switch {
	case seen.events == 0 || l.Known.losses.sum(0, min(cliff, 2*seen.lowest)).bursts():
	case !atEnd && !(seen.events >= 4 && seen.lowest <= 0.8*cliff || seen.events >= 10 && l.Known.losses.loadMatters(cliff) < unlikely):
	case l.Known.losses.loadMatters(cliff) > believed:
	case !atEnd || l.nearby(cliff):
		l.asked = true
		l.faint(cliff)
	}
}

// atCliff is the share of what comes back at the highest load from which on losses are nothing but what the device cannot forward.
const atCliff = 0.997

// cliff is that load.
func (l *ladder) cliff() float64 {
	if p := l.Known.plateau; p > 0 {
		return atCliff * p
	}
	return math.Inf(1)
}

// nearby makes trials somewhat below the limit until it is clear that the load matters. True: it did not become clear.
func (l *ladder) nearby(cliff float64) bool {
	at, short := l.below(0.8*l.load(max(0, l.lo))), time.Duration(0)
	if l.Trial > time.Second {
		short = time.Second // so long that many are no hour
	}
	for range 20 {
		if l.trial(at, short, l.settle, "is less lost at four fifths of the limit?").Verdict == Limited {
			return true
		}
		if l.Known.losses.loadMatters(cliff) > believed {
			return false
		}
	}
	return true
}

const (
	expected = 10               // losses, of the trial that tells
	longest  = 60 * time.Second // that it may take
)

// faint makes the trial that tells whether losses care about the load: at a tenth of the cliff, or, where ten losses would take too
// long there, at half of it at most.
func (l *ladder) faint(cliff float64) {
	before := l.Known.losses.sum(0, cliff)
	rate := float64(before.events) / float64(before.sent) // a trial that lost something mostly ended with it
	top := min(cliff, l.Max)
	perLoad := l.packets(cliff) * rate // losses per second and load
	load := min(max(top/10, expected/longest.Seconds()/perLoad), top/2)
	i := l.below(load)
	load = l.load(i)
	seconds := min(longest.Seconds(), expected/(perLoad*load))
	d := max(l.Trial, time.Duration(seconds*1e9).Round(100*time.Millisecond))
	s := Step{Spec: l.spec(load), Probe: true, Why: fmt.Sprintf("does the loss depend on the load? If not, %.2g losses are due", perLoad*load*d.Seconds())}
	s.Duration, s.Preroll = d, l.settled(i, l.settle)
	o := l.ask(s)
	l.ran(i, &o)
	var at evidence
	at.count(&o) // what stayed unsent says nothing about what was lost
	seen := at.sum(0, math.Inf(1))
	share := float64(seen.sent) / float64(seen.sent+before.sent)
	l.Known.losses.count(&o)
	if seen.lost == 0 || fewer(seen.lost, seen.lost+before.events, share) < doubted {
		return
	}
	l.faintest = o
	l.background = l.measured(load, cliff)
}

// doubted is how improbable it may be at least that so little is lost at a low load if the load does not matter.
const doubted = 0.001

// packets of all streams and second at a load of 1.
func (l *ladder) packets(cliff float64) float64 {
	var sent, load float64
	for _, t := range l.Known.losses {
		if t.load < cliff {
			sent += float64(t.sent)
			load += t.load * t.during.Seconds()
		}
	}
	if load == 0 {
		return 0
	}
	return sent / load
}

// measured is a background loss that was seen from a load on, with the cliff that is above it.
func (l *ladder) measured(from, cliff float64) *Background {
	b := &Background{From: from}
	all := l.Known.losses.sum(0, cliff)
	b.Sent, b.Lost = all.sent, all.lost
	low, high := poissonBounds(b.Lost)
	b.Ratio, b.Low, b.High = float64(b.Lost)/float64(b.Sent), low/float64(b.Sent), high/float64(b.Sent)
	b.Goal = nice(max(10*b.High, 1e-4))
	if b.High > 1e-3 {
		b.Goal = nice(2 * b.High)
	}
	if pps := l.packets(cliff); pps > 0 && l.Trial > 0 {
		b.Half = math.Ln2 / b.Ratio / pps / l.Trial.Seconds()
	}
	var device bool
	if b.To, device = l.edge(b.Goal, l.below(min(l.Max, cliff/atCliff))); device {
		b.Cliff = b.To
	}
	b.Half = min(b.Half, b.To)
	return b
}

// edge is the highest load that loses no more than a goal, by single trials, and whether it is the device that loses more above.
func (l *ladder) edge(goal float64, from int64) (load float64, device bool) {
	lo, hi := from-l.width, from+l.width
	limited := map[int64]bool{}
	for _, d := range []time.Duration{100 * time.Millisecond, time.Second} {
		lo, hi = l.rung(lo, hi, func(i int64, why string) Verdict {
			s := Step{Spec: l.spec(l.load(i)), Probe: true, Why: "where does more get lost? " + why}
			s.Duration, s.Preroll = d, l.settled(i, l.settle)
			o := l.ask(s)
			l.ran(i, &o)
			if limited[i] = o.Verdict == Limited; limited[i] || worst(&o.Result) > goal {
				return Fail
			}
			return Pass
		})
	}
	if lo < 0 {
		return 0, false
	}
	return l.load(lo), hi <= l.top && !limited[hi]
}

// nice rounds up to one significant digit.
func nice(x float64) float64 {
	e := math.Pow(10, math.Floor(math.Log10(x)))
	return decimal(math.Ceil(x/e) * e)
}
