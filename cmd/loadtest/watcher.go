package main

import (
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
	decided  map[float64]int // number of the trial that decided about a load
	lastShow time.Time
}

// number is that of the trial which decided about a load; nil: none did.
func (w *watcher) number(load float64) *int {
	if n, ok := w.decided[load]; ok {
		return new(n)
	}
	return nil
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
		w.record(report.Search, e)
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
	if purpose == report.Search {
		a.Verdict = map[search.Verdict]string{search.Pass: report.Pass, search.Fail: report.Fail}[e.Verdict]
		if a.Verdict == "" {
			a.Verdict = report.Invalid
		}
		if e.Verdict == search.Fail {
			a.Retries = new(int64(max(0, w.retries+1-e.Attempt)))
		}
		if e.Verdict != search.Invalid {
			if w.decided == nil {
				w.decided = map[float64]int{}
			}
			w.decided[load] = w.steps
		}
		switch {
		case e.Verdict == search.Pass:
			w.low = max(w.low, load)
		case e.Verdict == search.Limited || e.Verdict == search.Fail && *a.Retries == 0:
			w.high = load
		}
	}
	_ = w.write(report.TrialOf(e.Spec, &e.Result, a))
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
