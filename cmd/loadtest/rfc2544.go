package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"loadtest/internal/plan"
	"loadtest/report"
	"loadtest/search"
	"loadtest/trial"
	"loadtest/units"
)

// usualSizes are the frame sizes of RFC 2544, 9.1 for Ethernet.
const usualSizes = "64,128,256,512,1024,1280,1518"

// benchmark are the flags of rfc2544.
type benchmark struct {
	findLimit // whose search is the test of the throughput

	tests    []plan.Test
	delays   time.Duration // of a trial for latency
	soak     time.Duration
	burst    time.Duration
	rest     time.Duration
	searches int
	resume   string
	taken    []*report.Trial // of the run that is resumed
	pauses   map[string]*report.Pause
	before   *report.Run // that is resumed; nil: none
}

func newRFC2544() *cobra.Command {
	f := &benchmark{}
	c := &cobra.Command{
		Use:   "rfc2544 {SOURCE A B | SOURCE PORT | SOURCE TX RX PORT ... | --resume RUN}",
		Short: "Measure as RFC 2544 wants it: all tests, all frame sizes",
		Long: "rfc2544 measures throughput, latency, frame loss and back-to-back frames (RFC 2544, RFC 9004) for each frame size, on demand\n" +
			"recovery and a soak, too. It says first how long that takes; after Ctrl-C, --resume last goes on where it was. No reset.",
		Example: "  loadtest rfc2544 -D 1 --rest 0 -b 100M --sizes 64,1518 --tests throughput,loss gen eth2 eth3\n" +
			"  loadtest rfc2544 -D 0.1 --sizes 64,imix --tests latency,recovery --soak 1 gen sim:wire/a sim:wire/b",
		RunE: func(c *cobra.Command, args []string) error { return f.start(c, args) },
	}
	fs := c.Flags()
	f.sources.flags(fs)
	f.common.flags(fs, "the theoretical maximum, per stream, in bits on the wire (default line rate of the slowest port)",
		"of a trial, and latency's too; a soak has its own (default 1m, latency 2m)")
	f.strategy, f.width, f.retries, f.losses, f.slow = rfc2544, 0.005, 3, []units.Loss{0}, 2*time.Second
	f.drain = 2 * time.Second
	drain := fs.Lookup("drain")
	drain.Value.(*value[time.Duration]).text, drain.DefValue = "2s", "2s"
	f.tests, _ = plan.ParseTests("throughput,latency,loss,back-to-back")
	fs.Var(&value[[]plan.Test]{to: &f.tests, text: "throughput,latency,loss,back-to-back", parse: plan.ParseTests, kind: "list"}, "tests",
		"some of throughput, latency, loss, back-to-back, recovery, soak")
	fs.Var(&value[strategy]{to: &f.strategy, text: string(rfc2544), parse: parseStrategy, kind: "name"}, "search", "for the throughput: rfc2544 (halves, each trial believed), tst009, bisect, ladder")
	rateVar(fs, &f.precision, "precision", "p", "loads of the search are its multiples (default 0.1% of --rate)")
	durationVar(fs, &f.delays, "latency-time", "", 0, "of a trial for latency (default 2m, or as --duration)")
	durationVar(fs, &f.soak, "soak", "", 0, "adds the test soak: so long at the throughput")
	durationVar(fs, &f.burst, "burst", "", 2*time.Second, "longest burst to try, at the maximum")
	fs.IntVar(&f.searches, "bursts", 50, "`number` searches for the longest burst, of which each finds its own")
	durationVar(fs, &f.rest, "rest", "", 5*time.Second, "without traffic before each trial, for the device")
	fs.StringVar(&f.resume, "resume", "", "`run` goes on with a run, by id, last, or its file: its trials are not made again")
	return c
}

// start looks whether it is a run that goes on.
func (f *benchmark) start(c *cobra.Command, args []string) error {
	if f.resume != "" {
		file, err := findBenchmark(f.resume)
		if err != nil {
			return err
		}
		if len(args) == 0 && len(f.streams) == 0 && f.file == "" {
			return resumeRun(c, file)
		}
		if err := f.recall(file); err != nil {
			return err
		}
	}
	streams, err := f.arranged(c, args, false)
	if err != nil {
		return err
	}
	for _, st := range streams {
		if st.rx == "" {
			return usagef("stream %s is only sent; want rx=PORT, where it comes back", st.name)
		}
	}
	return f.run(c, streams)
}

// settle fills in what was not said.
func (f *benchmark) settle(c *cobra.Command, streams []stream) error {
	fs := c.Flags()
	if f.soak > 0 && !slices.Contains(f.tests, plan.Soak) {
		f.tests = append(f.tests, plan.Soak)
	}
	switch {
	case f.timed(fs) && f.duration == 0:
		return usagef("--duration 0: trials need an end, as -D 60")
	case f.rate.Kind == units.Factor || f.rate.Kind == units.Packets || f.rate.Kind == units.Max:
		return usagef("--rate %v: the maximum is one of bits on the wire for all sizes, as 10G or 100%%", f.rate)
	case f.precision.Kind == units.Factor || f.precision.Kind == units.Packets || f.precision.Kind == units.Max:
		return usagef("--precision %v: want bits on the wire, as 10M or 0.1%%", f.precision)
	case f.searches < 1:
		return usagef("--bursts %d: want 1 or more; RFC 9004 wants 50", f.searches)
	case f.burst <= 0:
		return usagef("--burst 0: want a time above 0, as 2s")
	case slices.Contains(f.tests, plan.Soak) && f.soak == 0:
		return usagef("--tests soak: how long? --soak 12h")
	case f.loops > 0:
		return usagef("--loops: trials of RFC 2544 have a duration: -D")
	}
	if f.delays == 0 {
		if f.delays = f.duration; f.delays == 0 {
			f.delays = 2 * time.Minute
		}
	}
	if f.duration == 0 {
		f.duration = time.Minute
	}
	if f.sizes == "" && !slices.ContainsFunc(streams, func(st stream) bool { return st.made == nil }) {
		f.sizes = usualSizes
	}
	return nil
}

// deviations say where it is not as RFC 2544 and RFC 9004 have it.
func (f *benchmark) deviations(l maximum) (all []string) {
	add := func(format string, a ...any) { all = append(all, fmt.Sprintf(format, a...)) }
	has := func(t plan.Test) bool { return slices.Contains(f.tests, t) }
	if f.duration < time.Minute {
		add("trials of %s, not 1m", said(f.duration))
	}
	if f.sizes != usualSizes {
		if f.sizes == "" {
			add("the frames of the source, not the sizes %s", usualSizes)
		} else {
			add("frame sizes %s, not %s", f.sizes, usualSizes)
		}
	}
	if l.max > 0 && !l.line {
		add("the maximum is the rate that was asked for, not the line's")
	}
	if f.strategy != rfc2544 {
		add("throughput by --search %s", f.strategy)
	}
	add("a trial for the throughput that is certain to fail ends early")
	if f.drain < 2*time.Second {
		add("a trial ends after %s without frames, not 2s", said(f.drain))
	}
	if f.rest < 5*time.Second {
		add("rest of %s between trials, not 5s", said(f.rest))
	}
	if has(plan.Latency) {
		add("latency of every frame in one trial, not of one frame in each of 20")
		if f.delays < 2*time.Minute {
			add("trials of %s for latency, not 2m", said(f.delays))
		}
	}
	if has(plan.Bursts) {
		if f.searches < 50 {
			add("%d searches for the longest burst, not 50", f.searches)
		}
		if f.searches > 1 {
			add("each search for the longest burst begins where the one before it ended")
		}
	}
	if has(plan.Recovery) {
		add("recovery: between two times that the counts show, one trial")
	}
	add("no reset")
	return all
}

// options of the plan at the ports that are open.
func (f *benchmark) parts(s *session, l maximum) (plan.Options, error) {
	goal := f.goal()
	o := plan.Options{Tests: f.tests, Max: l.max, Trial: f.duration, Latency: f.delays, Soak: f.soak, Burst: f.burst, Repeats: f.searches, Rest: f.rest, Drain: f.drain,
		Search: func() search.Strategy { return f.of(l.loadRange, goal, &search.Known{}) }}
	least, most := f.lasts(s, l.loadRange, goal)
	steps := most.Seconds() / f.duration.Seconds()
	o.Trials = [2]float64{max(steps-1, least.Seconds()/f.duration.Seconds()), steps}
	for i := range s.sized() {
		frame, mixed, label := 0.0, false, ""
		for _, st := range s.streams {
			if len(s.each) > 0 {
				made, err := st.made.With(s.each[i])
				if err != nil {
					return o, usageError{err}
				}
				sum := 0.0
				label = made.Label()
				for _, n := range made.Sizes {
					sum += float64(n)
					mixed = mixed || n != made.Sizes[0]
				}
				frame = max(frame, sum/float64(len(made.Sizes)))
			} else {
				n, _ := s.mean(st)
				frame, mixed = max(frame, n+units.FCS), true
			}
		}
		o.Sizes = append(o.Sizes, plan.Size{Label: label, Bits: 8 * (frame - units.FCS + units.Overhead), Mixed: mixed})
	}
	return o, nil
}

func (f *benchmark) goal() search.Goal {
	return search.Goal{Trial: f.duration, Rule: f.strategy.rule(&f.findLimit), Width: float64(f.width)}
}

// run makes the whole benchmark.
func (f *benchmark) run(c *cobra.Command, streams []stream) error {
	if err := f.settle(c, streams); err != nil {
		return err
	}
	s, err := open(c, &f.common, streams)
	if err != nil {
		return err
	}
	l, labels, p, err := f.planned(s)
	if err != nil {
		s.Close()
		return err
	}
	expect, most := p.Total()
	if f.dryRun {
		return f.dry(s, l.loadRange, p)
	}
	set := f.settings(l.loadRange, []search.Goal{f.goal()})
	set.Method = &report.Method{TrialNs: int64(f.duration), LatencyNs: int64(f.delays), SoakNs: int64(f.soak), BurstNs: int64(f.burst), Repeats: f.searches,
		RestNs: int64(f.rest), ExpectNs: int64(expect), MostNs: int64(most), Resumes: f.from(), Deviations: f.deviations(l)}
	for _, t := range f.tests {
		set.Method.Tests = append(set.Method.Tests, string(t))
	}
	set.WarmupNs = nil // hello is what the RFC calls learning frames
	if err := f.same(&set, labels); err != nil {
		s.Close()
		return err
	}
	if err := s.begin(set); err != nil {
		return s.end(err)
	}
	f.announce(s, p)
	err = f.all(c, s, l.loadRange, p)
	var stop interrupted
	if errors.As(err, &stop) && s.saved != "" && !s.quiet {
		s.line.Clear()
		fmt.Fprintf(c.ErrOrStderr(), "to go on where it was: loadtest rfc2544 --resume %s\n", runID(s.saved))
	}
	return s.end(err)
}

// A maximum is the loads up to the theoretical maximum.
type maximum struct {
	loadRange
	line bool // it is all that a line takes
}

// planned is the plan at the ports that are open.
func (f *benchmark) planned(s *session) (l maximum, labels []string, p *plan.Plan, err error) {
	if l.loadRange, err = f.load(s); err != nil {
		return l, nil, nil, err
	}
	l.line = s.atLine
	if l.unit != trial.WireBits {
		return l, nil, nil, usagef("--rate %v: want bits on the wire, as 10G", f.rate)
	}
	o, err := f.parts(s, l)
	if err != nil {
		return l, nil, nil, err
	}
	if wrong, ok := o.Search().(interface{ Err() error }); ok && wrong.Err() != nil {
		return l, nil, nil, usageError{wrong.Err()}
	}
	if len(s.each) > 0 {
		for _, z := range o.Sizes {
			labels = append(labels, z.Label)
		}
	}
	return l, labels, plan.New(o), nil
}

// announce tells what is to be made, and how long it takes.
func (f *benchmark) announce(s *session, p *plan.Plan) {
	expect, most := p.Total()
	var names []string
	for _, t := range f.tests {
		names = append(names, string(t))
	}
	s.tell("plan", "", fmt.Sprintf("%d × (%s): about %s, at most %s; no reset", s.sized(), strings.Join(names, ", "), said(expect), said(most)))
	if n := len(f.taken); n > 0 {
		s.tell("plan", "", fmt.Sprintf("%d trials of run %s are not made again", n, f.from()))
	}
}
