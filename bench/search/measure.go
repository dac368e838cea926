package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"loadtest/dut"
	"loadtest/trial"
)

// charge is what each trial costs beside its traffic, s: the same for everyone.
const charge = 0.02

// A result is what an algorithm did on all devices.
type result struct {
	algorithm
	peer string
	runs []found
}

// found is one search.
type found struct {
	device        *dut.ModelParams
	seed          uint64
	load, partial float64 // of the first goal and, if there are two, of the second
	trials        int
	traffic       float64 // s
	err           float64 // of load, relative to the truth; NaN: the truth is not known
}

// wall is a search's time with the charge.
func (f *found) wall() float64 { return f.traffic + charge*float64(f.trials) }

// counting counts what a device's trials take.
type counting struct {
	*dut.Model
	trials  int
	traffic float64
}

func (c *counting) Run(ctx context.Context, s trial.Spec, see func(trial.Sample)) (trial.Result, error) {
	r, err := c.Model.Run(ctx, s, see)
	c.trials++
	c.traffic += (r.Elapsed + s.Preroll).Seconds() // pre-rolls of the searches are whole slices of the model
	return r, err
}

// measure searches each device with each seed, on all CPUs.
func measure(ctx context.Context, s *set, a algorithm) (result, error) {
	r := result{algorithm: a, peer: s.peer(a.peers)}
	var mu sync.Mutex
	var failed error
	work := make(chan found)
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for f := range work {
				err := f.search(ctx, s, a)
				mu.Lock()
				if r.runs = append(r.runs, f); err != nil {
					failed = fmt.Errorf("%s on %s, seed %d: %w", a.name, f.device.ID, f.seed, err)
				}
				mu.Unlock()
			}
		})
	}
	for i := range s.devices {
		for _, seed := range s.seeds(&s.devices[i]) {
			work <- found{device: &s.devices[i], seed: seed}
		}
	}
	close(work)
	wg.Wait()
	slices.SortFunc(r.runs, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.device.ID, b.device.ID), cmp.Compare(a.seed, b.seed))
	})
	return r, failed
}

func (f *found) search(ctx context.Context, s *set, a algorithm) error {
	c := &counting{Model: &dut.Model{ModelParams: *f.device, RunSeed: f.seed}}
	loads, err := a.find(ctx, c)
	f.trials, f.traffic = c.trials, c.traffic
	if len(loads) > 0 {
		f.load = loads[0]
	}
	if len(loads) > 1 {
		f.partial = loads[1]
	}
	f.err = math.NaN()
	if truth := s.truth[a.truth][f.device.ID]; truth > 0 {
		f.err = (max(f.load, lowest) - truth) / truth
	}
	return err
}
