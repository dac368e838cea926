package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"loadtest/trial"
)

// Options say when a trial is believed. The zero value is a strict search for a runner in virtual time.
type Options struct {
	Loss      float64 // goal: greatest acceptable lost/sent of each stream
	MaxUnsent float64 // share of intended that may stay unsent in a valid trial
	Invalid   int     // how often in a row an invalid trial is made again; default 3, none below 0

	Warmup      time.Duration // uncounted traffic at the load of the next trial, before the first trial of each new load; 0 = none
	FirstWarmup time.Duration // the same before the very first trial, and after a link was down; 0 = Warmup
	Quiet       time.Duration // silence after a warm-up before counting; 0 = the runner's default

	Preroll, Drain, Interval time.Duration // of trials whose Spec leaves them 0

	Untagged bool // the runner needs tags to leave traffic uncounted, and there are none: pre-roll is traffic of its own, before the trial

	NoEarlyStop bool // trials have their full length even when they are certain to fail

	// Verdict judges instead of the loss; then no trial ends early. An error ends the search.
	Verdict func(context.Context, trial.Spec, trial.Result) (pass bool, reason string, err error)

	// Relink is called when a link was down in a trial or a warm-up. It waits until all links are up, or says why the search is to
	// end, as *NotMeasured. Then the device is warmed up anew and the trial repeated, beyond what Invalid allows. nil: nobody
	// waits, and the trial is as invalid as any other.
	Relink func(context.Context) error

	// Ask is called when nothing of a stream came back in a trial that failed: whether the device answers at all, at next to no
	// load. Its error ends the search: a device that went silent was not too slow. nil: nobody asks.
	Ask func(context.Context) error

	See func(Event) // is told what happens, in order; may be nil
}

// A Kind of Event.
type Kind uint8

// The kinds of Event.
const (
	WarmupBegan Kind = iota
	WarmupEnded
	TrialBegan
	Sampled // of a trial or a warm-up
	TrialEnded
	LinkDown // Relink is about to be called; the Reason says which links
	LinkUp   // Relink found all links up
)

// An Event is what the observer sees. Result, Verdict and Reason stand only where something ended, and Reason at LinkDown.
type Event struct {
	Kind    Kind
	Trial   int // from 1, repeated ones counted; a warm-up and a link have the number of the trial after them
	Attempt int // at this load, from 1: invalid trials are not counted; 0 of a link
	Spec    trial.Spec
	Why     string // this trial, in the strategy's words
	Probe   bool
	Sample  trial.Sample
	Result  trial.Result
	Verdict Verdict
	Reason  string
}

// The drain that a runner waits by default, and how far late packets may stretch it.
const (
	usualDrain = 50 * time.Millisecond
	mostDrain  = 2 * time.Second
)

// Run carries out a search. If ctx ends, the Answer so far and the cause are returned. A search without a verdict about the
// device ends with *NotMeasured.
func Run(ctx context.Context, r trial.Runner, s Strategy, o Options) (Answer, error) {
	if o.Invalid == 0 {
		o.Invalid = 3
	}
	if o.FirstWarmup == 0 {
		o.FirstWarmup = o.Warmup
	}
	if o.See == nil {
		o.See = func(Event) {}
	}
	l := loop{Options: o, runner: r, last: math.NaN(), cold: true}
	if c, ok := s.(interface{ Close() }); ok {
		defer c.Close()
	}
	err := l.check(s)
	for err == nil {
		step, more := s.Next()
		if !more {
			err = l.end(s.Answer())
			break
		}
		var out Outcome
		if out, err = l.measure(ctx, step); err == nil {
			s.Report(out)
		}
	}
	a := s.Answer()
	a.Trials, a.Traffic = l.trials, l.traffic
	return a, err
}

// A loop is a search under way.
type loop struct {
	Options
	runner  trial.Runner
	trials  int
	traffic time.Duration
	last    float64       // load of the last trial
	attempt int           // at it
	spoilt  int           // invalid trials of its Spec so far, without those that Relink mends
	downs   int           // in a row: trials and warm-ups of its Spec that Relink mended
	cold    bool          // nothing was sent yet, or not since a link was down
	whole   bool          // the trial is not to end early, as it did so wrongly
	drain   time.Duration // 0 until late packets were seen
	perLoad float64       // packets intended per unit of load and second, of all streams; 0 = unknown
	perLoop float64       // packets of one pass through all streams; 0 = unknown
	dark    darkness
}

func (l *loop) check(s Strategy) error {
	if e, ok := s.(interface{ Err() error }); ok && e.Err() != nil {
		return e.Err()
	}
	if !(l.Loss >= 0 && l.Loss < 1) {
		return fmt.Errorf("search: acceptable loss %v: want a ratio from 0 to below 1", l.Loss)
	}
	if !(l.MaxUnsent >= 0 && l.MaxUnsent < 1) {
		return fmt.Errorf("search: acceptable share of unsent packets %v: want a ratio from 0 to below 1", l.MaxUnsent)
	}
	return nil
}

// end is the error of a search that came to its end.
func (l *loop) end(a Answer) error {
	if a.Load == 0 && a.Limit == LimitTester {
		return &NotMeasured{"no verdict about the device at any load: " + a.Reason}
	}
	if a.Load == 0 && l.Verdict == nil {
		return l.dark.err(1)
	}
	return nil
}

// measure makes the trial of a Step, again while it is invalid, and judges it.
func (l *loop) measure(ctx context.Context, s Step) (Outcome, error) {
	l.spoilt, l.downs, l.whole = 0, 0, s.Probe
	if load := s.At(0); load != l.last {
		if err := l.warmup(ctx, s.Spec, l.Warmup); err != nil {
			return Outcome{}, err
		}
		l.last, l.attempt = load, 0
	}
	if l.Untagged && s.Preroll > 0 {
		if err := l.warmup(ctx, s.Spec, s.Preroll); err != nil {
			return Outcome{}, err
		}
		s.Preroll = 0
	}
	l.attempt++
	for {
		out, why, err := l.once(ctx, s)
		if err != nil || out.Verdict != Invalid {
			return out, err
		}
		if why.kind == down && l.Relink != nil {
			if err := l.relink(ctx, s.Spec, why.text); err != nil {
				return out, err
			}
			continue
		}
		l.spoilt, l.downs = l.spoilt+1, 0
		l.whole = l.whole || why.kind == early
	}
}

// warmup sends what is not counted: at the trial's own load, as any higher one would fill the device's queues and heat its
// cores for a load that it is not asked for.
func (l *loop) warmup(ctx context.Context, s trial.Spec, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w := l.spec(s)
	w.Duration, w.Loops, w.Preroll, w.StopAt, w.Spare = d, 0, 0, 0, 0
	if l.cold {
		w.Duration = max(d, l.FirstWarmup)
	}
	if w.Duration <= 0 {
		return nil
	}
	if l.Quiet > 0 {
		w.Drain = max(l.Quiet, l.drain)
	}
	e := Event{Kind: WarmupBegan, Trial: l.trials + 1, Attempt: 1, Spec: w}
	res, err := l.run(ctx, e)
	e.Kind, e.Result = WarmupEnded, res
	if err != nil {
		e.Reason = ending(ctx, err)
	}
	l.See(e)
	if err != nil {
		return err
	}
	if names := downPorts(&res); names != "" && l.Relink != nil {
		return l.relink(ctx, s, "link down: "+names)
	}
	l.cold = false
	return l.dark.err(3)
}

// once makes one trial. Where nothing is left to repeat, an invalid one is settled.
func (l *loop) once(ctx context.Context, step Step) (Outcome, problem, error) {
	if ctx.Err() != nil {
		return Outcome{}, problem{}, context.Cause(ctx)
	}
	s := l.spec(step.Spec)
	step.Spec = s
	l.trials++
	e := Event{Kind: TrialBegan, Trial: l.trials, Attempt: l.attempt, Spec: s, Why: step.Why, Probe: step.Probe}
	res, err := l.run(ctx, e)
	e.Kind, e.Result = TrialEnded, res
	var why problem
	if err != nil {
		e.Reason = ending(ctx, err)
	} else {
		why = invalid(&s, &res, l.Options)
		e.Verdict, e.Reason, err = l.judge(ctx, step, res, why)
	}
	l.See(e)
	if err == nil && l.Verdict == nil {
		err = l.dark.err(3)
	}
	if err == nil && e.Verdict == Fail && l.Ask != nil && silent(&res) {
		err = l.Ask(ctx)
	}
	return Outcome{Step: step, Result: res, Verdict: e.Verdict, Reason: e.Reason}, why, err
}

// longProbe is how long a trial made for its counts has to be for a stall of the tester not to matter to them.
const longProbe = 2 * time.Second

// judge gives a trial its verdict.
func (l *loop) judge(ctx context.Context, s Step, res trial.Result, why problem) (Verdict, string, error) {
	if why.kind == late {
		l.drain = min(2*max(s.Drain, usualDrain), mostDrain)
	}
	counts := s.Probe && (why.kind == tester || why.kind == late || why.kind == stalled && s.Duration > longProbe)
	again := l.spoilt < l.Invalid && !counts
	if why.kind != fine && (again || why.kind == down && l.Relink != nil) {
		return Invalid, why.text, nil
	}
	switch why.kind {
	case fine, late: // late packets to the end: the trial is judged as it is
	case down, stalled: // of no load's making
		if counts {
			return Limited, why.text, nil
		}
		return Invalid, why.text, &NotMeasured{why.text}
	case empty:
		if l.perLoad == 0 {
			return Invalid, why.text, &NotMeasured{why.text}
		}
		return Limited, why.text, nil
	default:
		return Limited, why.text, nil
	}
	if l.Verdict != nil {
		pass, reason, err := l.Verdict(ctx, s.Spec, res)
		switch {
		case err != nil && ctx.Err() != nil:
			return Invalid, ending(ctx, err), context.Cause(ctx)
		case err != nil:
			return Invalid, "no verdict", fmt.Errorf("verdict on trial %d: %w", l.trials, err)
		}
		return verdict(pass), reason, nil
	}
	pass, reason := judge(&res, l.Loss)
	return verdict(pass), reason, nil
}

// ending says why a trial has no verdict.
func ending(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "interrupted"
	}
	return err.Error()
}

func verdict(pass bool) Verdict {
	if pass {
		return Pass
	}
	return Fail
}

// run hands a Spec to the runner and learns from the Result. Its error ends the search.
func (l *loop) run(ctx context.Context, e Event) (trial.Result, error) {
	l.See(e)
	e.Kind = Sampled
	res, err := l.runner.Run(ctx, e.Spec, func(s trial.Sample) { e.Sample = s; l.See(e) })
	l.traffic += res.Elapsed
	switch {
	case ctx.Err() != nil && (err != nil || res.Cut || (res.Elapsed < e.Spec.Duration || e.Spec.Loops > 0) && !res.Stopped):
		// Also a trial that was ended in order: shorter than it was to be, it proves nothing. Of loops nobody knows how long they take.
		return res, context.Cause(ctx)
	case err != nil:
		var not *NotMeasured
		if errors.As(err, &not) {
			return res, err
		}
		return res, fmt.Errorf("trial %d: %w", e.Trial, err)
	}
	l.learn(&e.Spec, &res)
	l.dark.see(&res)
	return res, nil
}
