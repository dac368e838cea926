package main

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"loadtest/report"
	"loadtest/search"
	"loadtest/trial"
	"loadtest/units"
)

// answer writes the verdict on all streams, or on one of them, and turns it into the run's error.
func (f *findLimit) answer(s *session, w *watcher, g search.Goal, stream string, a search.Answer, err error) error {
	v := &report.Verdict{Size: s.label, Stream: stream, Goal: g.Name, GoalLossRatio: g.Loss, Rule: g.Rule.String(), TrialNs: int64(g.Trial), Trials: a.Trials,
		TrafficNs: int64(a.Traffic), Limit: limit(a, s.atLine, err)}
	s.doubts(v, &a)
	shares, own := s.shared(), 1.0
	if stream != "" {
		if f, ok := shares[stream]; ok {
			own = f
		}
		shares = nil // its rate is its own
		a.Best.Streams = slices.DeleteFunc(slices.Clone(a.Best.Streams), func(t trial.Stream) bool { return t.Name != stream })
	}
	if a.Above > 0 {
		v.AboveLossRatio = lossOf(&a.Worst)
	}
	if a.Load > 0 {
		v.LossRatio = lossOf(&a.Best)
		best := report.TrialOf(trial.Spec{Unit: a.Unit, Load: []trial.Point{{Load: a.Load * own}}, Share: shares}, &a.Best, s.about(report.Search, &a.Best))
		v.RateWireBps, v.RatePps, v.LoadFactor = best.RateWireBps, best.RatePps, best.LoadFactor
	}
	load, step, above := &v.RateWireBps, &v.PrecisionBps, &v.AboveBps
	if a.Unit == trial.Factor {
		load, step, above = &v.LoadFactor, &v.PrecisionFactor, &v.AboveFactor
	}
	if a.Unit != trial.Packets {
		// The grid's load is the answer while what was sent rounds to it; a load is never claimed that was not sent.
		if *load != nil && math.Abs(**load-a.Load*own) < a.Step*own/2 {
			*load = report.Number(a.Load * own)
		}
		if a.Step > 0 {
			*step = report.Number(a.Step * own)
		}
		if a.Above > 0 {
			*above = report.Number(a.Above * own)
		}
	}
	v.Trial, v.AboveTrial = w.passed[a.Load].number(), w.failed[a.Above].number()
	if alone := s.tester(); alone != nil && v.RateWireBps != nil && *v.RateWireBps >= near**alone {
		v.TesterBps = alone
	}
	if a.Limit != "" { // else nothing is known of any load
		_ = s.write(v) // end tells it
	}
	switch {
	case a.Complete && a.Limit == search.LimitTester && a.Load == 0:
		if not := s.limited(trial.Spec{Unit: a.Unit, Load: []trial.Point{{Load: a.Above}}}, &a.Worst); not != nil {
			return not
		}
		return ran(err)
	case err != nil:
		return ran(err)
	case a.Limit == search.LimitTester && f.alone:
		return nil
	case a.Limit == search.LimitTester:
		upTo, beyond := units.Rate{Kind: kind(a.Unit), Value: a.Load}, "a faster port"
		switch {
		case a.Worst.Starved > 0:
			beyond = "a faster disk, or --memory"
		case a.Worst.Pauses() > 0:
			return notMeasured(fmt.Sprintf("no limit of the device found: above %v it holds the tester up by PAUSE frames (flow control); %s. Without it: %s",
				upTo, a.Reason, s.unpaused(&a.Worst)))
		}
		return notMeasured(fmt.Sprintf("no limit of the device found: above %v the tester is at its own; %s. Up to there: -b %v; beyond: %s",
			upTo, a.Reason, upTo, beyond))
	case a.Background != nil:
		return failure{fmt.Errorf("no rate without loss: %s is lost at every load", units.Loss(a.Background.Ratio))}
	case a.Load == 0:
		return failure{errors.New("no rate without loss")}
	}
	return nil
}

// lossOf is what the stream that lost most lost; nil: nothing was sent.
func lossOf(r *trial.Result) (most *float64) {
	for i := range r.Streams {
		if loss, ok := r.Streams[i].LossRatio(); ok && (most == nil || loss > *most) {
			most = report.Number(loss)
		}
	}
	return most
}

// doubts is what else there is to know of an answer.
func (s *session) doubts(v *report.Verdict, a *search.Answer) {
	wire := func(load float64) *float64 {
		bits := 0.0
		for _, st := range s.streams {
			bits = max(bits, s.bits(st, kind(a.Unit)))
		}
		if load <= 0 || bits <= 0 {
			return nil
		}
		return report.Number(load * bits)
	}
	flag := func(on bool, name string) {
		if on {
			v.Flags = append(v.Flags, name)
		}
	}
	v.Clean, v.Lossy = a.Tally.Good, a.Tally.Bad
	if a.SlowStart > 0 {
		v.SlowStartNs = new(int64(a.SlowStart))
	}
	if a.Low > 0 {
		v.SoftLowBps, v.SoftHighBps, v.LossPps = wire(a.Low), wire(a.High), report.Number(a.PerSecond)
	}
	if b := a.Background; b != nil {
		v.Background = &report.Background{Ratio: b.Ratio, Low: b.Low, High: b.High, Lost: b.Lost, Sent: b.Sent, FromBps: wire(b.From), ToBps: wire(b.To),
			CliffBps: wire(b.Cliff), HalfBps: wire(b.Half), Goal: b.Goal}
	}
	flag(a.Background != nil, report.FlagBackground)
	flag(a.Low > 0 && a.High > 1.02*a.Low, report.FlagSoft)
	flag(a.SlowStart > 0, report.FlagSlowStart)
	flag(a.Limit == search.LimitTester, report.FlagTester)
	flag(4*a.Tally.Bad > a.Tally.Good+a.Tally.Bad, report.FlagUnstable)
	flag(a.Drifted, report.FlagDrifted)
}

// kind is a rate's that counts what the unit does.
func kind(u trial.Unit) units.RateKind {
	switch u {
	case trial.Packets:
		return units.Packets
	case trial.Factor:
		return units.Factor
	}
	return units.Wire
}

// limit is what an answer is limited by; "" where the search did not come to its end, or could not tell.
func limit(a search.Answer, atLine bool, err error) string {
	switch {
	case !a.Complete || err != nil:
		return ""
	case a.Limit == search.LimitDevice:
		return report.ByDevice
	case a.Limit == search.LimitTester:
		return report.ByTester
	case a.Limit == search.LimitMaximum && atLine:
		return report.ByLine
	case a.Limit == search.LimitMaximum:
		return report.ByAsked
	}
	return ""
}

// ran marks an error of a run that had begun.
func ran(err error) error {
	var not *search.NotMeasured
	var stop interrupted
	var use usageError
	if errors.As(err, &not) || errors.As(err, &stop) || errors.As(err, &use) {
		return err
	}
	return portError{err}
}
