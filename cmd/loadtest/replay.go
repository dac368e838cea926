package main

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/spf13/cobra"

	"loadtest/packet"
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
	for _, st := range s.streams {
		if rate.Kind == units.Factor && st.made != nil {
			s.Close()
			return usagef("%s has no pace of its own; give a rate, as -b 1G", st.from())
		}
		if rate.Kind == units.Factor && !timed(st.packets) {
			s.Close()
			return usagef("%s: its packets carry no times to replay; give a rate, as -b 1G", st.from())
		}
	}
	spec := trial.Spec{Unit: unit(rate), Load: []trial.Point{{Load: rate.Value}}, Share: s.shared(), Duration: f.duration, Interval: f.interval}
	set := report.Settings{GoalLossRatios: []float64{loss}}
	if f.timed(c.Flags()) {
		set.DurationNs = new(int64(f.duration))
	} else {
		spec.Loops = 1
	}
	switch {
	case rate.Kind == units.Packets:
		set.RatePps = report.Number(rate.Value)
	case rate.Kind == units.Wire && !math.IsInf(rate.Value, 1):
		set.RateWireBps = report.Number(rate.Value)
	}
	if f.dryRun {
		length := spec.Duration
		if spec.Loops > 0 {
			length = s.pass(rate)
		}
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
	verdict := s.verdict(&res, loss)
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

// pass is how long one pass through the sources takes.
func (s *session) pass(r units.Rate) (longest time.Duration) {
	for _, st := range s.streams {
		var seconds float64
		frame, _ := s.mean(st)
		switch n := float64(st.packets.Len()); {
		case r.Kind == units.Packets:
			seconds = n / (r.Value * st.weight())
		case r.Kind == units.Factor:
			_, span := times(st.packets)
			seconds = float64(max(span, st.span)) / 1e9 / (r.Value * st.weight())
		default:
			seconds = n * 8 * (frame + units.Overhead) / (r.Value * st.weight())
		}
		longest = max(longest, time.Duration(seconds*1e9))
	}
	return longest
}

// timed says whether a capture has a pace of its own; a packet alone needs none.
func timed(p *packet.Store) bool {
	for i := 1; i < p.Len(); i++ {
		if p.Frame(i).Nanos > p.Frame(i-1).Nanos {
			return true
		}
	}
	return p.Len() == 1
}

// progress shows how far a trial is.
func (s *session) progress(spec trial.Spec) func(trial.Sample) {
	return func(sample trial.Sample) {
		if err := s.write(report.SampleOf(s.steps, s.clock.Now()-s.zero-int64(sample.At), sample, s.sentOnly()...)); err != nil || s.line == nil {
			return // the end tells it
		}
		st := report.State{Label: s.verb, Done: -1, Elapsed: sample.At}
		if spec.Duration > 0 {
			st.Done, st.Left = float64(sample.At)/float64(spec.Duration), spec.Duration-sample.At
		}
		if spec.Unit == trial.WireBits && !math.IsInf(spec.At(sample.At), 1) {
			st.RateWireBps = spec.At(sample.At)
		}
		s.line.Show(report.Progress(st, width))
	}
}
