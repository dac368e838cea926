package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"loadtest/report"
	"loadtest/search"
	"loadtest/trial"
	"loadtest/units"
)

// goal is one as the search knows it.
func (e *explanation) goal(g report.Goal) (search.Goal, error) {
	rule, err := search.ParseRule(g.Rule)
	return search.Goal{Name: g.Name, Loss: g.LossRatio, Trial: time.Duration(g.TrialNs), Loops: g.Loops, Rule: rule, Width: g.Width}, err
}

// strategy is that of the record.
func (e *explanation) strategy(g search.Goal, known *search.Known) search.Strategy {
	set := &e.run.Settings
	l := loadRange{share: map[string]float64{}}
	for _, r := range []struct {
		unit      trial.Unit
		max, step *float64
	}{{trial.WireBits, set.RateWireBps, set.PrecisionWireBps}, {trial.Packets, set.RatePps, set.PrecisionPps}, {trial.Factor, set.RateFactor, set.PrecisionFactor}} {
		if r.max != nil {
			l.unit, l.max = r.unit, *r.max
			if r.step != nil {
				l.step = *r.step
			}
		}
	}
	for _, s := range e.run.Streams {
		if s.Share != 1 {
			l.share[s.Name] = s.Share
		}
	}
	slow := time.Duration(-1)
	if set.SlowStartNs != nil && *set.SlowStartNs > 0 {
		slow = time.Duration(*set.SlowStartNs)
	}
	return strategy(set.Search).of(l, g, slow, known)
}

// options are those of the record.
func (e *explanation) options(g search.Goal) search.Options {
	set := &e.run.Settings
	o := search.Options{Loss: g.Loss, See: e.see, Relink: func(context.Context) error { return nil }}
	if set.Repeats != nil {
		o.Invalid = int(*set.Repeats)
	}
	if set.MaxUnsentRatio != nil {
		o.MaxUnsent = *set.MaxUnsentRatio
	}
	if set.WarmupNs != nil {
		o.Warmup = time.Duration(*set.WarmupNs)
		o.FirstWarmup = firstWarmup(o.Warmup)
	}
	o.Untagged = slices.ContainsFunc(e.trials, func(t *report.Trial) bool {
		return slices.ContainsFunc(t.Streams, func(s report.TrialStream) bool { return s.Untagged > 0 })
	})
	if set.Exec != "" {
		o.Verdict = func(context.Context, trial.Spec, trial.Result) (bool, string, error) {
			t := e.trials[e.at-1]
			return t.Verdict == report.Pass, t.Reason, nil
		}
	}
	return o
}

// differs says that the search asks for another trial than the recorded one.
type differs struct{ text string }

func (d *differs) Error() string { return d.text }

var errOver = errors.New("the record ends here")

// Run is the recorded trial in place of one on a device.
func (e *explanation) Run(_ context.Context, s trial.Spec, _ func(trial.Sample)) (trial.Result, error) {
	if e.at >= len(e.trials) {
		e.ended = true
		return trial.Result{}, errOver
	}
	t := e.trials[e.at]
	was, ok := report.SpecOf(t)
	switch {
	case t.Cut || t.Verdict == report.None && t.Purpose == report.Search:
		e.ended = true
		return trial.Result{}, errOver
	case !ok || was.Unit != s.Unit || math.Abs(was.At(0)-s.At(0)) > 1e-9*s.At(0) || was.Duration != s.Duration || was.Preroll != s.Preroll:
		return trial.Result{}, &differs{fmt.Sprintf("%3d  recorded is %s, the search would make %s: it was another version's", t.Number, described(was), described(s))}
	}
	e.at++
	return report.ResultOf(t), nil
}

func described(s trial.Spec) string {
	text := fmt.Sprintf("%v for %v", units.Rate{Kind: kind(s.Unit), Value: s.At(0)}, s.Duration)
	if s.Preroll > 0 {
		text += fmt.Sprintf(" behind %v", s.Preroll)
	}
	return text
}

// see prints a trial.
func (e *explanation) see(ev search.Event) {
	if ev.Kind != search.TrialEnded || ev.Result.Elapsed == 0 && ev.Reason != "" && ev.Verdict == search.Invalid && e.ended {
		return
	}
	t := e.trials[max(0, e.at-1)]
	verdict := ev.Verdict.String()
	if ev.Probe {
		verdict = "seen"
	}
	load := units.Rate{Kind: kind(ev.Spec.Unit), Value: ev.Spec.At(0)}.String()
	behind := ""
	if ev.Spec.Preroll > 0 {
		behind = fmt.Sprintf(", behind %v of traffic", ev.Spec.Preroll)
	}
	fmt.Fprintf(e.out, "%3d  %12s  %7s  %-7s  %s%s", t.Number, load, fmt.Sprintf("%.2f s", ev.Result.Elapsed.Seconds()), verdict, ev.Why, behind)
	if ev.Reason != "" {
		fmt.Fprintf(e.out, "\n%s%s", strings.Repeat(" ", 36), ev.Reason)
	}
	fmt.Fprintln(e.out)
}
