package search

import (
	"fmt"
	"time"

	"loadtest/trial"
)

// Known is what searches on one device have seen, whatever their goals.
type Known struct {
	plateau float64       // load that comes back of the highest one, once the device is warm; 0: not known
	slow    time.Duration // how long it was less than that
	tried   bool          // the highest load was tried,
	loss    float64       // with so much lost of a stream: where that was little enough, there is no plateau
	losses  evidence
}

// see notes what a trial lost.
func (k *Known) see(o *Outcome) { k.losses.add(o) }

// slower is a rate below that of the end by more than noise.
const slower = 0.94

// look sends the highest load for as long as a slow start may last, in parts, and guesses the limit from what comes back. Where it
// comes back whole, that is all.
func (l *ladder) look() int64 {
	k := l.Known
	if !k.tried || k.plateau == 0 && k.loss > l.Loss {
		l.overload()
	}
	if l.slow = k.slow; l.slow > 0 {
		l.settle = min(l.SlowStart, l.slow*5/4+10*time.Millisecond)
	}
	if k.plateau == 0 || k.loss <= l.Loss {
		return l.top
	}
	return l.below(k.plateau / (1 - l.Loss))
}

// overload makes the trials of look.
func (l *ladder) overload() {
	const alone = 400 * time.Millisecond // where no slow start is looked for
	parts := []time.Duration{alone}
	if w := l.SlowStart; w > 0 {
		parts = []time.Duration{w / 20, w * 3 / 20, w * 3 / 10, w / 2}
	}
	var at time.Duration // since the start of traffic
	var rates []float64  // of the second half of each part
	var since []time.Duration
	whole := 1.0
	for i, d := range parts {
		s := Step{Spec: l.spec(l.Max), Probe: true, Why: "what comes back of the highest load?"}
		if i > 0 {
			s.Why = fmt.Sprintf("what comes back of it after %v? A slow start would show", at)
		}
		if l.Loops == 0 {
			s.Duration = d
		}
		o := l.ask(s)
		l.ran(l.top, &o)
		l.Known.see(&o)
		l.Known.tried, l.Known.loss = true, worst(&o.Result)
		if o.Verdict == Limited { // what was not sent was not lost, but it did not pass either
			l.Known.loss = 1
		}
		if i == 0 && o.Verdict == Pass {
			return
		}
		rates, since = append(rates, comesBack(&o.Result, true)), append(since, at+o.Result.Elapsed/2)
		if i == 0 {
			whole = comesBack(&o.Result, false)
		}
		if at += o.Result.Elapsed; l.Loops > 0 || o.Result.Elapsed == 0 {
			break
		}
	}
	last := len(rates) - 1
	end := rates[last]
	l.Known.plateau = l.Max * end
	if l.Loops > 0 { // a capture's pace is not even
		return
	}
	if whole < slower*rates[0] {
		l.Known.slow = since[0]
	}
	for i := last; i > 0; i-- {
		if rates[i-1] < slower*end {
			l.Known.slow = since[i]
			break
		}
	}
}

// comesBack is the share of what was intended that came back of the stream that fared worst, in all or in the second half of the time.
func comesBack(r *trial.Result, half bool) float64 {
	least := 1.0
	for i := range r.Streams {
		s := &r.Streams[i]
		if s.Intended == 0 || r.Elapsed <= 0 {
			continue
		}
		share := float64(s.Received) / float64(s.Intended)
		if h := s.Half; half && h.During > 0 {
			share = float64(h.Packets) / h.During.Seconds() / (float64(s.Intended) / r.Elapsed.Seconds())
		}
		least = min(least, share)
	}
	return least
}

// suspicious says whether a load might have failed because the device was cold: not if it is what came back of the highest load
// after enough traffic.
func (l *ladder) suspicious(i int64) bool {
	p := l.Known.plateau
	explained := p > 0 && l.load(i) >= 0.999*p && l.load(i) <= 1.015*p
	return l.settle < l.SlowStart && !explained && l.Loops == 0
}

// drift tries the first bounds again. One that says the contrary each time has moved since.
func (l *ladder) drift() {
	times := 5
	short := l.lengths()
	if len(short) == 0 {
		return
	}
	if low, _, _ := l.interval(); low > 0 { // chance says the contrary more often
		times = 16
	}
	for which, i := range l.first {
		n := 0
		for ; i >= 0 && i <= l.top && n < times; n++ {
			o := l.trial(i, short[0], l.settle, "has the device drifted since the first bounds?")
			if (o.Verdict == Pass) == (which == 0) {
				break
			}
		}
		l.drifted = l.drifted || n == times
	}
}

// interval is from the highest load below which all trials of full length were clean to the lowest above which none was, if some
// loads had both kinds; and how many packets were lost a second in between.
func (l *ladder) interval() (low, high, perSecond float64) {
	clean, lossy, mixed := int64(-1), l.top+1, false
	for m, t := range l.tallies {
		if m.short != 0 {
			continue
		}
		mixed = mixed || t.Good > 0 && t.Bad > 0
		if t.Good > 0 {
			clean = max(clean, m.load)
		}
		if t.Bad > 0 {
			lossy = min(lossy, m.load)
		}
	}
	if !mixed {
		return 0, 0, 0
	}
	low, high = l.load(max(0, lossy-1)), l.load(min(l.top, clean+1))
	if in := l.Known.losses.sum(low, high); in.during > 0 {
		perSecond = float64(in.lost) / in.during.Seconds()
	}
	return low, high, perSecond
}
