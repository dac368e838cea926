package search

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"loadtest/trial"
)

// BisectOptions are the knobs of Bisect. Loads are in Unit, per stream.
type BisectOptions struct {
	Max       float64            // highest load, tried first; no default
	Below     bool               // Max is not tried, and counts as failed (Snabb's loadtest)
	Precision float64            // the grid of loads; default Max / 1000
	Unit      trial.Unit         // default wire bits per second
	Duration  time.Duration      // of a trial; default 1 s, none with Loops
	Loops     int64              // passes of a trial through the packets, which it ends after; 0 = no limit
	Rule      Rule               // when to believe a load; default Single
	Share     map[string]float64 // factor on the load by stream; absent = 1
}

// Bisect halves the interval between the highest load that passed and the lowest that did not until they are neighbours on
// the grid of multiples of Precision. Max itself comes first, also off the grid: if it passes, it is the answer.
func Bisect(o BisectOptions) Strategy {
	if o.Precision == 0 {
		o.Precision = decimal(o.Max / 1000)
	}
	if o.Duration == 0 && o.Loops == 0 {
		o.Duration = time.Second
	}
	if o.Rule == nil {
		o.Rule = Single{}
	}
	b := &bisect{BisectOptions: o, err: o.check()}
	if b.err != nil {
		b.over = true
		return b
	}
	b.top = steps(o.Max, o.Precision)
	b.hi, b.cur = b.top, b.top
	if o.Below {
		b.tried, b.cur = true, (b.top+1)/2
		b.over = b.cur == b.top
	}
	return b
}

func (o *BisectOptions) check() error {
	finite := func(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
	switch {
	case !finite(o.Max):
		return fmt.Errorf("bisect: maximum load %v: want a finite number above 0", o.Max)
	case !finite(o.Precision):
		return fmt.Errorf("bisect: precision %v: want a finite number above 0", o.Precision)
	case o.Max/o.Precision > 1e12:
		return fmt.Errorf("bisect: precision %v of %v: want at least 1e-12 of it", o.Precision, o.Max)
	case o.Duration < 0:
		return fmt.Errorf("bisect: duration %v: want a time above 0", o.Duration)
	case o.Loops < 0:
		return fmt.Errorf("bisect: %d loops: want 0 or more", o.Loops)
	case o.Rule.Most() < 1:
		return fmt.Errorf("bisect: a rule of %d trials: want 1 or more", o.Rule.Most())
	}
	return nil
}

// steps is the least k with k·step >= max, blind to the noise of the division: 0.3 in steps of 0.1 are 3.
func steps(max, step float64) int64 {
	q := max / step
	if near := math.Round(q); near >= 1 && math.Abs(q-near) <= 1e-9+4e-16*q {
		return int64(near)
	}
	return int64(math.Ceil(q))
}

// A bisect counts loads in steps of the grid, so that no sum of floats can miss one. The step top stands for Max itself.
type bisect struct {
	BisectOptions
	err  error
	over bool

	top     int64
	lo, hi  int64 // passed; did not pass. hi is bad once Max was tried
	cur     int64
	tally   Tally // at cur
	trials  int
	tried   bool // Max
	limited bool // hi is the tester's limit
	reason  string

	best, worst trial.Result
	good        trial.Result // the last one at cur
}

// Err says what is wrong with the options.
func (b *bisect) Err() error { return b.err }

func (b *bisect) load(k int64) float64 {
	if k == b.top {
		return b.Max
	}
	return min(decimal(float64(k)*b.Precision), b.Max)
}

// decimal is the product that was meant, without the noise of its factors: 73 steps of 0.1 are 7.3, not 7.300000000000001.
func decimal(product float64) float64 {
	x, _ := strconv.ParseFloat(strconv.FormatFloat(product, 'g', 15, 64), 64)
	return x
}

func (b *bisect) Next() (Step, bool) {
	if b.over {
		return Step{}, false
	}
	return Step{Spec: trial.Spec{Unit: b.Unit, Load: []trial.Point{{Load: b.load(b.cur)}}, Share: b.Share,
		Duration: b.Duration, Loops: b.Loops}, Why: b.why()}, true
}

// why the load at hand.
func (b *bisect) why() string {
	switch n := b.tally.all(); {
	case n > 0:
		return fmt.Sprintf("again, trial %d of %d at most", n+1, b.Rule.Most())
	case !b.tried:
		return "the highest load to try"
	case b.lo == 0:
		return "half of the lowest load that failed"
	}
	return "half way between the highest load that passed and the lowest that failed"
}

func (b *bisect) Report(o Outcome) {
	b.trials++
	verdict := o.Verdict
	switch verdict {
	case Pass:
		b.tally.Good++
		b.good = o.Result
	case Fail:
		b.tally.Bad++
		b.tally.Loss = worst(&o.Result)
	case Limited:
	default:
		panic("search: bisect got an invalid trial")
	}
	if verdict != Limited {
		if verdict = b.Rule.Judge(b.tally); verdict == Invalid {
			return
		}
	}
	if verdict == Pass {
		b.lo, b.best = b.cur, b.good
	} else {
		b.hi, b.worst = b.cur, o.Result
		b.limited, b.reason = verdict == Limited, o.Reason
	}
	b.tried, b.tally = true, Tally{}
	b.cur = (b.lo + b.hi + 1) / 2 // the middle, rounded as floor(x/p + 1/2)·p
	b.over = b.cur <= b.lo || b.cur >= b.hi
}

func (b *bisect) Answer() Answer {
	a := Answer{Unit: b.Unit, Max: b.Max, Step: b.Precision, Duration: b.Duration, Loops: b.Loops, Trials: b.trials, Complete: b.over && b.err == nil}
	switch {
	case !b.tried:
		return a
	case b.lo == b.top:
		a.Limit = LimitMaximum
	case b.limited:
		a.Limit = LimitTester
	default:
		a.Limit = LimitDevice
	}
	if b.lo > 0 {
		a.Load, a.Best = b.load(b.lo), b.best
	}
	if b.lo < b.top {
		a.Above, a.Worst, a.Reason = b.load(b.hi), b.worst, b.reason
	}
	return a
}
