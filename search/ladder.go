package search

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"loadtest/trial"
)

// LadderOptions are the knobs of Ladder. Loads are in Unit, per stream.
type LadderOptions struct {
	Goal
	Max       float64            // highest load; no default
	Min       float64            // lowest load, of a relative width; default Max / 100 000
	Precision float64            // loads are its multiples, and the answer is as exact; 0 = as exact as Goal.Width
	Unit      trial.Unit         // default wire bits per second
	Share     map[string]float64 // factor on the load by stream; absent = 1
	SlowStart time.Duration      // longest slow start of a device that is to be seen through; default 2 s, none below 0
	Known     *Known             // what searches for other goals have seen, with the same Max and Share; nil: nothing
}

// Ladder climbs from cheap questions to the dear one. What comes back at the highest load tells nearly where the limit is; short
// trials find two loads one width apart of which one fails, trials of full length do so again, and then the goal's rule decides.
// Trials that fail end at once, so the load above is asked before the load below.
func Ladder(o LadderOptions) Strategy {
	o.Min = cmp.Or(o.Min, o.Max/1e5)
	o.SlowStart = max(0, cmp.Or(o.SlowStart, 2*time.Second))
	l := &ladder{LadderOptions: o, err: o.check(), tallies: map[mark]*Tally{}, last: -1, lo: -1, first: [2]int64{-1, -1}}
	if l.Known == nil {
		l.Known = &Known{}
	}
	if l.err == nil {
		l.grid = o.grid()
		l.hi = l.top + 1
	}
	l.script = newScript(func(ask func(Step) Outcome) {
		if l.err == nil {
			l.ask = ask
			l.climb()
		}
	})
	return l
}

func (o *LadderOptions) check() error {
	switch err := o.Goal.check(); {
	case err != nil:
		return err
	case o.Precision == 0 && !(o.Min > 0 && o.Min <= o.Max):
		return fmt.Errorf("search: lowest load %v: want one above 0, and not above the highest, %v", o.Min, o.Max)
	}
	return gridError(o.Max, o.Precision, o.Width)
}

func (o *LadderOptions) grid() grid {
	if o.Precision > 0 {
		return multiples(o.Max, o.Precision)
	}
	return geometric(o.Max, o.Min, o.Width, o.Unit)
}

// A ladder is a search under way.
type ladder struct {
	LadderOptions
	*script
	grid
	err error
	ask func(Step) Outcome

	tallies map[mark]*Tally
	last    int64         // load of the trial before; -1: none of the grid
	running time.Duration // traffic at it so far
	settle  time.Duration // of uncounted traffic before each new load
	slow    time.Duration // how long the device is slow after a change of load; 0: no sign of it

	lo, hi      int64 // what the rule says: passed, did not pass. -1 and top+1: none
	best, worst map[int64]Outcome
	first       [2]int64 // bounds of the first rung
	drifted     bool
	asked       bool // whether the losses depend on the load
	background  *Background
	faintest    Outcome // the trial that showed it
	done        bool
}

// A mark is where trials are counted: of one load and one length, since they say different things.
type mark struct {
	load  int64
	short time.Duration // 0: of the goal's own length
}

// Err says what is wrong with the options.
func (l *ladder) Err() error { return l.err }

// climb is the whole search.
func (l *ladder) climb() {
	from := l.look()
	for l.up(from) {
		clear(l.tallies) // they are of a device that was cold
		l.lo, l.hi = -1, l.top+1
	}
	for l.background == nil && l.closeCall() {
	}
	if l.background == nil {
		l.doubt(true)
	}
	if l.background == nil {
		l.drift()
	}
	l.done = true
}

// up goes up the rungs from a guess. It says whether it has to go again: the device starts slowly.
func (l *ladder) up(from int64) (again bool) {
	lo, hi := from-l.width, from+l.width
	for i, short := range l.lengths() {
		lo, hi = l.rung(lo, hi, func(i int64, why string) Verdict { return l.once(i, short, why) })
		if i == 0 {
			l.first = [2]int64{lo, hi}
		}
	}
	if l.doubt(false); l.background != nil {
		return false
	}
	l.rung(lo, hi, func(i int64, why string) Verdict {
		v := l.classify(i, why)
		again = v == Invalid
		if l.doubt(false); l.background != nil {
			return Invalid
		}
		return v
	})
	return again && l.background == nil
}

// lengths of the rungs before the last one.
func (l *ladder) lengths() (short []time.Duration) {
	const first, second = 100 * time.Millisecond, time.Second
	if l.Loops > 0 {
		return nil
	}
	if l.Trial > first {
		short = append(short, first)
	}
	if l.Trial > second {
		short = append(short, second)
	}
	if l.Rule.Most() > 1 {
		short = append(short, 0)
	}
	return short
}

// rung looks for two loads one width apart, of which one passes and the other does not, starting with the bounds of the rung before.
// What does not pass is asked first: it costs next to nothing. An Invalid verdict ends it.
func (l *ladder) rung(from, to int64, judge func(i int64, why string) Verdict) (lo, hi int64) {
	lo, hi = -1, l.top+1
	down, up := l.width, l.width
	at, why := min(to, l.top), "the upper bound so far"
	for {
		switch judge(at, why) {
		case Pass:
			lo = max(lo, at)
		case Invalid:
			return lo, hi
		default:
			hi = min(hi, at)
		}
		if lo >= hi { // what passed before passes no more
			lo = -1
		}
		switch {
		case lo == l.top, hi == 0, lo >= 0 && hi <= l.top && hi-lo <= l.width:
			return lo, hi
		case hi > l.top:
			at, up, why = min(l.top, lo+up), 2*up, "higher, as nothing failed yet"
		case lo < 0 && from >= 0 && from < hi:
			at, from, why = from, -1, "the lower bound so far"
		case lo < 0:
			at, down, why = max(0, hi-down), 2*down, "lower, as nothing passed yet"
		default:
			at, why = lo+max(1, min(int64(math.Ceil(0.6*float64(hi-lo))), hi-lo-1)), "between the bounds, above the middle"
		}
	}
}

// once is one trial at a load, of a short length, or 0 for the goal's own; what is known of it already stands.
func (l *ladder) once(i int64, short time.Duration, why string) Verdict {
	if t := l.tally(mark{i, short}); t.all() > 0 {
		return Retry(0).Judge(*t)
	}
	return l.trial(i, short, l.settle, why).Verdict
}

// classify asks the rule about a load. Invalid: the device starts slowly, and the search has to be made again with that in mind.
func (l *ladder) classify(i int64, why string) Verdict {
	t := l.tally(mark{load: i})
	for warm := false; ; {
		v := l.Rule.Judge(*t)
		switch {
		case l.worst[i].Verdict == Limited:
			return l.believe(i, Limited)
		case v == Invalid:
			if n := t.all(); n > 0 {
				why = fmt.Sprintf("trial %d of %d at most: %d clean, %d not", n+1, l.Rule.Most(), t.Good, t.Bad)
			}
			l.trial(i, 0, l.settle, why)
		case v == Fail && !warm && l.suspicious(i):
			warm = true
			if l.trial(i, 0, l.SlowStart, fmt.Sprintf("is it slow only at first? Behind %v of traffic", l.SlowStart)).Verdict == Pass {
				*t = Tally{Good: 1}
			}
		case v == Pass && warm:
			l.settle, l.slow = l.SlowStart, l.SlowStart
			return Invalid
		default:
			return l.believe(i, v)
		}
	}
}

// closeCall tries the load above again where its trials disagreed for long, until twice as many have been made. It says whether that
// changed the answer: then the search went on from there.
func (l *ladder) closeCall() bool {
	twice := Lead{7, 2 * l.Rule.Most()}
	t := l.tally(mark{load: l.hi})
	if l.Rule.Most() < 3 || l.hi > l.top || l.lo < 0 || t.Good == 0 || 2*t.all() <= l.Rule.Most()+2 || t.all() >= twice.Of || l.worst[l.hi].Verdict == Limited {
		return false
	}
	v := twice.Judge(*t)
	for ; v == Invalid; v = twice.Judge(*t) {
		why := fmt.Sprintf("again, as it was close: trial %d of %d at most: %d clean, %d not", t.all()+1, twice.Of, t.Good, t.Bad)
		if l.trial(l.hi, 0, l.settle, why).Verdict == Limited {
			return false
		}
	}
	if v != Pass {
		return false
	}
	from := l.hi
	l.lo, l.hi = from, l.top+1
	for m, t := range l.tallies { // what failed above stands
		if m.short == 0 && m.load > from && l.Rule.Judge(*t) == Fail {
			l.hi = min(l.hi, m.load)
		}
	}
	l.rung(from, from+l.width, func(i int64, why string) Verdict {
		if i == from {
			return Pass
		}
		return l.classify(i, why)
	})
	return true
}

// believe notes a verdict of the rule.
func (l *ladder) believe(i int64, v Verdict) Verdict {
	switch {
	case v == Pass && i < l.hi:
		l.lo = max(l.lo, i)
	case v != Pass && i < l.hi:
		if l.hi = i; l.lo >= i {
			l.lo = -1
		}
	}
	return v
}

func (l *ladder) tally(m mark) *Tally {
	if l.tallies[m] == nil {
		l.tallies[m] = &Tally{}
	}
	return l.tallies[m]
}

// trial makes a trial at a load behind so much uncounted traffic at it, less what has just been there, and counts it.
func (l *ladder) trial(i int64, short, settle time.Duration, why string) Outcome {
	s := Step{Spec: l.spec(l.load(i)), Why: why}
	if short > 0 {
		s.Duration = short
	}
	s.Preroll = l.settled(i, settle)
	o := l.ask(s)
	l.ran(i, &o)
	t := l.tally(mark{i, short})
	switch o.Verdict {
	case Pass:
		t.Good++
		l.keep(&l.best, i, o)
	default:
		t.Bad++
		t.Loss = worst(&o.Result)
		l.keep(&l.worst, i, o)
	}
	l.Known.see(&o)
	return o
}

func (l *ladder) spec(load float64) trial.Spec {
	return trial.Spec{Unit: l.Unit, Load: []trial.Point{{Load: load}}, Share: l.Share, Duration: l.Trial, Loops: l.Loops}
}

// settled is how much traffic at a load lacks to so much.
func (l *ladder) settled(i int64, want time.Duration) time.Duration {
	if i == l.last {
		want -= l.running
	}
	const part = 10 * time.Millisecond
	return max(0, (want + part - 1).Truncate(part))
}

// ran notes which load is running, and how long already.
func (l *ladder) ran(i int64, o *Outcome) {
	if i != l.last {
		l.last, l.running = i, 0
	}
	l.running += o.Spec.Preroll + o.Result.Elapsed
}

func (l *ladder) keep(in *map[int64]Outcome, i int64, o Outcome) {
	if *in == nil {
		*in = map[int64]Outcome{}
	}
	(*in)[i] = o
}

// Answer is what is known so far.
func (l *ladder) Answer() Answer {
	a := Answer{Goal: l.Goal, Unit: l.Unit, Max: l.Max, Step: l.Precision, Duration: l.Trial, Loops: l.Loops, Complete: l.done && l.err == nil,
		SlowStart: l.slow, Drifted: l.drifted, Background: l.background}
	if l.err != nil {
		return a
	}
	if l.lo >= 0 {
		a.Load, a.Best, a.Step = l.load(l.lo), l.best[l.lo].Result, cmp.Or(a.Step, l.load(l.lo)*l.Width)
		a.Tally = *l.tally(mark{load: l.lo})
	}
	limited := false
	if l.hi <= l.top {
		w := l.worst[l.hi]
		a.Above, a.Worst, a.Reason = l.load(l.hi), w.Result, w.Reason
		limited = w.Verdict == Limited
	}
	switch {
	case l.background != nil:
		a.Load, a.Limit = 0, LimitDevice
		a.Above, a.Worst, a.Reason = l.background.From, l.faintest.Result, l.faintest.Reason
	case limited:
		a.Limit = LimitTester
	case l.lo == l.top:
		a.Limit = LimitMaximum
	case l.hi <= l.top || l.lo >= 0:
		a.Limit = LimitDevice
	}
	if l.done && l.background == nil {
		a.Low, a.High, a.PerSecond = l.interval()
	}
	return a
}
