package main

import (
	"errors"
	"math"

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
		Long:  "replay makes one trial: one load, one duration, with the books and the verdict of a search's trial. SOURCE PORT only sends.",
		Example: "  loadtest replay -b 100Mbps -D 10 node1.pcap eth2 eth3\n" +
			"  loadtest replay node1.pcap eth2",
		RunE: func(c *cobra.Command, args []string) error {
			streams, err := parseStreams(c.Name(), args, true)
			if err != nil {
				return err
			}
			return f.replay(c, streams, float64(loss))
		},
	}
	f.flags(c.Flags(), "the load, per stream (default x1, the captured pace)", "of sending, 0 until Ctrl-C (default one pass through the source)")
	c.Flags().VarP(&value[units.Loss]{to: &loss, text: "0", parse: parseLoss, kind: "share"}, "loss", "l", "acceptable loss, as 0.5%, 1e-5 or 10ppm")
	return c
}

// replay makes the one trial.
func (f *common) replay(c *cobra.Command, streams []stream, loss float64) error {
	s, err := open(c, f, streams)
	if err != nil {
		return err
	}
	if f.rate == (units.Rate{}) {
		f.rate = units.Rate{Kind: units.Factor, Value: 1}
	}
	rate, err := s.load("rate", f.rate)
	if err != nil {
		s.Close()
		return err
	}
	for _, st := range streams {
		if rate.Kind == units.Factor && !timed(st.packets) {
			s.Close()
			return usagef("%s: its packets carry no times to replay; give a rate, as -b 1G", st.from())
		}
	}
	spec := trial.Spec{Unit: unit(rate), Load: []trial.Point{{Load: rate.Value}}, Duration: f.duration, Interval: f.interval}
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
	if err := s.begin(set); err != nil {
		return s.end(err)
	}
	s.steps = 1
	res, err := s.runner.Run(c.Context(), spec, s.progress(spec))
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
	return s.end(verdict)
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
