package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"loadtest/search"
)

// A strategy is how find-limit searches.
type strategy string

const (
	ladder  strategy = "ladder"  // cheap questions first, lead 5 of 21
	bisect  strategy = "bisect"  // Snabb's: halves, and tries again
	rfc2544 strategy = "rfc2544" // halves, one trial of 60 s
	tst009  strategy = "tst009"  // halves, 60 s, a lossy trial is repeated once
)

func parseStrategy(s string) (strategy, error) {
	switch k := strategy(strings.ToLower(s)); k {
	case ladder, bisect, rfc2544, tst009:
		return k, nil
	case "mlr", "mlrsearch":
		return "", fmt.Errorf("%q: MLRsearch itself is not in here; its goals are: --goal loss=0,trial=1s,sum=21s,exceed=0.5 with ladder", s)
	}
	return "", fmt.Errorf("%q: want ladder, bisect, rfc2544 or tst009", s)
}

// trial is the duration of one trial where none is given.
func (k strategy) trial() time.Duration {
	if k == rfc2544 || k == tst009 {
		return time.Minute
	}
	return time.Second
}

// rule is when a load is believed.
func (k strategy) rule(f *findLimit) search.Rule {
	switch k {
	case bisect:
		return search.Retry(f.retries)
	case rfc2544:
		return search.Single{}
	case tst009:
		return search.Verify{Repeats: 1}
	}
	return search.Sure(usualTrials)
}

// choose settles which strategy it is, and refuses flags that it cannot honour.
func (f *findLimit) choose(fs *pflag.FlagSet) error {
	if !fs.Changed("search") && (fs.Changed("retry-count") || f.exec != "") {
		f.strategy = bisect
	}
	not := func(flag, why string) error {
		if fs.Changed(flag) {
			return usagef("--%s is not for --search %s: %s", flag, f.strategy, why)
		}
		return nil
	}
	var all []error
	if f.strategy != bisect {
		all = append(all, not("retry-count", "its rule says how often a load is tried; want --search bisect, or --goal rule=\"retry 3\""))
	}
	if f.strategy == ladder {
		all = append(all, not("warmup", "it looks for a slow start itself; how long that may be: --slow-start"),
			not("exec", "it reads from the losses where to go on; want --search bisect"))
	} else {
		all = append(all, not("slow-start", "it sends uncounted traffic before each new load: --warmup"),
			not("width", "it ends one step of --precision apart"))
	}
	if fs.Changed("width") && fs.Changed("precision") {
		all = append(all, usagef("--width %v and --precision %v: want one of them", f.width, f.precision))
	}
	if f.perStream && f.exec != "" {
		all = append(all, usagef("--per-stream and --exec: a command judges a trial, not its streams; want one of them"))
	}
	if f.perStream && f.latency {
		all = append(all, usagef("--per-stream and --latency: want one of them"))
	}
	if fs.Changed("loss") && fs.Changed("goal") {
		all = append(all, usagef("--loss and --goal: want one of them, as --goal loss=0.5%%"))
	}
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// of makes the search for a goal. Loads are those of the ports that are open.
func (k strategy) of(l loadRange, g search.Goal, slow time.Duration, known *search.Known) search.Strategy {
	if k == ladder {
		return search.Ladder(search.LadderOptions{Goal: g, Max: l.max, Precision: l.step, Unit: l.unit, Share: l.share, SlowStart: slow, Known: known})
	}
	return search.Bisect(search.BisectOptions{Max: l.max, Precision: l.step, Unit: l.unit, Duration: g.Trial, Loops: g.Loops, Rule: g.Rule, Share: l.share})
}
