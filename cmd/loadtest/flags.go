package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"loadtest/packet"
	"loadtest/units"
)

// A value is a flag of a type with a parser of its own.
type value[T any] struct {
	to    *T
	text  string
	parse func(string) (T, error)
	kind  string
}

func (v *value[T]) String() string { return v.text }
func (v *value[T]) Type() string   { return v.kind }
func (v *value[T]) Set(s string) error {
	t, err := v.parse(s)
	if err != nil {
		return err
	}
	*v.to, v.text = t, s
	return nil
}

func rateVar(f *pflag.FlagSet, to *units.Rate, name, short, usage string) {
	f.VarP(&value[units.Rate]{to: to, parse: units.ParseRate, kind: "rate"}, name, short, usage)
}

func durationVar(f *pflag.FlagSet, to *time.Duration, name, short string, or time.Duration, usage string) {
	*to = or
	text := ""
	if or != 0 {
		text = or.String()
	}
	f.VarP(&value[time.Duration]{to: to, text: text, parse: units.ParseDuration, kind: "time"}, name, short, usage)
}

// common are the flags of every verb that sends.
type common struct {
	sources
	rate     units.Rate
	duration time.Duration
	drain    time.Duration
	credit   time.Duration
	unsent   units.Loss
	tag      packet.TagMode
	cpus     []int
	eal      string
	seed     uint64
	interval time.Duration
	json     string
	name     string
	verbose  bool
	quiet    bool
	noColor  bool
	noSave   bool
}

func (c *common) flags(f *pflag.FlagSet, rate, duration string) {
	rateVar(f, &c.rate, "rate", "b", rate)
	durationVar(f, &c.duration, "duration", "D", 0, duration)
	f.VarP(f.Lookup("duration").Value, "d", "d", "")
	f.MarkHidden("d")
	durationVar(f, &c.drain, "drain", "", 50*time.Millisecond, "silence of our packets that ends a trial")
	durationVar(f, &c.credit, "credit", "", 10*time.Millisecond, "how late a packet may be sent; what is older stays unsent")
	c.unsent = 0.002
	f.Var(&value[units.Loss]{to: &c.unsent, text: "0.2%", parse: units.ParseLoss, kind: "share"}, "max-unsent",
		"that may stay unsent in a trial that counts; 0 on simulated ports")
	f.Var(&value[packet.TagMode]{to: &c.tag, text: "auto", parse: parseTag, kind: "mode"}, "tag",
		"which packets get a tag: auto (room of zeros), always (any room), never")
	f.Var(&value[[]int]{to: &c.cpus, parse: parseCPUs, kind: "list"}, "cpu", "CPUs for the ports' threads, which then never sleep, as 2,3 or 2-5")
	f.StringVar(&c.eal, "eal", "", "`text` arguments for DPDK's environment, as \"--iova-mode=va --file-prefix=a\"")
	f.Uint64Var(&c.seed, "seed", 0, "`number` of all chance (default drawn at random; the results have it)")
	durationVar(f, &c.interval, "interval", "", time.Second, "between samples of a running trial, in the progress line and in JSON")
	f.StringVar(&c.json, "json", "", "`file` JSON lines as it goes; - is standard output")
	f.StringVarP(&c.name, "name", "n", "", "`text` the device's name in tables")
	f.BoolVarP(&c.verbose, "verbose", "v", false, "a block for each trial with all counts, as Snabb's, instead of a line")
	f.BoolVarP(&c.quiet, "quiet", "q", false, "only the last line")
	f.BoolVar(&c.noColor, "no-color", false, "no colours; NO_COLOR does the same")
	f.BoolVar(&c.noSave, "no-save", false, "do not save the run in ~/.local/state/loadtest/runs, or $LOADTEST_RUNS")
	f.SortFlags = false
}

// timed says whether a duration was given, under either of its letters.
func (c *common) timed(f *pflag.FlagSet) bool { return f.Changed("duration") || f.Changed("d") }

// parseLoss reads the one goal of a search or a trial.
func parseLoss(s string) (units.Loss, error) {
	if strings.Contains(s, ",") {
		return 0, fmt.Errorf("%q: one goal at a time", s)
	}
	return units.ParseLoss(s)
}

func parseTag(s string) (packet.TagMode, error) {
	switch s {
	case "auto":
		return packet.TagAuto, nil
	case "always":
		return packet.TagAlways, nil
	case "never":
		return packet.TagNever, nil
	}
	return 0, fmt.Errorf("%q: want auto, always or never", s)
}

func parseCPUs(s string) (cpus []int, err error) {
	for _, part := range strings.Split(s, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err1 := strconv.Atoi(from)
		last := first
		var err2 error
		if isRange {
			last, err2 = strconv.Atoi(to)
		}
		if err1 != nil || err2 != nil || first < 0 || last < first || last > 4095 {
			return nil, fmt.Errorf("%q: want CPU numbers as 2,3 or 2-5", s)
		}
		for ; first <= last; first++ {
			cpus = append(cpus, first)
		}
	}
	return cpus, nil
}
