package main

import (
	"context"
	"fmt"
	"time"

	"loadtest/report"
	"loadtest/search"
)

// A list is a search without a choice: trials one after the other, for their counts.
type list struct {
	steps []search.Step
	made  int
}

func (l *list) Next() (search.Step, bool) {
	if l.made == len(l.steps) {
		return search.Step{}, false
	}
	return l.steps[l.made], true
}

func (l *list) Report(search.Outcome) { l.made++ }

func (l *list) Answer() search.Answer { return search.Answer{Complete: l.made == len(l.steps)} }

// latencies measures below a limit, where queues are still short.
func (f *findLimit) latencies(ctx context.Context, s *session, l loadRange, g search.Goal, limit float64) error {
	const settle = 100 * time.Millisecond
	all := &list{}
	for _, share := range []float64{10, 50, 90, 100} {
		spec := l.spec(limit*share/100, g)
		spec.Share = l.share
		if g.Loops == 0 {
			spec.Preroll = settle
		}
		all.steps = append(all.steps, search.Step{Spec: spec, Probe: true, Why: fmt.Sprintf("latency at %g %% of the limit", share)})
	}
	o := f.options(s, g)
	w := &watcher{session: s, retries: -1, max: l.max, goal: g.Name, purpose: report.Latency, first: s.steps}
	o.See = w.see
	_, err := search.Run(ctx, s.runner, all, o)
	if err != nil {
		return ran(err)
	}
	return nil
}
