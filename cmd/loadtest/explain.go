package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"loadtest/report"
	"loadtest/search"
	"loadtest/trial"
	"loadtest/units"
)

func newExplain() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [ID | last | FILE]",
		Short: "Make a saved search again from its trials, without any device, and say why each was made",
		Long: "explain hands the trials of a saved search to the search anew: it prints why each was made and what it was taken for, and checks\n" +
			"that the same answer comes out. Exit 1 says that it does not.",
		Example: "  loadtest explain\n  loadtest explain router.jsonl",
		Args:    oneRun,
		RunE: func(c *cobra.Command, args []string) error {
			file, err := findRun(meant(args))
			if err != nil {
				return err
			}
			f, err := os.Open(file)
			if err != nil {
				return usageError{err}
			}
			defer f.Close()
			log, run, err := readLog(f)
			if err != nil {
				return err
			}
			e, err := explained(run, log)
			if err != nil {
				return usagef("%s: %w", file, err)
			}
			fmt.Fprintf(c.ErrOrStderr(), "%s  %s  %s\n", runID(file), clockTime(run.Time), shellLine(run.Command))
			return e.print(c.Context(), c.OutOrStdout())
		},
	}
}

// An explanation is a saved search on its way through the search again.
type explanation struct {
	run      *report.Run
	trials   []*report.Trial
	verdicts []*report.Verdict
	out      io.Writer
	at       int  // the next trial
	ended    bool // the record ends in the middle of a search
}

// explained takes what is needed of a record.
func explained(run *report.Run, log *report.Log) (*explanation, error) {
	e := &explanation{run: run}
	for _, r := range log.Records {
		switch r := r.(type) {
		case *report.Trial:
			if r.Purpose == report.Search || r.Purpose == report.Warmup {
				e.trials = append(e.trials, r)
			}
		case *report.Verdict:
			e.verdicts = append(e.verdicts, r)
		}
	}
	switch {
	case e.run.Settings.Search == "":
		return nil, fmt.Errorf("a %s is no search; want a run of find-limit, selftest or demo", e.run.Verb)
	case len(e.run.Settings.Goals) == 0:
		return nil, errors.New("it was written before searches noted their goals; measure again: loadtest runs repeat")
	}
	return e, nil
}

// print makes the searches again, each size's and goal's.
func (e *explanation) print(ctx context.Context, out io.Writer) error {
	e.out = out
	differs := 0
	for i := range max(1, len(e.run.Settings.Sizes)) {
		known := &search.Known{}
		for _, g := range e.run.Settings.Goals {
			if e.at >= len(e.trials) {
				return e.over(differs)
			}
			same, err := e.search(ctx, i, g, known)
			if err != nil {
				return err
			}
			if !same {
				differs++
			}
		}
	}
	return e.over(differs)
}

func (e *explanation) over(differs int) error {
	if differs > 0 {
		return failure{errors.New("not the recorded answer")}
	}
	return nil
}

// search makes one search again, and says whether the recorded answer came out.
func (e *explanation) search(ctx context.Context, size int, g report.Goal, known *search.Known) (same bool, err error) {
	goal, err := e.goal(g)
	if err != nil {
		return false, usageError{err}
	}
	set := &e.run.Settings
	text := fmt.Sprintf("%s search for a loss of %v", set.Search, units.Loss(g.LossRatio))
	if g.Name != "" {
		text += " (" + g.Name + ")"
	}
	if len(set.Sizes) > 0 {
		text += ", " + set.Sizes[size]
	}
	fmt.Fprintf(e.out, "%s: a load is believed by %s, trials of %s\n", text, g.Rule, lengthOf(goal))
	e.ended = false
	from := e.at
	again := e.strategy(goal, known)
	var each *search.Streams
	if set.PerStream {
		var names []string
		for _, st := range e.run.Streams {
			names = append(names, st.Name)
		}
		each = search.PerStream(names, goal.Loss, func() search.Strategy { return e.strategy(goal, &search.Known{}) })
		again = each
	}
	answer, err := search.Run(ctx, e, again, e.options(goal))
	var differ *differs
	var not *search.NotMeasured
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case errors.As(err, &differ):
		fmt.Fprintf(e.out, "%s\n", differ)
		return false, nil
	case err != nil && !e.ended && !errors.As(err, &not):
		return false, portError{err}
	}
	if each == nil || len(each.Limits()) == 0 {
		return e.compare("", &answer, from, err), nil
	}
	same = true
	for _, l := range each.Limits() {
		a := l.Answer
		a.Trials = answer.Trials
		same = e.compare(l.Stream, &a, from, err) && same
	}
	return same, nil
}

// compare says what came out, and what the record says.
func (e *explanation) compare(stream string, a *search.Answer, from int, err error) bool {
	i := slices.IndexFunc(e.verdicts, func(v *report.Verdict) bool {
		return v.Stream == stream && v.GoalLossRatio == a.Goal.Loss && v.Goal == a.Goal.Name && (from >= len(e.trials) || v.Size == e.trials[from].Size)
	})
	now := "no answer"
	switch {
	case a.Load > 0:
		now = units.Rate{Kind: kind(a.Unit), Value: a.Load}.String()
	case a.Background != nil:
		now = fmt.Sprintf("no rate without loss: %.2g is lost at every load", a.Background.Ratio)
	case a.Complete:
		now = "no load passed"
	}
	if e.ended {
		now += " yet: the record ends here"
	} else if err != nil {
		now += ": " + err.Error()
	}
	if stream != "" {
		now = stream + " " + now
	}
	if i < 0 {
		fmt.Fprintf(e.out, "answer: %s; none is recorded\n", now)
		return e.ended || err != nil
	}
	v := e.verdicts[i]
	e.verdicts = slices.Delete(e.verdicts, i, i+1)
	var recorded *float64
	for _, r := range []*float64{v.LoadFactor, v.RateWireBps} {
		if recorded == nil {
			recorded = r
		}
	}
	same := (recorded != nil) == (a.Load > 0) && v.Trials == a.Trials && (v.Background != nil) == (a.Background != nil)
	if same && recorded != nil && a.Unit != trial.Packets {
		load := a.Load
		if st := slices.IndexFunc(e.run.Streams, func(s report.Stream) bool { return s.Name == stream }); st >= 0 && e.run.Streams[st].Share > 0 {
			load *= e.run.Streams[st].Share
		}
		same = math.Abs(*recorded-load) <= 0.01*load // what was really sent, or the load itself
	}
	word := "as recorded"
	if !same {
		word = fmt.Sprintf("but %s in %d trials is recorded", plainOr(recorded), v.Trials)
	}
	fmt.Fprintf(e.out, "answer: %s, in %d trials, %s\n", now, a.Trials, word)
	return same
}

func plainOr(x *float64) string {
	if x == nil {
		return "no rate"
	}
	return fmt.Sprintf("%g", *x)
}

func lengthOf(g search.Goal) string {
	if g.Loops > 0 {
		return passes(g.Loops)
	}
	return said(g.Trial)
}
