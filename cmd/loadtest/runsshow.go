package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"loadtest/report"
)

func newRunsShow() *cobra.Command {
	o := report.TextOptions{}
	noColor := false
	c := &cobra.Command{
		Use:     "show [ID | last | FILE]",
		Short:   "Print what a run printed",
		Long:    "show prints a saved run again, also one that was cut off or is still running; last, the newest, if none is named.",
		Example: "  loadtest runs show\n  loadtest runs show -v last",
		Args:    oneRun,
		RunE: func(c *cobra.Command, args []string) error {
			file, err := findRun(meant(args))
			if err != nil {
				return err
			}
			o.Out, o.Err = c.OutOrStdout(), c.ErrOrStderr()
			o.Color = terminal(o.Out) && !noColor && os.Getenv("NO_COLOR") == ""
			return showRun(file, o)
		},
	}
	c.Flags().BoolVarP(&o.Verbose, "verbose", "v", false, "a block for each trial with all counts, as Snabb's, instead of a line")
	c.Flags().BoolVarP(&o.Quiet, "quiet", "q", false, "only the last line")
	c.Flags().BoolVar(&noColor, "no-color", false, "no colours; NO_COLOR does the same")
	return c
}

// meant is the run that the arguments name.
func meant(args []string) string {
	if len(args) == 0 {
		return "last"
	}
	return args[0]
}

// oneRun refuses more than one run.
func oneRun(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef("runs %s: want one run, got %q", c.Name(), args)
	}
	return nil
}

// readLog reads the file of a run.
func readLog(f *os.File) (*report.Log, *report.Run, error) {
	log, err := report.Read(f)
	if err != nil {
		return nil, nil, usagef("%s: %w", f.Name(), err)
	}
	run, ok := log.Records[0].(*report.Run)
	if !ok {
		return nil, nil, usagef("%s: %w", f.Name(), errNoRun())
	}
	return log, run, nil
}

// showRun prints a run: its result, and what was said beside it.
func showRun(file string, o report.TextOptions) error {
	f, err := os.Open(file)
	if err != nil {
		return usageError{err}
	}
	defer f.Close()
	log, run, err := readLog(f)
	if err != nil {
		return err
	}
	if !o.Quiet {
		fmt.Fprintf(o.Err, "%s  %s  %s\n", runID(file), clockTime(run.Time), shellLine(run.Command))
	}
	text := report.NewText(o)
	for _, r := range log.Records {
		if err := text.Write(r); err != nil {
			return err
		}
	}
	switch {
	case isEnd(log):
		return nil
	case held(f):
		fmt.Fprintln(o.Err, "still running")
		return nil
	}
	return text.CutOff()
}
