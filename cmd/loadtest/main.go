// Command loadtest measures what a network device really forwards.
//
//	verb, flags ─→ sources, ports ─→ trial.Runner ─→ search or load program ─→ report ─→ text, JSON, exit code
//
// Only here: process settings, signals, exit. A verb is a file: flags, help with two examples, one call.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// impatience is how long after the first signal a second one means more than the first: timeout(1) signals twice at once.
const impatience = 300 * time.Millisecond

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := (<-signals).(syscall.Signal)
		cancel(interrupted{s})
		for first := time.Now(); ; {
			s = (<-signals).(syscall.Signal)
			if time.Since(first) > impatience {
				break
			}
		}
		fmt.Fprintln(os.Stderr, "loadtest: left at once; finished trials are saved")
		os.Exit(128 + int(s))
	}()
	os.Exit(run(ctx, measured(os.Args[1:]), os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program, for tests too.
func run(ctx context.Context, args []string, in io.Reader, out, talk io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(talk)
	err := root.ExecuteContext(ctx)
	code := exitCode(err)
	if err != nil && !told(err) {
		fmt.Fprintf(talk, "loadtest: %v\n", err)
	}
	return code
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "loadtest",
		Short: "Measures what a network device really forwards",
		Long: "loadtest sends packets through a device at a load, counts exactly what comes back, and finds the highest load without loss.\n\n" +
			"No hardware? loadtest demo",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("%q is no verb; loadtest --help lists them", args[0])
			}
			return nil
		},
		Run: func(c *cobra.Command, _ []string) { _ = c.Help() },
	}
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		name = strings.ReplaceAll(name, "_", "-")
		if name == "bitrate" { // Snabb's name
			name = "rate"
		}
		return pflag.NormalizedName(name)
	})
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(usage)
	for _, g := range []struct {
		id, title string
		verbs     []*cobra.Command
	}{
		{"measure", "Measure:", []*cobra.Command{newFindLimit(), newReplay(), newTransient(), newRFC2544(), newAB()}},
		{"prepare", "Prepare:", []*cobra.Command{newGenpcap(), newGenconf()}},
		{"look", "Look:", []*cobra.Command{newDemo(), newPorts(), newDoctor(), newSelftest(), newInspect()}},
		{"results", "Results:", []*cobra.Command{newRuns(), newExplain()}},
		{"other", "Other:", []*cobra.Command{newVersion()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, v := range g.verbs {
			v.GroupID = g.id
			root.AddCommand(v)
		}
	}
	root.SetHelpCommandGroupID("other")
	root.SetCompletionCommandGroupID("other")
	return root
}
