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
	f.common.flags(fs, "highest load to try, per stream (default "+rate+")", "of one trial (default 1s)")
	rateVar(fs, &f.precision, "precision", "p", "step between loads (default "+precision+")")
	fs.IntVarP(&f.retries, "retry-count", "r", 3, "`number` further trials at a load that failed")
	fs.StringVarP(&f.exec, "exec", "e", "", "`command` judges each trial, given as JSON on its input: exit 0 passes")
	fs.VarP(&value[units.Loss]{to: &f.loss, text: "0", parse: parseLoss, kind: "share"}, "loss", "l", "acceptable loss, as 0.5%, 1e-5 or 10ppm (default 0)")
	durationVar(fs, &f.warmup, "warmup", "", 300*time.Millisecond, "uncounted traffic before the first trial of each load")
}

// run searches the limit of the streams.
func (f *findLimit) run(c *cobra.Command, streams []stream) error {
	if f.duration == 0 {
		if f.timed(c.Flags()) {
			return usagef("--duration 0: a search needs trials that end, as -D 1")
		}
		f.duration = time.Second
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
	set := report.Settings{DurationNs: new(int64(f.duration)), Retries: new(int64(f.retries)), Search: "bisect", Exec: f.exec,
		GoalLossRatios: []float64{float64(f.loss)}, RateWireBps: report.Number(o.Max), PrecisionWireBps: report.Number(o.Precision)}
	if o.Unit == trial.Packets {
		set.RateWireBps, set.PrecisionWireBps, set.RatePps = nil, nil, report.Number(o.Max)
	}
	if f.dryRun {
		trials := time.Duration(2 + math.Ceil(math.Log2(max(1, o.Max/o.Precision))))
		return s.plan(fmt.Sprintf("up to %s, in steps of %v", s.per(units.Rate{Kind: kind(o.Unit), Value: o.Max}), units.Rate{Kind: kind(o.Unit), Value: o.Precision}),
			f.duration+f.warmup, trials*(time.Duration(1+f.retries)*f.duration+f.warmup))
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
		if err := f.search(c, s); err != nil {
			if all = worse(all, err); c.Context().Err() != nil {
				break
			}
		}
	}
	return s.end(all)
}

// search finds the limit at the size at hand.
func (f *findLimit) search(c *cobra.Command, s *session) error {
	o, err := f.bisect(s)
	if err != nil {
		return err
	}
	so := search.Options{Loss: float64(f.loss), Invalid: repeats, MaxUnsent: float64(s.unsent), Warmup: f.warmup, FirstWarmup: max(f.warmup, min(time.Second, 3*f.warmup))}
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
	step := units.Rate{Kind: top.Kind, Value: top.Value / 1000}
	if f.precision != (units.Rate{}) {
		if step, err = s.load("precision", f.precision); err != nil {
			return search.BisectOptions{}, err
		}
		if step.Kind != top.Kind {
			return search.BisectOptions{}, usagef("--precision %v and --rate %v: want both in bits or both in packets", f.precision, top)
		}
	}
	return search.BisectOptions{Max: top.Value, Precision: step.Value, Unit: unit(top), Duration: f.duration, Retries: f.retries, Share: s.shared()}, nil
}

// answer writes the verdict and turns it into the run's error.
func (f *findLimit) answer(s *session, w *watcher, a search.Answer, err error) error {
	v := &report.Verdict{Size: s.label, GoalLossRatio: float64(f.loss), Trials: a.Trials, Limit: limit(a, s.atLine, err)}
	if a.Load > 0 {
		best := report.TrialOf(trial.Spec{Unit: a.Unit, Load: []trial.Point{{Load: a.Load}}, Share: s.shared()}, &a.Best, s.about(report.Search, &a.Best))
		v.RateWireBps, v.RatePps = best.RateWireBps, best.RatePps
		// The grid's load is the answer while what was sent rounds to it; a load is never claimed that was not sent.
		if v.RateWireBps != nil && a.Unit == trial.WireBits && math.Abs(*v.RateWireBps-a.Load) < a.Step/2 {
			v.RateWireBps = report.Number(a.Load)
		}
	}
	if a.Unit == trial.WireBits {
		v.PrecisionBps = report.Number(a.Step)
		if a.Above > 0 {
			v.AboveBps = report.Number(a.Above)
		}
	}
	v.Trial, v.AboveTrial = w.number(a.Load), w.number(a.Above)
	if a.Limit != "" { // else nothing is known of any load
		_ = s.write(v) // end tells it
	}
	switch {
	case a.Complete && a.Limit == search.LimitTester && a.Load == 0:
		if not := s.limited(&a.Worst); not != nil {
			return not
		}
		return ran(err)
	case err != nil:
		return ran(err)
	case a.Limit == search.LimitTester:
		upTo := units.Rate{Kind: kind(a.Unit), Value: a.Load}
		return notMeasured(fmt.Sprintf("no limit of the device found: above %v the tester is at its own; %s. Up to there: -b %v; beyond: a faster port",
			upTo, a.Reason, upTo))
	case a.Load == 0:
		return failure{errors.New("no load passed")}
	}
	return nil
}

// kind is a rate's that counts what the unit does.
func kind(u trial.Unit) units.RateKind {
	if u == trial.Packets {
		return units.Packets
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
