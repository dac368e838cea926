package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"loadtest/report"
	"loadtest/units"
)

func newRuns() *cobra.Command {
	c := &cobra.Command{
		Use:   "runs",
		Short: "List the saved runs, show one, or repeat it",
		Long: "runs lists what was measured, newest first. A run is called by its id, the beginning of its id, or last; a file of JSON lines\n" +
			"does as well.",
		Example: "  loadtest runs\n  loadtest runs show last",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("runs %q: want show or repeat before the run, as loadtest runs show last", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return listRuns(c.OutOrStdout(), c.ErrOrStderr()) },
	}
	c.AddCommand(newRunsShow(), newRunsRepeat())
	return c
}

// listRuns has a row for each run.
func listRuns(out, talk io.Writer) error {
	dir, runs, err := savedRuns()
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		fmt.Fprintf(talk, "no saved runs in %s\n", dir)
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "id\twhen\tverb\tdevice\texit\tresult")
	for _, r := range runs {
		verb, exit := "–", "–"
		if r.run != nil {
			verb = brief(r.run.Verb, 12)
		}
		if r.end != nil {
			exit = fmt.Sprint(r.end.ExitCode)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.id, clockTime(r.when), verb, r.device(), exit, r.result())
	}
	return w.Flush()
}

func clockTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// device is the name of what was measured, else what went where.
func (r *savedRun) device() string {
	switch {
	case r.run == nil:
		return "–"
	case r.run.Name != "":
		return brief(r.run.Name, 30)
	}
	var names []string
	for _, s := range r.run.Streams {
		names = append(names, s.Name)
	}
	if len(names) > 2 {
		names = append(names[:1], fmt.Sprintf("%d more", len(names)-1))
	}
	return brief(strings.Join(names, ", "), 40)
}

// result says in a few words how a run ended.
func (r *savedRun) result() string {
	switch end := r.end; {
	case r.damage != nil:
		return brief("damaged: "+r.damage.Error(), 70)
	case end == nil && r.held:
		return "still running"
	case end == nil && r.trials < 0:
		return "cut off"
	case end == nil && r.trials == 1:
		return "cut off after 1 trial"
	case end == nil:
		return fmt.Sprintf("cut off after %d trials", r.trials)
	case end.Interrupted:
		return "interrupted"
	case end.Reason != "" && !r.bound():
		return brief(end.Reason, 70)
	case len(r.answers) > 0:
		return brief(r.found(), 70)
	case r.last != nil && r.last.LoadFactor != nil:
		return strings.TrimSuffix(factor(*r.last.LoadFactor)+" "+r.last.Verdict, " "+report.None)
	case r.last != nil && r.last.RateWireBps != nil:
		return strings.TrimSuffix(gbps(*r.last.RateWireBps)+" "+r.last.Verdict, " "+report.None)
	}
	return "–"
}

// bound says whether the tester was the limit, so that the answer is a lower bound.
func (r *savedRun) bound() bool {
	for _, v := range r.answers {
		if v.Limit == report.ByTester && (v.RateWireBps != nil || v.LoadFactor != nil) {
			return true
		}
	}
	return false
}

// factor is a load that is a multiple of the captured pace.
func factor(x float64) string { return units.Rate{Kind: units.Factor, Value: x}.String() }

// found are the answers of a search, one for each size and goal.
func (r *savedRun) found() string {
	var parts []string
	for _, v := range r.answers {
		part := "no load passed"
		switch {
		case v.LoadFactor != nil && v.Limit == report.ByTester:
			part = "at least " + factor(*v.LoadFactor)
		case v.LoadFactor != nil:
			part = factor(*v.LoadFactor)
		case v.RateWireBps != nil && v.Limit == report.ByTester:
			part = "at least " + gbps(*v.RateWireBps)
		case v.RateWireBps != nil:
			part = gbps(*v.RateWireBps)
		}
		if len(r.answers) > 1 && v.Size != "" {
			part = v.Size + " " + part
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

func gbps(bps float64) string { return units.PlainGbps(units.BitRate(bps)) + " Gbps" }

// brief is a foreign text fit for a table: at most so many characters of what can be seen.
func brief(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
	if r := []rune(s); len(r) > most {
		s = string(r[:most-1]) + "…"
	}
	if s = strings.TrimSpace(s); s == "" {
		return "–"
	}
	return s
}
