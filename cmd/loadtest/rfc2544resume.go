package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"loadtest/internal/plan"
	"loadtest/report"
	"loadtest/units"
)

// findBenchmark is the file of a run; last is the last one of rfc2544.
func findBenchmark(ref string) (string, error) {
	if ref != "last" {
		return findRun(ref)
	}
	dir, runs, err := savedRuns()
	if err != nil {
		return "", err
	}
	for _, r := range runs {
		if r.run != nil && r.run.Settings.Method != nil {
			return r.file, nil
		}
	}
	return "", usagef("no saved run of rfc2544 in %s", dir)
}

// resumeRun is the program once more, with the arguments of a run that is to go on.
func resumeRun(c *cobra.Command, file string) error {
	run, err := asked(file)
	if err != nil {
		return err
	}
	if run.Settings.Method == nil {
		return usagef("run %s is one of %s; want one of rfc2544", runID(file), run.Verb)
	}
	flags := []string{"--resume", file}
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "resume" {
			flags = append(flags, "--"+f.Name+"="+f.Value.String())
		}
	})
	return repeatRun(c, file, flags)
}

// recall reads the trials of the run that this one goes on with.
func (f *benchmark) recall(file string) error {
	in, err := os.Open(file)
	if err != nil {
		return usageError{err}
	}
	defer in.Close()
	log, err := report.Read(in)
	if err != nil {
		return usagef("--resume %s: %w", file, err)
	}
	run, ok := log.Records[0].(*report.Run)
	if !ok || run.Settings.Method == nil {
		return usagef("--resume %s: it is no run of rfc2544", file)
	}
	f.resume, f.before = runID(file), run
	os.Args = withoutResume(os.Args) // what is recorded is to be repeated as a whole
	f.pauses = map[string]*report.Pause{}
	for _, r := range log.Records {
		if b, ok := r.(*report.Benchmark); ok && b.Recovery != nil {
			f.pauses[b.Size] = b.Recovery
		}
	}
	for _, r := range log.Records {
		t, ok := r.(*report.Trial)
		switch {
		case !ok:
			continue
		case t.Cut || t.Reason == "interrupted" || t.Purpose == report.Recovery && f.pauses[t.Size] == nil:
			return nil
		}
		f.taken = append(f.taken, t)
	}
	return nil
}

// withoutResume is a command line without --resume and its value.
func withoutResume(args []string) (out []string) {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--resume":
			i++
		case !strings.HasPrefix(args[i], "--resume="):
			out = append(out, args[i])
		}
	}
	return out
}

// same refuses to go on with a run that was asked for something else.
func (f *benchmark) same(set *report.Settings, sizes []string) error {
	if f.before == nil {
		return nil
	}
	was, now := &f.before.Settings, set
	for _, x := range []struct {
		what     string
		was, now any
	}{
		{"maximum in bit/s", num(was.RateWireBps), num(now.RateWireBps)},
		{"precision in bit/s", num(was.PrecisionWireBps), num(now.PrecisionWireBps)},
		{"search", was.Search, now.Search},
		{"sizes", was.Sizes, sizes},
		{"tests", was.Method.Tests, now.Method.Tests},
		{"trials", time.Duration(was.Method.TrialNs), time.Duration(now.Method.TrialNs)},
		{"trials for latency", time.Duration(was.Method.LatencyNs), time.Duration(now.Method.LatencyNs)},
		{"soak", time.Duration(was.Method.SoakNs), time.Duration(now.Method.SoakNs)},
		{"longest burst", time.Duration(was.Method.BurstNs), time.Duration(now.Method.BurstNs)},
		{"searches for bursts", was.Method.Repeats, now.Method.Repeats},
	} {
		if was, now := fmt.Sprint(x.was), fmt.Sprint(x.now); was != now {
			return usagef("--resume %s: its %s: %s, now %s; want the same flags, or a run of its own", f.resume, x.what, was, now)
		}
	}
	return nil
}

func num(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

// from is the id of the run that this one goes on with.
func (f *benchmark) from() string { return f.resume }

// book has the trials that were made before.
func (f *benchmark) book(s *session) *plan.Book {
	b := &plan.Book{Live: s.runner, Rest: func(ctx context.Context) error { return s.pauseFor(ctx, f.rest) }}
	for _, t := range f.taken {
		spec, _ := report.SpecOf(t)
		b.Done = append(b.Done, plan.Done{Spec: spec, Result: report.ResultOf(t)})
	}
	return b
}

// dry says what the benchmark would be.
func (f *benchmark) dry(s *session, l loadRange, p *plan.Plan) error {
	expect, most := p.Total()
	each := time.Duration(s.sized())
	var names []string
	for _, t := range f.tests {
		names = append(names, string(t))
	}
	loads := fmt.Sprintf("%s up to %s", strings.Join(names, ", "), s.per(units.Rate{Value: l.max}))
	return s.plan(loads, expect/each, most/each)
}
