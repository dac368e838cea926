package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"loadtest/report"
	"loadtest/search"
	"loadtest/trial"
	"loadtest/units"
)

// repeats is how often in a row a trial that the tester spoilt is made again: on a busy machine a stall is not the tester's limit.
const repeats = 8

// findLimit are the flags of find-limit.
type findLimit struct {
	common
	precision units.Rate
	retries   int
	exec      string
	loss      units.Loss
	warmup    time.Duration
	alone     bool // there is no device: what is found is the tester's limit
}

func newFindLimit() *cobra.Command {
	f := &findLimit{}
	c := &cobra.Command{
		Use:   "find-limit {SOURCE A B | SOURCE PORT | SOURCE TX RX PORT ...}",
		Short: "Find the highest load without loss",
		Long:  "find-limit searches the highest load that a device forwards without loss, by bisection; the last line is the answer in Gbps.",
		Example: "  loadtest find-limit gen eth2 eth3 --addr eth2=198.18.0.2/16,gw=198.18.0.1 --addr eth3=198.19.0.2/16,gw=198.19.0.1\n" +
			"  loadtest find-limit -b 1e9 -p 1e6 node1.pcap node1 node2 sim:vita-1gbe/node1 node2.pcap node2 node1 sim:vita-1gbe/node2",
		RunE: func(c *cobra.Command, args []string) error {
			streams, err := f.arranged(c, args, false)
			if err != nil {
				return err
			}
			for _, st := range streams {
				if st.rx == "" {
					return usagef("stream %s is only sent, so its limit is not the device's; want rx=PORT, where it comes back", st.name)
				}
			}
			return f.run(c, streams)
		},
	}
	f.sources.flags(c.Flags())
	f.flags(c.Flags(), "line rate of the slowest port", "0.1% of --rate")
	return c
}

// flags of find-limit, and the words for the defaults of --rate and --precision.
func (f *findLimit) flags(fs *pflag.FlagSet, rate, precision string) {
	f.common.flags(fs, "highest load to try, per stream (default "+rate+"); x20: searches how much faster than captured, and ends with that factor",
		"of one trial (default 1s; of -b x20 one pass through the capture)")
	rateVar(fs, &f.precision, "precision", "p", "step between loads (default "+precision+")")
	fs.IntVarP(&f.retries, "retry-count", "r", 3, "`number` further trials at a load that failed")
	fs.StringVarP(&f.exec, "exec", "e", "", "`command` judges each trial, given as JSON on its input: exit 0 passes")
	fs.VarP(&value[units.Loss]{to: &f.loss, text: "0", parse: parseLoss, kind: "share"}, "loss", "l", "acceptable loss, as 0.5%, 1e-5 or 10ppm (default 0)")
	durationVar(fs, &f.warmup, "warmup", "", 300*time.Millisecond, "uncounted traffic before the first trial of each load")
}

// run searches the limit of the streams.
func (f *findLimit) run(c *cobra.Command, streams []stream) error {
	if f.duration == 0 && f.loops == 0 && f.timed(c.Flags()) {
		return usagef("--duration 0: a search needs trials that end, as -D 1")
	}
	if f.retries < 0 {
		return usagef("--retry-count %d: want 0 or more", f.retries)
	}
	if err := errors.Join(highest(f.rate, "a search needs"), finite("precision", f.precision)); err != nil {
		return err
	}
	own, err := shares(streams)
	if err != nil {
		return err
	}
	if f.rate == (units.Rate{}) {
		f.rate = own
	}
	switch {
	case f.duration > 0 || f.loops > 0:
	case f.rate.Kind == units.Factor: // a capture is not even: a trial has to see all of it
		f.loops = 1
	default:
		f.duration = time.Second
	}
	s, err := open(c, &f.common, streams)
	if err != nil {
		return err
	}
	o, err := f.bisect(s)
	strategy := search.Bisect(o)
	if wrong, ok := strategy.(interface{ Err() error }); err == nil && ok && wrong.Err() != nil {
		err = usageError{wrong.Err()}
	}
	if err != nil {
		s.Close()
		return err
	}
	set := report.Settings{Retries: new(int64(f.retries)), Search: "bisect", Exec: f.exec, GoalLossRatios: []float64{float64(f.loss)}}
	switch o.Unit {
	case trial.Factor:
		set.RateFactor, set.PrecisionFactor = report.Number(o.Max), report.Number(o.Precision)
	case trial.Packets:
		set.RatePps = report.Number(o.Max)
	default:
		set.RateWireBps, set.PrecisionWireBps = report.Number(o.Max), report.Number(o.Precision)
	}
	f.lengths(&set)
	if f.dryRun {
		return f.plan(s, o)
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
		if i > 0 {
			if o, err = f.bisect(s); err != nil {
				all = worse(all, err)
				break
			}
		}
		if err := f.search(c, s, o); err != nil {
			if all = worse(all, err); c.Context().Err() != nil {
				break
			}
		}
	}
	return s.end(all)
}

// plan says what the search would be. The lower a load, the longer its passes take.
func (f *findLimit) plan(s *session, o search.BisectOptions) error {
	at := func(load float64) trial.Spec {
		return trial.Spec{Unit: o.Unit, Load: []trial.Point{{Load: load}}, Duration: o.Duration, Loops: o.Loops}
	}
	most, load := 0.0, o.Max
	for range 2 + int(math.Ceil(math.Log2(max(1, o.Max/o.Precision)))) {
		most += float64(1+f.retries)*s.length(at(load)).Seconds() + f.warmup.Seconds()
		load = max(load/2, o.Precision)
	}
	top := units.Rate{Kind: kind(o.Unit), Value: o.Max}
	loads := fmt.Sprintf("up to %s, in steps of %v", s.per(top), units.Rate{Kind: top.Kind, Value: o.Precision})
	if o.Loops > 0 {
		half := units.Rate{Kind: top.Kind, Value: o.Max / 2}
		loads += fmt.Sprintf("; a trial of %s: %v at %v, %v at %v", passes(o.Loops), said(s.length(at(top.Value))), short(top), said(s.length(at(half.Value))), short(half))
	}
	return s.plan(loads, s.length(at(o.Max))+f.warmup, lasting(most))
}

// search finds the limit at the size at hand.
func (f *findLimit) search(c *cobra.Command, s *session, o search.BisectOptions) error {
	again := repeats
	if f.alone {
		again = 1 // what the tester cannot do is the answer
	}
	so := search.Options{Loss: float64(f.loss), Invalid: again, MaxUnsent: float64(s.unsent), Warmup: f.warmup, FirstWarmup: max(f.warmup, min(time.Second, 3*f.warmup))}
	if f.exec != "" {
		so.Verdict = func(ctx context.Context, spec trial.Spec, r trial.Result) (bool, string, error) {
			return s.judge(ctx, f.exec, report.TrialOf(spec, &r, s.about(report.Search, &r)), c.ErrOrStderr())
		}
	}
	so.Interval, so.Relink = f.interval, s.relink
	if s.wait > 0 {
		so.Ask = s.ask
	}
	w := &watcher{session: s, retries: f.retries, max: o.Max}
	so.See = w.see
	w.first = s.steps
	answer, err := search.Run(c.Context(), s.runner, search.Bisect(o), so)
	return f.answer(s, w, answer, err)
}

// bisect resolves rates for the ports that are open.
func (f *findLimit) bisect(s *session) (search.BisectOptions, error) {
	top, err := s.load("rate", f.rate)
	if err != nil {
		return search.BisectOptions{}, err
	}
	if top.Kind == units.Factor {
		if err := s.paced(false); err != nil {
			return search.BisectOptions{}, err
		}
	}
	step, err := s.distance("precision", f.precision, top, 1000)
	if err != nil {
		return search.BisectOptions{}, err
	}
	return search.BisectOptions{Max: top.Value, Precision: step.Value, Unit: unit(top), Duration: f.duration, Loops: f.loops, Rule: search.Retry(f.retries), Share: s.shared()}, nil
}

// answer writes the verdict and turns it into the run's error.
func (f *findLimit) answer(s *session, w *watcher, a search.Answer, err error) error {
	v := &report.Verdict{Size: s.label, GoalLossRatio: float64(f.loss), Trials: a.Trials, Limit: limit(a, s.atLine, err)}
	if a.Load > 0 {
		best := report.TrialOf(trial.Spec{Unit: a.Unit, Load: []trial.Point{{Load: a.Load}}, Share: s.shared()}, &a.Best, s.about(report.Search, &a.Best))
		v.RateWireBps, v.RatePps, v.LoadFactor = best.RateWireBps, best.RatePps, best.LoadFactor
	}
	load, step, above := &v.RateWireBps, &v.PrecisionBps, &v.AboveBps
	if a.Unit == trial.Factor {
		load, step, above = &v.LoadFactor, &v.PrecisionFactor, &v.AboveFactor
	}
	if a.Unit != trial.Packets {
		// The grid's load is the answer while what was sent rounds to it; a load is never claimed that was not sent.
		if *load != nil && math.Abs(**load-a.Load) < a.Step/2 {
			*load = report.Number(a.Load)
		}
		*step = report.Number(a.Step)
		if a.Above > 0 {
			*above = report.Number(a.Above)
		}
	}
	v.Trial, v.AboveTrial = w.number(a.Load), w.number(a.Above)
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
	case a.Load == 0:
		return failure{errors.New("no load passed")}
	}
	return nil
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
