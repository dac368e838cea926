package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"loadtest/report"
	"loadtest/units"
)

// ab are the flags of ab.
type ab struct {
	a, b    string
	pairs   int
	within  units.Loss
	json    string
	verbose bool
	quiet   bool
}

func newAB() *cobra.Command {
	f := &ab{}
	c := &cobra.Command{
		Use:   "ab --a COMMAND --b COMMAND [FLAGS] -- find-limit ARGUMENTS",
		Short: "Compare two settings of a device in turns: how much more is B than A",
		Long: "ab measures a device with two settings in turns, A B B A A B B A, so that what drifts meanwhile falls on both alike; a shell\n" +
			"command makes each setting before each measurement. It ends with the difference of B from A and its interval. What stands behind\n" +
			"-- is a verb that finds one limit: " + strings.Join(limiting(), ", ") + ".",
		Example: "  loadtest ab --a true --b true --pairs 2 -- demo\n" +
			"  loadtest ab --a 'ip link set eth2 mtu 1500' --b 'ip link set eth2 mtu 9000' --pairs 2 -- find-limit -b 100M gen eth2 eth3",
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			before, measuring := cutDash(c, args)
			if err := f.check(c, before, measuring); err != nil {
				return err
			}
			return f.run(c, measuring)
		},
	}
	fs := c.Flags()
	fs.StringVar(&f.a, "a", "", "`command` of the shell that makes setting A")
	fs.StringVar(&f.b, "b", "", "`command` of the shell that makes setting B")
	fs.IntVar(&f.pairs, "pairs", 10, "`number` of pairs; drift falls out of an even one")
	fs.Var(&value[units.Loss]{to: &f.within, parse: parseWidth, kind: "share"}, "within", "stop once the interval is this narrow, as 0.5%")
	fs.StringVar(&f.json, "json", "", "`file` JSON lines of measurements and of the difference; - is standard output")
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "show what the measurements print, too")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "only the last line")
	fs.SortFlags = false
	return c
}

// limiting are the verbs that find a limit.
func limiting() []string { return []string{"find-limit", "demo", "selftest"} }

// check refuses what cannot be compared, before anything runs.
func (f *ab) check(c *cobra.Command, before, measuring []string) error {
	const form = "ab --a COMMAND --b COMMAND -- find-limit ARGUMENTS"
	switch {
	case c.ArgsLenAtDash() < 0:
		return usagef("ab: want -- before the verb that measures: %s", form)
	case len(before) > 0:
		return usagef("ab: %q before --; want %s", strings.Join(before, " "), form)
	case len(measuring) == 0:
		return usagef("ab: nothing behind --; want %s", form)
	case !slices.Contains(limiting(), measuring[0]):
		return usagef("ab: %q finds no limit to compare; want one of: %s", measuring[0], strings.Join(limiting(), ", "))
	case strings.TrimSpace(f.a) == "" || strings.TrimSpace(f.b) == "":
		return usagef("ab: want a shell command for each setting, --a and --b; : does nothing")
	case f.pairs < 2:
		return usagef("--pairs %d: want 2 or more: one pair has no interval", f.pairs)
	case slices.Contains(measuring, stdin):
		return usagef("%s: standard input can be read only once: want a file", measuring[0])
	}
	return singular(measuring)
}

// singular refuses flags of a measurement that are none of a verb, that write a file again and again, or that ask for more than one
// answer.
func singular(measuring []string) error {
	verb, rest, err := newRoot().Find(measuring)
	if err != nil {
		return usageError{err}
	}
	if err := verb.ParseFlags(rest); err != nil {
		return flagError(verb, err)
	}
	fs := verb.Flags()
	for _, name := range []string{"json", "output"} {
		if fs.Changed(name) {
			return usagef("--%s behind --: each measurement would write over the last one's; want --json before --, and the runs are saved one by one", name)
		}
	}
	for _, name := range []string{"dry-run", "check", "help"} {
		if fs.Changed(name) {
			return usagef("--%s behind --: it measures nothing", name)
		}
	}
	for _, name := range []string{"sizes", "loss"} {
		if flag := fs.Lookup(name); flag != nil && strings.Contains(flag.Value.String(), ",") {
			return usagef("--%s %s: several answers; want one, to compare", name, flag.Value)
		}
	}
	if fs.Changed("per-stream") {
		return usagef("--per-stream: several answers; want one, to compare")
	}
	if goals, ok := valueOf(fs, "goal").(repeated); ok && len(goals.Texts()) > 1 {
		return usagef("--goal: several answers; want one, to compare")
	}
	return nil
}

// valueOf is the value of a flag; nil: there is none.
func valueOf(fs *pflag.FlagSet, name string) pflag.Value {
	if f := fs.Lookup(name); f != nil {
		return f.Value
	}
	return nil
}

// run measures in turns and tells the difference.
func (f *ab) run(c *cobra.Command, measuring []string) (err error) {
	t := &turns{ab: f, out: c.OutOrStdout(), talk: c.ErrOrStderr(), measuring: measuring}
	if f.quiet {
		t.out = io.Discard
	}
	if err := t.open(c.OutOrStdout()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	if err := t.write("ab", abPlan{Time: time.Now(), Command: os.Args, A: f.a, B: f.b, Pairs: f.pairs}); err != nil {
		return err
	}
	t.say("plan   %d pairs in turns, A B B A: %s\n", f.pairs, shellLine(measuring))
	for i := range f.pairs {
		if err = t.pair(c.Context(), i); err != nil || t.enough() {
			break
		}
		t.left(i + 1)
	}
	var fail failure
	if errors.As(err, &fail) { // no report says it
		fmt.Fprintf(c.ErrOrStderr(), "loadtest: %v\n", err)
	}
	if told := t.end(c.OutOrStdout()); err == nil {
		err = told
	}
	return err
}

// enough says whether the interval is as narrow as wanted; not in the middle of A B B A, where drift is in it.
func (t *turns) enough() bool {
	d := compared(t.differences, t.grid)
	return t.within > 0 && d.Pairs >= 4 && d.Pairs%2 == 0 && *d.Half <= 100*float64(t.within)
}

// left tells after a pair how long the others will take.
func (t *turns) left(done int) {
	if more := t.pairs - done; more > 0 {
		t.say("time   about %v left for %s\n", said(t.spent/time.Duration(done)*time.Duration(more)), pairs(more))
	}
}

// pairs is "3 pairs".
func pairs(n int) string {
	if n == 1 {
		return "1 pair"
	}
	return fmt.Sprintf("%d pairs", n)
}

// A sideOf is one of the two settings.
type sideOf struct{ name, command string }

// pair measures both settings, in the order of the pair.
func (t *turns) pair(ctx context.Context, i int) error {
	begun := time.Now()
	sides := []sideOf{{"A", t.a}, {"B", t.b}}
	if i%2 == 1 {
		slices.Reverse(sides)
	}
	found := map[string]*measurement{}
	for _, s := range sides {
		m, err := t.measure(ctx, s)
		if err != nil {
			return err
		}
		m.Pair, found[s.name] = i+1, m
		if err := t.write("measurement", m); err != nil {
			return err
		}
		if len(found) < 2 {
			fmt.Fprintf(t.out, "%s\n", m)
			continue
		}
		a, b := found["A"], found["B"]
		d := 100 * (b.load() - a.load()) / a.load()
		t.differences, t.grid = append(t.differences, d), max(t.grid, 100*a.Precision, 100*b.Precision)
		fmt.Fprintf(t.out, "%s  %+.2f %%\n", m, d)
	}
	t.spent += time.Since(begun)
	return nil
}

// end tells the difference, of the pairs that there are.
func (t *turns) end(out io.Writer) error {
	d := compared(t.differences, t.grid)
	if d.Limited {
		t.say("note   the pairs differ by less than the searches can tell, %.2g %%: finer by --width or --precision behind --\n", t.grid)
	}
	if t.atTop > 0 {
		t.say("note   %d of %d measurements ended at the highest load that was tried (%s): what lies above it is not seen\n", t.atTop, t.made, t.top)
	}
	if t.json != "-" {
		fmt.Fprintln(out, d)
	}
	return t.write("difference", d)
}

// An abPlan is the first line of ab's JSON.
type abPlan struct {
	Time    time.Time `json:"time"`
	Command []string  `json:"command"`
	A       string    `json:"a"`
	B       string    `json:"b"`
	Pairs   int       `json:"pairs"`
}

// A measurement is one limit that was found.
type measurement struct {
	Number    int      `json:"number"`
	Pair      int      `json:"pair"`
	Setting   string   `json:"setting"` // A or B
	RateBps   *float64 `json:"rate_wire_bps"`
	RatePps   *float64 `json:"rate_pps"`
	Factor    *float64 `json:"load_factor"`
	Precision float64  `json:"precision_ratio"`
	Limit     string   `json:"limit"`
	Run       string   `json:"run"` // its id; "": it was not saved
	Seconds   float64  `json:"duration_s"`
	Repeats   int      `json:"repeats"` // before it: measurements that said nothing
}

// load is what is compared.
func (m *measurement) load() float64 {
	if m.Factor != nil {
		return *m.Factor
	}
	return *m.RateBps
}

// String is a line: "  3  B  6.214 Gbps  12.3 s  7f3a".
func (m *measurement) String() string {
	load := units.BitRate(m.load()).String()
	if m.Factor != nil {
		load = units.Rate{Kind: units.Factor, Value: *m.Factor}.String()
	}
	text := fmt.Sprintf("%3d  %s  %11s  %5.1f s", m.Number, m.Setting, load, m.Seconds)
	if m.Run != "" {
		text += "  run " + m.Run
	}
	if m.Limit != report.ByDevice {
		text += "  limited by " + m.Limit
	}
	return text
}
