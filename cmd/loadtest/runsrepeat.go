package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"loadtest/report"
)

func newRunsRepeat() *cobra.Command {
	return &cobra.Command{
		Use:   "repeat [ID | last | FILE] [-- FLAGS]",
		Short: "Run again what a run was asked for",
		Long: "repeat runs the command line of a saved run again, in the folder that it was started in; last, the newest, if none is named.\n" +
			"FLAGS override its own. Files that it wrote, as by --json, are written again.",
		Example: "  loadtest runs repeat\n  loadtest runs repeat last -- -D 10",
		Args: func(c *cobra.Command, args []string) error {
			before, _ := cutDash(c, args)
			return oneRun(c, before)
		},
		RunE: func(c *cobra.Command, args []string) error {
			before, flags := cutDash(c, args)
			file, err := findRun(meant(before))
			if err != nil {
				return err
			}
			return repeatRun(c, file, flags)
		},
	}
}

// cutDash parts arguments at "--".
func cutDash(c *cobra.Command, args []string) (before, after []string) {
	if n := c.ArgsLenAtDash(); n >= 0 {
		return args[:n], args[n:]
	}
	return args, nil
}

// repeatRun is the program once more, with the arguments of a run and more flags. Its error is that of what it runs.
func repeatRun(c *cobra.Command, file string, flags []string) error {
	run, err := asked(file)
	if err != nil {
		return err
	}
	id := runID(file)
	if len(run.Command) < 2 || run.Command[1] == "runs" {
		return usagef("run %s: its command is %q: nothing to repeat", id, run.Command)
	}
	command := slices.Clone(run.Command)
	at := slices.Index(command, "--") // what follows are arguments
	if at < 0 {
		at = len(command)
	}
	command = slices.Insert(command, at, flags...)
	if err := repeatable(id, run, command); err != nil {
		return err
	}
	line := shellLine(command)
	if here, err := os.Getwd(); run.Folder != "" && (err != nil || here != run.Folder) {
		line = "cd " + shellWord(run.Folder) + " && " + line
		if err := os.Chdir(run.Folder); err != nil {
			return usagef("run %s was started in a folder that cannot be entered now: %w; from another: %s", id, err, shellLine(command))
		}
	}
	fmt.Fprintf(c.ErrOrStderr(), "repeats %s of %s: %s\n", id, clockTime(run.Time), line)
	os.Args = command // as the records of a run tell it
	root := newRoot()
	root.SetArgs(command[1:])
	root.SetIn(c.InOrStdin())
	root.SetOut(c.OutOrStdout())
	root.SetErr(c.ErrOrStderr())
	return root.ExecuteContext(c.Context())
}

// repeatable refuses a command that read what can be read only once, and says what would do.
func repeatable(id string, run *report.Run, command []string) error {
	once := func(s string) bool {
		return s == "/dev/stdin" || strings.HasPrefix(s, "/dev/fd/") || strings.HasPrefix(s, "/proc/self/fd/")
	}
	piped := slices.ContainsFunc(run.Streams, func(s report.Stream) bool { return s.Source == stdin })
	kept := slices.Clone(command)
	for i, a := range kept {
		if once(a) || piped && a == stdin {
			kept[i] = "FILE"
		}
	}
	if slices.Equal(kept, command) && !piped {
		return nil
	}
	return usagef("run %s read its packets from standard input or a pipe, and they are gone. Keep them in a file, then: %s", id, shellLine(kept))
}

// shellLine is a command line as a shell reads it.
func shellLine(command []string) string {
	var words []string
	for _, a := range command {
		words = append(words, shellWord(a))
	}
	return strings.Join(words, " ")
}

// shellWord is one word of it.
func shellWord(s string) string {
	special := func(r rune) bool {
		return !unicode.IsGraphic(r) || unicode.IsSpace(r) || strings.ContainsRune("\"'`$\\|&;<>()*?[]{}~#!", r)
	}
	if s != "" && !strings.ContainsFunc(s, special) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
