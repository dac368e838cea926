package main

import (
	"context"
	"time"

	"loadtest/search"
	"loadtest/trial"
)

// The line: 10 Gbit/s of 64-byte frames, and the lowest load that is tried, in packets/s.
const (
	line   = 10e9
	frame  = 672 // bits of one on the wire
	top    = 14880952
	lowest = 9001
)

// An algorithm is a search with a name.
type algorithm struct {
	name  string
	peers []string // recorded algorithms to compare times with, the first that is there
	truth string   // column
	find  func(context.Context, trial.Runner) (loads []float64, err error)
}

func algorithms() []algorithm {
	ndr := []string{"mlrsearch_csit_ndr"}
	both := []string{"mlrsearch_csit_ndrpdr"}
	minute := append([]string{"mlrsearch_single_60s"}, ndr...) // with trials of a minute, too
	goal := func(loss float64, d time.Duration, rule search.Rule) search.Goal {
		return search.Goal{Loss: loss, Trial: d, Rule: rule, Width: 0.005}
	}
	lead, strict := search.Sure(21), search.Majority(21)
	return []algorithm{
		{"ladder_lead5", ndr, "ndr_1s", ladder(goal(0, time.Second, lead))},
		{"ladder_m21", ndr, "ndr_1s", ladder(goal(0, time.Second, strict))},
		{"ladder_lead5_ndrpdr", both, "ndr_1s", ladder(goal(0, time.Second, lead), goal(0.005, time.Second, lead))},
		{"ladder_60s", minute, "ndr_60s", ladder(goal(0, time.Minute, search.Single{}))},
		{"snabb", ndr, "ndr_1s", snabb},
		{"rfc2544", ndr, "ndr_60s", halving(search.Single{})},
		{"tst009", ndr, "ndr_60s", halving(search.Verify{Repeats: 1})},
	}
}

// ladder searches for goals. Where a loss does not depend on the load, no rate is without it: the load at which half of the trials are
// clean, which the answer has, stands for the limit.
func ladder(goals ...search.Goal) func(context.Context, trial.Runner) ([]float64, error) {
	return func(ctx context.Context, r trial.Runner) (loads []float64, err error) {
		known := &search.Known{}
		for _, g := range goals {
			s := search.Ladder(search.LadderOptions{Goal: g, Max: top, Min: lowest, Unit: trial.Packets, Known: known})
			a, err := search.Run(ctx, r, s, search.Options{Loss: g.Loss, Invalid: -1})
			if err != nil && !a.Complete {
				return nil, err
			}
			load := a.Load
			if a.Background != nil {
				load = a.Background.Half
			}
			loads = append(loads, load)
		}
		return loads, nil
	}
}

// halving is RFC 2544's search with trials of 60 s, to a thousandth of the line.
func halving(rule search.Rule) func(context.Context, trial.Runner) ([]float64, error) {
	return func(ctx context.Context, r trial.Runner) ([]float64, error) {
		s := search.Bisect(search.BisectOptions{Max: top, Precision: top / 1000.0, Unit: trial.Packets, Duration: time.Minute, Rule: rule})
		a, err := search.Run(ctx, r, s, search.Options{Invalid: -1, NoEarlyStop: true})
		if err != nil && !a.Complete {
			return nil, err
		}
		return []float64{a.Load}, nil
	}
}

// snabb is Snabb's find_limit as it was recorded: 1 Mbit/s, 1 s, 3 retries, a warm-up before each trial, and what stays unsent is no
// loss, unless it is more than half.
func snabb(ctx context.Context, r trial.Runner) ([]float64, error) {
	s := search.Bisect(search.BisectOptions{Max: line, Below: true, Precision: 1e6, Duration: time.Second, Rule: search.Retry(3)})
	a, err := search.Run(ctx, &warming{Runner: r}, s, search.Options{MaxUnsent: 0.5, Invalid: 2, NoEarlyStop: true})
	if err != nil && !a.Complete {
		return nil, err
	}
	return []float64{packets(a.Load)}, nil
}

// packets of a load in wire bits, as a whole number.
func packets(bits float64) float64 { return float64(int64(bits / frame)) }

// warming sends 1 Gbit/s before each trial, 5 s before the first.
type warming struct {
	trial.Runner
	warm bool
}

func (w *warming) Run(ctx context.Context, s trial.Spec, see func(trial.Sample)) (trial.Result, error) {
	before := trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: packets(1e9)}}, Duration: time.Second}
	if !w.warm {
		before.Duration = 5 * time.Second
		w.warm = true
		if _, err := w.Runner.Run(ctx, before, nil); err != nil {
			return trial.Result{}, err
		}
		before.Duration = time.Second
	}
	if _, err := w.Runner.Run(ctx, before, nil); err != nil {
		return trial.Result{}, err
	}
	s.Unit, s.Load = trial.Packets, []trial.Point{{Load: packets(s.At(0))}}
	return w.Runner.Run(ctx, s, see)
}
