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
		Example: "  loadtest transient -b 100M -s 25M -D 1 gen eth2 eth3\n" +
			"  loadtest transient -b 1e9 -s 250e6 -D 1 -p ramp_up --bench-file steps.csv node1.pcap sim:wire/a sim:wire/b",
		RunE: func(c *cobra.Command, args []string) error {
			streams, err := f.arranged(c, args, false)
			if err != nil {
				return err
			}
			return f.run(c, streams)
		},
	}
	fs := c.Flags()
	f.sources.flags(fs)
	f.common.flags(fs, "highest load, per stream (default line rate of the slowest port)", "of one step (default 5s)")
	rateVar(fs, &f.step, "step", "s", "between two loads (default a tenth of --rate)")
	fs.StringVarP(&f.program, "program", "p", "ramp_up_down", "`name` ramp_up, ramp_down, ramp_up_down or constant")
	fs.StringVar(&f.bench, "bench-file", "", "`file` a CSV row per stream and step")
	fs.BoolVarP(&f.hydra, "hydra", "y", false, "the bench file as rows for Hydra: benchmark,id,score,unit")
	durationVar(fs, &f.warmup, "warmup", "", 2*time.Second, "uncounted traffic at the first step's load")
	return c
}

func (f *transient) run(c *cobra.Command, streams []stream) error {
	if f.duration == 0 && f.loops == 0 {
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
	own, err := shares(streams)
	if err != nil {
		return err
	}
	if f.rate == (units.Rate{}) {
		f.rate = own
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
	if f.dryRun {
		seconds := f.warmup.Seconds()
		for l := range steps {
			if f.program == "constant" { // until Ctrl-C
				seconds = 0
				break
			}
			seconds += s.length(f.spec(unit(top), l)).Seconds()
		}
		return s.plan(fmt.Sprintf("%s up to %s, in steps of %v", f.program, s.per(top), step), lasting(seconds), lasting(seconds))
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
	set := report.Settings{Program: f.program}
	switch top.Kind {
	case units.Factor:
		set.RateFactor, set.StepFactor = report.Number(top.Value), report.Number(step.Value)
	case units.Packets:
		set.RatePps = report.Number(top.Value)
	default:
		set.RateWireBps, set.StepWireBps = report.Number(top.Value), report.Number(step.Value)
	}
	f.lengths(&set)
	if err := s.begin(set); err != nil {
		return s.end(err)
	}
	stop := s.watchLinks()
	for i := range s.sized() {
		if err = s.turn(i); err == nil {
			err = f.walk(c, s, unit(top), steps)
		}
		if err != nil {
			break
		}
	}
	stop()
	return s.end(err)
}

// rates resolves the highest load and the step.
func (f *transient) rates(s *session) (top, step units.Rate, err error) {
	if top, err = s.load("rate", f.rate); err != nil {
		return
	}
	if top.Kind == units.Factor {
		if err = s.paced(false); err != nil {
			return
		}
	}
	step, err = s.distance("step", f.step, top, 10)
	return
}

// spec is one step.
func (f *transient) spec(unit trial.Unit, load float64) trial.Spec {
	return trial.Spec{Unit: unit, Load: []trial.Point{{Load: load}}, Duration: f.duration, Loops: f.loops, Interval: f.interval}
}

// walk makes one trial for each load.
func (f *transient) walk(c *cobra.Command, s *session, unit trial.Unit, loads func(func(float64) bool)) error {
	ctx := c.Context()
	back, first := false, s.steps
	var down error // a link, in the latest of such steps
	for l := range loads {
		spec := f.spec(unit, l)
		spec.Share = s.shared()
		if s.steps == first && f.warmup > 0 {
			w := spec
			w.Duration, w.Loops = f.warmup, 0
			if _, err := s.runner.Run(ctx, w, s.progress(w)); err != nil {
				return ran(err)
			}
			if ctx.Err() != nil {
				return ctxError(ctx, nil)
			}
		}
		res, err := s.steady(ctx, report.Ramp, spec)
		a, lost := s.about(report.Ramp, &res), linked(&res)
		switch {
		case ctx.Err() != nil:
			a.Reason = "interrupted"
		case lost != nil:
			a.Verdict, a.Reason = report.Invalid, lost.Error()
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
		if lost != nil {
			if err := s.relink(ctx); err != nil {
				return err
			}
			down = lost
		}
		if !back && s.steps == first+3 {
			break
		}
	}
	if down != nil {
		return down
	}
	if !back {
		return notMeasured(fmt.Sprintf("nothing came back in %d steps", s.steps-first))
	}
	return nil
}
