package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"loadtest/report"
	"loadtest/search"
	"loadtest/trial"
	"loadtest/units"
)

// findLimit are the flags of find-limit.
type findLimit struct {
	common
	strategy  strategy
	precision units.Rate
	width     units.Loss
	retries   int
	exec      string
	losses    []units.Loss
	given     []goalFlag
	warmup    time.Duration
	slow      time.Duration
	latency   bool
	perStream bool
	alone     bool // there is no device: what is found is the tester's limit
}

func newFindLimit() *cobra.Command {
	f := &findLimit{}
	c := &cobra.Command{
		Use:   "find-limit {SOURCE A B | SOURCE PORT | SOURCE TX RX PORT ...}",
		Short: "Find the highest load without loss",
		Long: "find-limit searches the highest load that a device forwards without loss, or with as little as each goal allows; for one goal\n" +
			"the last line is the answer in Gbps.",
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
	f.flags(c.Flags(), "line rate of the slowest port", "see --width; of other searches than ladder 0.1% of --rate")
	return c
}

// flags of find-limit, and the words for the defaults of --rate and --precision.
func (f *findLimit) flags(fs *pflag.FlagSet, rate, precision string) {
	f.common.flags(fs, "highest load to try, per stream (default "+rate+"); x20: searches how much faster than captured, and ends with that factor",
		"of one trial (default 1s, of rfc2544 and tst009 60s; of -b x20 one pass through the capture)")
	f.strategy, f.width, f.losses = ladder, 0.005, []units.Loss{0}
	fs.Var(&value[strategy]{to: &f.strategy, text: string(ladder), parse: parseStrategy, kind: "name"}, "search",
		"ladder (cheap trials first; a load is believed by lead 5 of 21), bisect (Snabb's, with --retry-count), rfc2544 (60 s trials), tst009 (the same, a lossy one repeated)")
	rateVar(fs, &f.precision, "precision", "p", "loads are its multiples, and the answer is as exact (default "+precision+")")
	fs.Var(&value[units.Loss]{to: &f.width, text: "0.5%", parse: parseWidth, kind: "share"}, "width", "how exact the answer is without --precision, as a share of it")
	fs.IntVarP(&f.retries, "retry-count", "r", 3, "`number` further trials at a load that failed, of which one may pass; means --search bisect")
	fs.StringVarP(&f.exec, "exec", "e", "", "`command` judges each trial, given as JSON on its input: exit 0 passes; means --search bisect")
	fs.VarP(&value[[]units.Loss]{to: &f.losses, text: "0", parse: parseLosses, kind: "share"}, "loss", "l",
		"acceptable loss, as 0.5%, 1e-5 or 10ppm; several goals: 0,0.5% (default 0)")
	fs.Var(&values[goalFlag]{to: &f.given, parse: parseGoal, kind: "goal"}, "goal", "name=gold,loss=0,trial=60s,sum=60s,exceed=0: a goal in MLRsearch's words; repeat it")
	fs.BoolVar(&f.perStream, "per-stream", false, "a limit for each stream: those that fail stay at theirs while the others climb on (default one load for all)")
	fs.BoolVar(&f.latency, "latency", false, "then measure at 10, 50, 90 and 100 % of each limit, for its latencies")
	durationVar(fs, &f.slow, "slow-start", "", 2*time.Second, "longest slow start of the device to see through; 0: it has none")
	durationVar(fs, &f.warmup, "warmup", "", 300*time.Millisecond, "uncounted traffic before the first trial of each load, of all searches but ladder")
}

// run searches the limit of the streams.
func (f *findLimit) run(c *cobra.Command, streams []stream) error {
	if err := f.choose(c.Flags()); err != nil {
		return err
	}
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
		f.duration = f.strategy.trial()
	}
	goals, err := f.aims()
	if err != nil {
		return err
	}
	s, err := open(c, &f.common, streams)
	if err != nil {
		return err
	}
	l, err := f.load(s)
	for _, g := range goals {
		if wrong, ok := f.of(l, g, nil).(interface{ Err() error }); err == nil && ok && wrong.Err() != nil {
			err = usageError{wrong.Err()}
		}
	}
	if err != nil {
		s.Close()
		return err
	}
	if f.dryRun {
		return f.plan(s, l, goals)
	}
	if err := s.begin(f.settings(l, goals)); err != nil {
		return s.end(err)
	}
	var all error
	for i := range s.sized() {
		if err = s.turn(i); err == nil && i > 0 {
			l, err = f.load(s)
		}
		if err != nil {
			all = worse(all, err)
			break
		}
		known := &search.Known{}
		for _, g := range goals {
			if all = worse(all, f.search(c, s, l, g, known)); c.Context().Err() != nil {
				return s.end(all)
			}
		}
	}
	return s.end(all)
}

// repeats is how often in a row a trial that the tester spoilt is made again: on a busy machine a stall is not the tester's limit.
func (f *findLimit) repeats() int {
	if f.alone {
		return 1 // what the tester cannot do is the answer
	}
	return 8
}

// firstWarmup is the warm-up before the very first trial.
func firstWarmup(w time.Duration) time.Duration { return max(w, min(time.Second, 3*w)) }

// settings are what the first record says of the search.
func (f *findLimit) settings(l loadRange, goals []search.Goal) report.Settings {
	set := report.Settings{PerStream: f.perStream, Search: string(f.strategy), Exec: f.exec, Repeats: new(int64(f.repeats()))}
	for _, g := range goals {
		set.GoalLossRatios = append(set.GoalLossRatios, g.Loss)
		set.Goals = append(set.Goals, report.Goal{Name: g.Name, LossRatio: g.Loss, TrialNs: int64(g.Trial), Loops: g.Loops, Rule: g.Rule.String(), Width: g.Width})
	}
	switch f.strategy {
	case ladder:
		set.SlowStartNs = new(int64(f.slow))
	case bisect:
		set.Retries = new(int64(f.retries))
	}
	if f.strategy != ladder {
		set.WarmupNs = new(int64(f.warmup))
	}
	top, step := report.Number(l.max), report.Number(l.step)
	if l.step == 0 {
		step = nil
	}
	switch l.unit {
	case trial.Factor:
		set.RateFactor, set.PrecisionFactor = top, step
	case trial.Packets:
		set.RatePps, set.PrecisionPps = top, step
	default:
		set.RateWireBps, set.PrecisionWireBps = top, step
	}
	f.lengths(&set)
	return set
}

// A loadRange is what a search may ask of the ports that are open.
type loadRange struct {
	unit      trial.Unit
	max, step float64 // step 0: loads are not multiples
	share     map[string]float64
}

// load resolves rates for the ports that are open.
func (f *findLimit) load(s *session) (l loadRange, err error) {
	top, err := s.load("rate", f.rate)
	if err != nil {
		return l, err
	}
	if top.Kind == units.Factor {
		if err := s.paced(false); err != nil {
			return l, err
		}
	}
	l = loadRange{unit: unit(top), max: top.Value, share: s.shared()}
	if f.precision == (units.Rate{}) && f.strategy == ladder {
		return l, nil
	}
	step, err := s.distance("precision", f.precision, top, 1000)
	l.step = step.Value
	return l, err
}

// of is the search for a goal.
func (f *findLimit) of(l loadRange, g search.Goal, known *search.Known) search.Strategy {
	slow := f.slow
	if slow == 0 {
		slow = -1
	}
	return f.strategy.of(l, g, slow, known)
}

// search finds the limit for a goal at the size at hand.
func (f *findLimit) search(c *cobra.Command, s *session, l loadRange, g search.Goal, known *search.Known) error {
	w := &watcher{session: s, retries: -1, max: l.max, goal: g.Name}
	if r, ok := g.Rule.(search.Retry); ok {
		w.retries = int(r)
	}
	o := f.options(s, g)
	if f.exec != "" {
		o.Verdict = func(ctx context.Context, spec trial.Spec, r trial.Result) (bool, string, error) {
			return s.judge(ctx, f.exec, report.TrialOf(spec, &r, s.about(report.Search, &r)), c.ErrOrStderr())
		}
	}
	o.See = w.see
	w.first = s.steps
	if f.perStream {
		return f.eachStream(c.Context(), s, w, l, g, o)
	}
	answer, err := search.Run(c.Context(), s.runner, f.of(l, g, known), o)
	if err = f.answer(s, w, g, "", answer, err); f.latency && answer.Load > 0 && exitCode(err) != exitUsage && c.Context().Err() == nil {
		err = worse(err, f.latencies(c.Context(), s, l, g, answer.Load))
	}
	return err
}

// eachStream finds a limit for each stream.
func (f *findLimit) eachStream(ctx context.Context, s *session, w *watcher, l loadRange, g search.Goal, o search.Options) error {
	each := search.PerStream(names(s.streams), g.Loss, func() search.Strategy { return f.of(l, g, &search.Known{}) })
	answer, err := search.Run(ctx, s.runner, each, o)
	limits := each.Limits()
	if len(limits) == 0 {
		return f.answer(s, w, g, "", answer, err)
	}
	var all error
	for _, found := range limits {
		a := found.Answer
		a.Trials, a.Traffic = answer.Trials, answer.Traffic
		all = worse(all, f.answer(s, w, g, found.Stream, a, err))
	}
	return all
}

func names(streams []stream) (all []string) {
	for _, st := range streams {
		all = append(all, st.name)
	}
	return all
}

// options say when trials are believed.
func (f *findLimit) options(s *session, g search.Goal) search.Options {
	o := search.Options{Loss: g.Loss, Invalid: f.repeats(), MaxUnsent: float64(s.unsent), Untagged: s.runner.Untagged(), Interval: f.interval, Relink: s.relink}
	if f.strategy != ladder {
		o.Warmup, o.FirstWarmup = f.warmup, firstWarmup(f.warmup)
	}
	if s.wait > 0 {
		o.Ask = s.ask
	}
	return o
}
