package main

import (
	"cmp"
	"time"

	"loadtest/report"
	"loadtest/search"
	"loadtest/trial"
)

// A watcher turns what a search does into records and the progress line.
type watcher struct {
	*session
	retries  int
	first    int // trials of sizes before this one
	max      float64
	low      float64
	high     float64
	goal     string
	purpose  string            // of its trials; "": report.Search
	passed   map[float64]shown // loads
	failed   map[float64]shown
	lastShow time.Time
}

// shown is the trial that is shown for a load: the last one of the longest.
type shown struct {
	trial  int
	length time.Duration
}

func (t shown) number() *int {
	if t.trial == 0 {
		return nil
	}
	return new(t.trial)
}

// or is a trial of the same load, if it is as long.
func (t shown) or(trial int, length time.Duration) shown {
	if length < t.length {
		return t
	}
	return shown{trial, length}
}

// see is the search's observer.
func (w *watcher) see(e search.Event) {
	switch e.Kind {
	case search.WarmupBegan:
		w.show("warm-up", e, trial.Sample{})
	case search.TrialBegan:
		w.show(w.verb, e, trial.Sample{})
	case search.Sampled:
		_ = w.write(report.SampleOf(w.first+e.Trial, w.clock.Now()-w.zero-int64(e.Sample.At), e.Sample, w.sentOnly()...)) // the session's end tells it
		w.show(w.verb, e, e.Sample)
	case search.WarmupEnded:
		w.record(report.Warmup, e)
	case search.TrialEnded:
		w.record(cmp.Or(w.purpose, report.Search), e)
	default:
		w.linkEvent(e)
	}
}

func (w *watcher) record(purpose string, e search.Event) {
	w.steps = w.first + e.Trial
	w.unplayed()
	a := w.about(purpose, &e.Result)
	a.Reason = e.Reason
	load := e.Spec.At(0)
	if purpose == report.Latency {
		a.Why, a.Goal = e.Why, w.goal
	}
	if purpose == report.Search {
		a.Verdict = map[search.Verdict]string{search.Pass: report.Pass, search.Fail: report.Fail}[e.Verdict]
		if a.Verdict == "" {
			a.Verdict = report.Invalid
		}
		w.judged(e, load, &a)
	}
	_ = w.write(report.TrialOf(e.Spec, &e.Result, a))
}

// judged notes what a trial says about its load.
func (w *watcher) judged(e search.Event, load float64, a *report.About) {
	a.Why, a.Probe, a.Goal = e.Why, e.Probe, w.goal
	if e.Verdict == search.Fail && w.retries >= 0 {
		a.Retries = new(int64(max(0, w.retries+1-e.Attempt)))
	}
	if e.Verdict == search.Invalid {
		return
	}
	if w.passed == nil {
		w.passed, w.failed = map[float64]shown{}, map[float64]shown{}
	}
	switch {
	case e.Probe:
		if w.failed[load].trial == 0 {
			w.failed[load] = shown{trial: w.steps}
		}
	case e.Verdict == search.Pass:
		w.passed[load] = w.passed[load].or(w.steps, e.Spec.Duration)
		if w.low = max(w.low, load); w.high <= w.low {
			w.high = 0
		}
	case a.Retries != nil && *a.Retries > 0 && e.Verdict != search.Limited:
		w.failed[load] = w.failed[load].or(w.steps, e.Spec.Duration)
	default:
		w.failed[load] = w.failed[load].or(w.steps, e.Spec.Duration)
		if w.high = load; w.low >= load {
			w.low = 0
		}
	}
}

func (w *watcher) show(label string, e search.Event, sample trial.Sample) {
	if w.line == nil {
		return
	}
	s := report.State{Label: label, Done: -1, Trial: w.first + e.Trial, Load: e.Spec.At(0), Low: w.low, High: w.high,
		Factor: e.Spec.Unit == trial.Factor, Elapsed: time.Since(w.begun)}
	if s.High == 0 {
		s.High = w.max
	}
	if e.Spec.Unit == trial.Packets {
		s.Load, s.Low, s.High = 0, 0, 0
	}
	if length := w.length(e.Spec); length > 0 {
		s.Done = float64(sample.At) / float64(length)
	}
	w.line.Show(report.Progress(s, width))
}

// width of the progress line: every terminal has so many columns.
const width = 79
