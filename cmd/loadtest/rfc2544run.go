package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"loadtest/internal/clock"
	"loadtest/internal/plan"
	"loadtest/report"
	"loadtest/search"
	"loadtest/trial"
	"loadtest/units"
)

// all carries the plan out.
func (f *benchmark) all(c *cobra.Command, s *session, l loadRange, p *plan.Plan) (worst error) {
	ctx := c.Context()
	book := f.book(s)
	at := 0
	for {
		it, next, why, more := p.Next()
		if !more {
			return worst
		}
		if it.Size != at {
			at = it.Size
			if err := s.turn(at); err != nil {
				return worse(worst, err)
			}
			book.Live = s.runner
		}
		b := f.blank(s, l, it)
		if b.Left = why; why != "" {
			_ = s.write(b) // end tells it
			p.Report(0)
			continue
		}
		load, err := f.item(ctx, s, l, it, next, book, b, p.Found())
		if worst = worse(worst, err); ctx.Err() != nil || err != nil && exitCode(err) == exitUsage {
			return worst
		}
		if load > 0 {
			f.found(s, b, load, l)
		}
		_ = s.write(b) // end tells it
		p.Report(load)
	}
}

// blank is the record of a test that says what was asked.
func (f *benchmark) blank(s *session, l loadRange, it plan.Item) *report.Benchmark {
	return &report.Benchmark{AtNs: s.clock.Now() - s.zero, Test: string(it.Test), Size: s.label, MaxBps: report.Number(l.max), MaxPps: report.Number(l.max / f.wire(s))}
}

// wire is how many bits a frame takes on the wire, the longest mean of a stream.
func (f *benchmark) wire(s *session) (bits float64) {
	for _, st := range s.streams {
		frame, _ := s.mean(st)
		bits = max(bits, 8*(frame+units.Overhead))
	}
	return bits
}

// found notes a throughput.
func (f *benchmark) found(s *session, b *report.Benchmark, load float64, l loadRange) {
	b.RateBps, b.RatePps, b.OfMax = report.Number(load), report.Number(load/f.wire(s)), report.Number(load/l.max)
}

// item makes the trials of one test. load is what a search for the throughput found.
func (f *benchmark) item(ctx context.Context, s *session, l loadRange, it plan.Item, next search.Strategy, book *plan.Book, b *report.Benchmark, found float64) (load float64, err error) {
	g := f.goal()
	w := &bookkeeper{watcher: watcher{session: s, retries: -1, max: l.max, first: s.steps, purpose: purposeOf(it.Test)}, book: book, taken: f.taken}
	o := f.findLimit.options(s, g)
	o.Warmup, o.FirstWarmup, o.See = 0, 0, w.see
	o.NoEarlyStop = it.Test != plan.Throughput
	answer, err := search.Run(ctx, book, shared{next, l.share}, o)
	switch it.Test {
	case plan.Throughput:
		b.Limit, b.Why = limit(answer, s.atLine, err), answer.Reason
		return answer.Load, f.answer(s, &w.watcher, g, "", answer, strange(err))
	case plan.Bursts:
		if lengths := plan.LengthsOf(next); len(lengths) > 0 && err == nil {
			mean, least, most, sd := lengths.Stats()
			implied, corrected := plan.Buffer(mean, l.max/f.wire(s), found/f.wire(s))
			b.Bursts = &report.Bursts{Lengths: lengths, Mean: mean, Least: least, Most: most, SD: sd, ImpliedNs: int64(implied), CorrectedNs: int64(corrected)}
		}
	case plan.Recovery:
		_, before := book.Taken()
		switch {
		case err != nil:
		case before:
			b.Recovery = f.pauses[s.label]
		case w.last != nil:
			b.Recovery = w.pause(f.duration)
		}
	case plan.Soak:
		if err == nil && w.lost > 0 {
			err = failure{fmt.Errorf("soak: %d packets lost at the throughput", w.lost)}
		}
	}
	if err != nil {
		if exitCode(err) != exitFail {
			err = ran(strange(err))
		}
		if b.Bursts == nil && b.Recovery == nil && it.Test != plan.Soak {
			b.Left = err.Error()
		}
	}
	return 0, err
}

// strange makes wrong use of what is none of the device: the run that goes on is another one.
func strange(err error) error {
	var other *plan.OtherPlan
	if errors.As(err, &other) {
		return usagef("--resume: %w", other)
	}
	return err
}

// purposeOf is what the trials of a test are for.
func purposeOf(t plan.Test) string {
	if t == plan.Throughput {
		return report.Search
	}
	return string(t)
}

// shared gives streams their share of the load.
type shared struct {
	search.Strategy
	share map[string]float64
}

func (s shared) Next() (search.Step, bool) {
	step, more := s.Strategy.Next()
	step.Share = s.share
	return step, more
}

// A bookkeeper is a watcher for all tests, and for trials that were made before.
type bookkeeper struct {
	watcher
	book    *plan.Book
	taken   []*report.Trial
	samples []trial.Sample // of the trial at hand
	spec    trial.Spec
	last    *trial.Result
	lost    int64
	shown   time.Duration // of the latest sample that went into the record
}

// see is the search's observer.
func (k *bookkeeper) see(e search.Event) {
	switch e.Kind {
	case search.TrialBegan:
		k.samples, k.shown = nil, 0
	case search.Sampled:
		k.samples = append(k.samples, e.Sample)
		if k.interval > 0 && e.Sample.At-k.shown < k.interval {
			return
		}
		k.shown = e.Sample.At
	case search.TrialEnded:
		k.last, k.spec = new(e.Result), e.Spec
		k.lost += e.Result.Sum((*trial.Stream).Lost)
		k.note(e)
		return
	}
	k.watcher.see(e)
}

// note writes the record of a trial.
func (k *bookkeeper) note(e search.Event) {
	i, before := k.book.Taken()
	if !before && k.purpose == report.Search {
		k.watcher.see(e)
		return
	}
	k.steps = k.first + e.Trial
	a := k.about(k.purpose, &e.Result)
	a.Reason, a.Why, a.Probe = e.Reason, e.Why, e.Probe
	switch {
	case e.Verdict == search.Invalid || e.Verdict == search.Limited:
		a.Verdict = report.Invalid
	case k.purpose != report.LossCurve && k.purpose != report.Latency && k.purpose != report.Recovery:
		a.Verdict = e.Verdict.String()
	}
	if k.purpose == report.Search {
		k.judged(e, e.Spec.At(0), &a)
	}
	r := report.TrialOf(e.Spec, &e.Result, a)
	if before {
		r = k.taken[i]
		r.Number = k.steps
	}
	_ = k.write(r) // the session's end tells it
}

// pause is what the latest trial says about the recovery.
func (k *bookkeeper) pause(overload time.Duration) *report.Pause {
	p := &report.Pause{OverloadBps: report.Number(k.spec.At(0)), RestBps: report.Number(k.spec.At(k.spec.Duration)), OverloadNs: int64(overload),
		Lost: k.last.Sum((*trial.Stream).Lost)}
	if low, high, ok := plan.Recover(k.samples, overload, k.last); ok {
		p.LowNs, p.HighNs = new(int64(low)), new(int64(high))
	}
	return p
}

// quiet is a stretch of time without traffic.
type quiet struct{ until int64 }

func (q quiet) Step(now int64) int64 {
	if now >= q.until {
		return clock.Never
	}
	return q.until
}

// pauseFor leaves the device alone.
func (s *session) pauseFor(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctxError(ctx, nil)
	}
	return s.clock.Run(ctx, quiet{s.clock.Now() + int64(d)})
}
