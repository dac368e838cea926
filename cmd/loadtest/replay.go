package main

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/spf13/cobra"

	"loadtest/report"
	"loadtest/search"
	"loadtest/trial"
	"loadtest/units"
)

func newReplay() *cobra.Command {
	f := &common{}
	var loss units.Loss
	c := &cobra.Command{
		Use:   "replay {SOURCE A B | SOURCE PORT | SOURCE TX RX PORT ...}",
		Short: "Send at one load for one duration and count what comes back",
		Long:  "replay makes one trial, one load for one duration, counts and judges; SOURCE PORT only sends.",
		Example: "  loadtest replay --split office.pcap eth2 eth3\n" +
			"  loadtest replay -b 10Mbps -D 10 --both gen eth2 eth3",
		RunE: func(c *cobra.Command, args []string) error {
			streams, err := f.arranged(c, args, true)
			if err != nil {
				return err
			}
			return f.replay(c, streams, float64(loss))
		},
	}
	f.sources.flags(c.Flags())
	f.flags(c.Flags(), "the load, per stream (default x1, the captured pace)", "of sending, 0 until Ctrl-C (default one pass through the source)")
	c.Flags().VarP(&value[units.Loss]{to: &loss, text: "0", parse: parseLoss, kind: "share"}, "loss", "l", "acceptable loss, as 0.5%, 1e-5 or 10ppm (default 0)")
	return c
}

// replay makes the one trial.
func (f *common) replay(c *cobra.Command, streams []stream, loss float64) error {
	own, err := shares(streams)
	if err != nil {
		return err
	}
	s, err := open(c, f, streams)
	if err != nil {
		return err
	}
	if f.rate == (units.Rate{}) {
		if f.rate = own; own == (units.Rate{}) {
			f.rate = units.Rate{Kind: units.Factor, Value: 1}
		}
	}
	rate, err := s.load("rate", f.rate)
	if err != nil {
		s.Close()
		return err
	}
	spec := trial.Spec{Unit: unit(rate), Load: []trial.Point{{Load: rate.Value}}, Share: s.shared(), Duration: f.duration, Loops: f.loops, Interval: f.interval}
	if spec.Loops == 0 && !f.timed(c.Flags()) {
		spec.Loops = 1
	}
	if rate.Kind == units.Factor {
		if err := s.paced(spec.Loops == 1); err != nil {
			s.Close()
			return err
		}
	}
	set := report.Settings{GoalLossRatios: []float64{loss}}
	if f.timed(c.Flags()) {
		set.DurationNs = new(int64(f.duration))
	}
	if spec.Loops > 0 {
		set.Loops = new(spec.Loops)
	}
	switch {
	case rate.Kind == units.Factor:
		set.RateFactor = report.Number(rate.Value)
	case rate.Kind == units.Packets:
		set.RatePps = report.Number(rate.Value)
	case rate.Kind == units.Wire && !math.IsInf(rate.Value, 1):
		set.RateWireBps = report.Number(rate.Value)
	}
	if f.dryRun {
		length := s.length(spec)
		return s.plan(s.per(rate), length, length)
	}
	if err := s.begin(set); err != nil {
		return s.end(err)
	}
	var all error
	for i := range s.sized() {
		if err := s.turn(i); err != nil {
			all = worse(all, err)
			break
		}
		if err := s.once(c, spec, loss); err != nil {
			if all = worse(all, err); c.Context().Err() != nil {
				break
			}
		}
	}
	return s.end(all)
}

// once makes one trial, and judges it.
func (s *session) once(c *cobra.Command, spec trial.Spec, loss float64) error {
	stop := s.watchLinks()
	res, err := s.steady(c.Context(), report.Replay, spec)
	stop()
	a := s.about(report.Replay, &res)
	endless := spec.Duration == 0 && spec.Loops == 0
	verdict := s.verdict(spec, &res, loss)
	var fail failure
	var not *search.NotMeasured
	switch {
	case err != nil:
		verdict = ran(err)
	case c.Context().Err() != nil && !endless: // Ctrl-C is the normal end of an open trial
		verdict = ctxError(c.Context(), nil)
		a.Reason = "interrupted"
	case verdict == nil:
		a.Verdict = report.Pass
	case errors.As(verdict, &fail):
		a.Verdict = report.Fail
	case errors.As(verdict, &not):
		a.Verdict, a.Reason = report.Invalid, not.Reason
	}
	_ = s.write(report.TrialOf(spec, &res, a)) // end tells it
	return verdict
}

// steady makes a trial, and makes it again where the tester stood still: then it does not count. One of more than a minute,
// without an end, or in which a link went down is not made again; its books say what came of that.
func (s *session) steady(ctx context.Context, purpose string, spec trial.Spec) (trial.Result, error) {
	for again := 0; ; again++ {
		s.steps++
		res, err := s.runner.Run(ctx, spec, s.progress(spec))
		s.unplayed()
		stall := res.Stall()
		if err != nil || ctx.Err() != nil || stall == "" || linked(&res) != nil {
			return res, err
		}
		if again == mostStalls || res.Elapsed > time.Minute || spec.Duration == 0 && spec.Loops == 0 {
			s.tell("stall", "", stall)
			return res, err
		}
		a := s.about(purpose, &res)
		a.Verdict, a.Reason = report.Invalid, stall
		_ = s.write(report.TrialOf(spec, &res, a)) // end tells it
	}
}

// mostStalls is how often a trial is made again because the tester stood still.
const mostStalls = 3

// length is how long a trial takes; 0: until it is stopped, or as long as the port takes.
func (s *session) length(spec trial.Spec) time.Duration {
	if spec.Loops == 0 {
		return spec.Duration
	}
	length := lasting(float64(spec.Loops) * s.pass(units.Rate{Kind: kind(spec.Unit), Value: spec.At(0)}))
	if spec.Duration > 0 {
		length = min(length, spec.Duration)
	}
	return length
}

// pass is how many seconds one pass through the sources takes.
func (s *session) pass(r units.Rate) (longest float64) {
	for _, st := range s.streams {
		if bits := s.bits(st, r.Kind); bits > 0 { // else its only packet goes out at once
			frame, _ := s.mean(st)
			longest = max(longest, float64(st.figures.packets)*8*(frame+units.Overhead)/(r.Value*st.weight()*bits))
		}
	}
	return longest
}

// lasting is a time of so many seconds, as long as there are times.
func lasting(seconds float64) time.Duration { return time.Duration(min(seconds, 9e9) * 1e9) }

// lengths notes how long a trial is.
func (c *common) lengths(set *report.Settings) {
	if c.duration > 0 {
		set.DurationNs = new(int64(c.duration))
	}
	if c.loops > 0 {
		set.Loops = new(c.loops)
	}
}

// progress shows how far a trial is.
func (s *session) progress(spec trial.Spec) func(trial.Sample) {
	length := s.length(spec)
	return func(sample trial.Sample) {
		if err := s.write(report.SampleOf(s.steps, s.clock.Now()-s.zero-int64(sample.At), sample, s.sentOnly()...)); err != nil || s.line == nil {
			return // the end tells it
		}
		st := report.State{Label: s.verb, Done: -1, Elapsed: sample.At}
		if length > 0 {
			st.Done, st.Left = float64(sample.At)/float64(length), max(0, length-sample.At)
		}
		if spec.Unit != trial.Packets && !math.IsInf(spec.At(sample.At), 1) {
			st.Load, st.Factor = spec.At(sample.At), spec.Unit == trial.Factor
		}
		s.line.Show(report.Progress(st, width))
	}
}
