package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"loadtest/load"
	"loadtest/report"
	"loadtest/trial"
	"loadtest/units"
)

// transient are the flags of transient.
type transient struct {
	common
	step    units.Rate
	program string
	bench   string
	hydra   bool
	warmup  time.Duration
}

func newTransient() *cobra.Command {
	f := &transient{}
	c := &cobra.Command{
		Use:   "transient {SOURCE A B | SOURCE PORT | SOURCE TX RX PORT ...}",
		Short: "Run through steps of load and count at each",
		Long:  "transient runs a program of load steps without judging them: ramp_up, ramp_down, ramp_up_down, or constant until Ctrl-C.",
		Example: "  loadtest transient -b 1e9 node1.pcap eth2 eth3\n" +
			"  loadtest transient -b 1e9 -s 250e6 -D 1 -p ramp_up --bench-file steps.csv node1.pcap sim:wire/a sim:wire/b",
		RunE: func(c *cobra.Command, args []string) error {
			streams, err := parseStreams(c.Name(), args, false)
			if err != nil {
				return err
			}
			return f.run(c, streams)
		},
	}
	fs := c.Flags()
	f.flags(fs, "highest load, per stream (default line rate of the slowest port)", "of one step (default 5s)")
	rateVar(fs, &f.step, "step", "s", "between two loads (default a tenth of --rate)")
	fs.StringVarP(&f.program, "program", "p", "ramp_up_down", "ramp_up, ramp_down, ramp_up_down or constant")
	fs.StringVar(&f.bench, "bench-file", "", "write a CSV row for each stream and step to this file")
	fs.BoolVarP(&f.hydra, "hydra", "y", false, "the bench file as rows for Hydra: benchmark,id,score,unit")
	durationVar(fs, &f.warmup, "warmup", "", 2*time.Second, "uncounted traffic at the first step's load")
	return c
}

func (f *transient) run(c *cobra.Command, streams []stream) error {
	if f.duration == 0 {
		if f.timed(c.Flags()) {
			return usagef("--duration 0: a step needs an end, as -D 5")
		}
		f.duration = 5 * time.Second
	}
	if f.hydra && f.bench == "" {
		return usagef("--hydra says how --bench-file is written: give that too")
	}
	if err := errors.Join(highest(f.rate, "steps need"), finite("step", f.step)); err != nil {
		return err
	}
	s, err := open(c, &f.common, streams, output{"--bench-file ", f.bench})
	if err != nil {
		return err
	}
	top, step, err := f.rates(s)
	if err != nil {
		s.Close()
		return err
	}
	steps, err := load.Steps(f.program, top.Value, step.Value)
	if err != nil {
		s.Close()
		return usageError{err}
	}
	if f.bench != "" {
		file, err := os.Create(f.bench)
		if err != nil {
			s.Close()
			return usagef("--bench-file: %w", err)
		}
		s.close = append(s.close, file)
		if f.hydra {
			s.sinks = append(s.sinks, report.NewHydra(file))
		} else {
			s.sinks = append(s.sinks, report.NewCSV(file))
		}
	}
	set := report.Settings{DurationNs: new(int64(f.duration)), Program: f.program, RateWireBps: report.Number(top.Value), StepWireBps: report.Number(step.Value)}
	if top.Kind == units.Packets {
		set.RateWireBps, set.StepWireBps, set.RatePps = nil, nil, report.Number(top.Value)
	}
	if err := s.begin(set); err != nil {
		return s.end(err)
	}
	return s.end(f.walk(c, s, unit(top), steps))
}

// rates resolves the highest load and the step.
func (f *transient) rates(s *session) (top, step units.Rate, err error) {
	if top, err = s.load("rate", f.rate); err != nil {
		return
	}
	step = units.Rate{Kind: top.Kind, Value: top.Value / 10}
	if f.step != (units.Rate{}) {
		if step, err = s.load("step", f.step); err == nil && step.Kind != top.Kind {
			err = usagef("--step %v and --rate %v: want both in bits or both in packets", f.step, top)
		}
	}
	return
}

// walk makes one trial for each load.
func (f *transient) walk(c *cobra.Command, s *session, unit trial.Unit, loads func(func(float64) bool)) error {
	ctx := c.Context()
	back := false
	for l := range loads {
		spec := trial.Spec{Unit: unit, Load: []trial.Point{{Load: l}}, Duration: f.duration, Interval: f.interval}
		if s.steps == 0 && f.warmup > 0 {
			w := spec
			w.Duration = f.warmup
			if _, err := s.runner.Run(ctx, w, s.progress(w)); err != nil {
				return ran(err)
			}
			if ctx.Err() != nil {
				return ctxError(ctx, nil)
			}
		}
		s.steps++
		res, err := s.runner.Run(ctx, spec, s.progress(spec))
		a, down := s.about(report.Ramp, &res), linked(&res)
		switch {
		case ctx.Err() != nil:
			a.Reason = "interrupted"
		case down != nil:
			a.Verdict, a.Reason = report.Invalid, down.Error()
		}
		if res.Elapsed > 0 {
			if werr := s.write(report.TrialOf(spec, &res, a)); err == nil {
				err = werr
			}
		}
		if err != nil {
			return ran(err)
		}
		back = back || s.measured(&res) == nil
		if ctx.Err() != nil {
			return ctxError(ctx, nil)
		}
		if down != nil {
			return down
		}
		if !back && s.steps == 3 {
			break
		}
	}
	if !back {
		return notMeasured(fmt.Sprintf("nothing came back in %d steps", s.steps))
	}
	return nil
}
