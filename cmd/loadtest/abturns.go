package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"loadtest/report"
)

// again is how many measurements in a row may say nothing before ab gives up.
const again = 3

// turns are the measurements of an ab under way.
type turns struct {
	*ab
	out, talk io.Writer
	measuring []string // verb and arguments
	file      io.WriteCloser

	made        int // measurements that count
	differences []float64
	grid        float64 // percent: the coarsest search's step
	spent       time.Duration
	atTop       int    // measurements that ended at the highest load, and what that was
	top         string // "line", "asked"
}

func (t *turns) say(format string, a ...any) {
	if !t.quiet {
		fmt.Fprintf(t.talk, format, a...)
	}
}

// open makes the JSON file.
func (t *turns) open(out io.Writer) (err error) {
	switch {
	case t.json == "-":
		t.file, t.out = nowhere{out}, io.Discard
	case t.json != "":
		if t.file, err = os.Create(t.json); err != nil {
			return usagef("--json: %w", err)
		}
	default:
		t.file = nowhere{io.Discard}
	}
	return nil
}

// nowhere is what need not be closed.
type nowhere struct{ io.Writer }

func (nowhere) Close() error { return nil }

func (t *turns) close() error { return t.file.Close() }

// write writes a line of JSON, in the form of a run's records.
func (t *turns) write(kind string, v any) error {
	body, err := json.Marshal(v)
	if err == nil {
		_, err = fmt.Fprintf(t.file, "{\"type\":%q,\"v\":%d,%s\n", kind, report.Version, body[1:])
	}
	if err != nil {
		return portError{fmt.Errorf("--json: %w", err)}
	}
	return nil
}

// measure makes a setting and measures with it, again where that says nothing.
func (t *turns) measure(ctx context.Context, s sideOf) (*measurement, error) {
	for repeats := 0; ; repeats++ {
		if err := t.set(ctx, s); err != nil {
			return nil, err
		}
		begun := time.Now()
		m, err := t.child(ctx)
		if err == nil {
			t.made++
			if m.Limit == report.ByLine || m.Limit == report.ByAsked {
				t.atTop, t.top = t.atTop+1, m.Limit
			}
			m.Number, m.Setting, m.Repeats, m.Seconds = t.made, s.name, repeats, time.Since(begun).Seconds()
			return m, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		err = fmt.Errorf("setting %s: %w", s.name, err)
		if exitCode(err) != exitNotMeasured {
			return nil, err
		}
		if repeats+1 == again {
			return nil, notMeasured(fmt.Sprintf("%v; %d times in a row", err, again))
		}
		t.say("again  %v\n", err)
	}
}

// set runs the shell command of a setting.
func (t *turns) set(ctx context.Context, s sideOf) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", s.command)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = time.Second // for what goes on in the background and holds the pipes
	ownGroup(cmd)
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return nil
	}
	last := ""
	if text := strings.TrimSpace(said.String()); text != "" {
		last = ": " + text[strings.LastIndexByte(text, '\n')+1:]
	}
	return notMeasured(fmt.Sprintf("--%s %q failed: %v%s", strings.ToLower(s.name), s.command, err, last))
}

// recordsTo is the variable that tells a measurement where ab wants its records. As a flag it would be in the saved run's command, and
// nobody could repeat that.
const recordsTo = "LOADTEST_AB_JSON"

// measured are the program's arguments, with the flag that an ab asks for. What this process starts is none of ab's measurements.
func measured(args []string) []string {
	file := os.Getenv(recordsTo)
	if file == "" || len(args) == 0 {
		return args
	}
	_ = os.Unsetenv(recordsTo)
	return slices.Insert(slices.Clone(args), 1, "--json", file)
}

// patience is how long a measurement that was told to end may take to do so.
const patience = 30 * time.Second

// child is this program once more, with the verb that measures.
func (t *turns) child(ctx context.Context) (*measurement, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, notMeasured(err.Error())
	}
	dir, err := os.MkdirTemp("", "loadtest-ab")
	if err != nil {
		return nil, notMeasured(err.Error())
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "run.jsonl")
	cmd := exec.CommandContext(ctx, self, t.measuring...)
	cmd.Env = append(os.Environ(), recordsTo+"="+file)
	cmd.Cancel = func() error { // from a terminal it had the signal already, and takes both for one
		var stop interrupted
		if errors.As(context.Cause(ctx), &stop) {
			return cmd.Process.Signal(stop.Signal)
		}
		return cmd.Process.Signal(syscall.SIGTERM)
	}
	cmd.WaitDelay = patience
	var said bytes.Buffer
	cmd.Stderr = &said
	if t.verbose && !t.quiet {
		shown := &indent{to: t.talk, fresh: true}
		cmd.Stdout, cmd.Stderr = shown, io.MultiWriter(&said, shown)
	}
	err = cmd.Run()
	if cmd.ProcessState == nil {
		return nil, notMeasured(err.Error())
	}
	return read(file, cmd.ProcessState.ExitCode(), reason(said.String()))
}

// reason is what a measurement said why it failed: its last line with the program's name, to the end.
func reason(talk string) string {
	if i := strings.LastIndex("\n"+talk, "\nloadtest: "); i >= 0 {
		return strings.TrimSpace(talk[i+len("loadtest: "):])
	}
	return ""
}

// read takes the limit from a measurement's records.
func read(file string, code int, why string) (*measurement, error) {
	var log *report.Log
	f, err := os.Open(file)
	if err == nil {
		log, err = report.Read(f)
		f.Close()
	}
	switch {
	case code == exitUsage:
		return nil, usageError{errors.New(why)}
	case err != nil:
		return nil, notMeasured(fmt.Sprintf("exit %d: %s", code, why))
	}
	r := &savedRun{}
	r.tell(log)
	id := ""
	if r.run != nil {
		id = idOf(r.run)
	}
	switch {
	case code == exitFail:
		return nil, failure{fmt.Errorf("no rate without loss, so there is nothing to compare (run %s); with a tolerance: --loss 0.1%% behind --", id)}
	case code != exitPass:
		return nil, notMeasured(fmt.Sprintf("exit %d: %s", code, why))
	case len(r.answers) != 1:
		return nil, usagef("%d answers in run %s; want one, to compare", len(r.answers), id)
	}
	v := r.answers[0]
	m := &measurement{RateBps: v.RateWireBps, RatePps: v.RatePps, Factor: v.LoadFactor, Limit: v.Limit, Run: id, Precision: precision(r.run, v)}
	if m.RateBps == nil && m.Factor == nil || m.load() <= 0 {
		return nil, notMeasured("no rate in run " + id)
	}
	return m, nil
}

// precision is a step of the search as a share of its answer.
func precision(run *report.Run, v *report.Verdict) float64 {
	set := run.Settings
	for _, p := range [][2]*float64{{v.PrecisionFactor, v.LoadFactor}, {v.PrecisionBps, v.RateWireBps}, {set.PrecisionPps, v.RatePps}} {
		if p[0] != nil && p[1] != nil && *p[1] > 0 {
			return *p[0] / *p[1]
		}
	}
	if len(set.Goals) > 0 {
		return set.Goals[0].Width
	}
	return 0
}

// idOf is the id that a run was saved under; "" if it was not.
func idOf(run *report.Run) string {
	_, runs, err := savedRuns()
	i := slices.IndexFunc(runs, func(r *savedRun) bool {
		return r.run != nil && r.run.Time.Equal(run.Time) && slices.Equal(r.run.Command, run.Command)
	})
	if err != nil || i < 0 {
		return ""
	}
	return runs[i].id
}

// An indent writes lines further to the right.
type indent struct {
	to    io.Writer
	fresh bool // at the beginning of a line
}

func (w *indent) Write(b []byte) (int, error) {
	var out []byte
	for _, c := range b {
		if w.fresh && c != '\n' {
			out = append(out, "       "...)
		}
		out, w.fresh = append(out, c), c == '\n'
	}
	if _, err := w.to.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}
