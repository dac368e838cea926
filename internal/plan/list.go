package plan

import (
	"fmt"
	"time"

	"loadtest/search"
	"loadtest/trial"
)

// flat is a trial of one load.
func flat(load float64, d time.Duration, why string, probe bool) search.Step {
	return search.Step{Spec: trial.Flat(load, d), Why: why, Probe: probe}
}

// A list is trials one after the other.
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

// latencyShares of the throughput, in percent: 100 is RFC 2544's.
func latencyShares() []float64 { return []float64{10, 50, 90, 100} }

func latencies(found float64, d time.Duration) (steps []search.Step) {
	for _, share := range latencyShares() {
		steps = append(steps, flat(found*share/100, d, fmt.Sprintf("latency at %g %% of the throughput", share), true))
	}
	return steps
}

// A curve is the loss from the maximum down in steps of a tenth, until two trials in a row lost nothing (RFC 2544, 26.3).
type curve struct {
	max   float64
	trial time.Duration
	made  int
	clean int // in a row
}

func (c *curve) Next() (search.Step, bool) {
	if c.made == 10 || c.clean == 2 {
		return search.Step{}, false
	}
	share := 100 - 10*c.made
	return flat(c.max*float64(share)/100, c.trial, fmt.Sprintf("loss at %d %% of the maximum", share), true), true
}

func (c *curve) Report(o search.Outcome) {
	c.made++
	c.clean++
	if o.Verdict != search.Pass {
		c.clean = 0
	}
}

func (c *curve) Answer() search.Answer {
	_, more := c.Next()
	return search.Answer{Complete: !more}
}
