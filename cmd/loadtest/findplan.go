package main

import (
	"fmt"
	"math"
	"time"

	"loadtest/search"
	"loadtest/trial"
	"loadtest/units"
)

// plan says what the search would be.
func (f *findLimit) plan(s *session, l loadRange, goals []search.Goal) error {
	var least, most time.Duration
	loops := int64(0)
	for i, g := range goals {
		short, long := f.lasts(s, l, g)
		if i > 0 && f.strategy == ladder { // what came back of the highest load is known by then
			short -= f.slow
		}
		least, most, loops = least+short, most+long, max(loops, g.Loops)
	}
	top := units.Rate{Kind: kind(l.unit), Value: l.max}
	loads := "up to " + s.per(top)
	if l.step > 0 {
		loads += fmt.Sprintf(", in steps of %v", units.Rate{Kind: top.Kind, Value: l.step})
	} else {
		loads += fmt.Sprintf(", to %v of the answer", f.width)
	}
	if loops > 0 {
		half := units.Rate{Kind: top.Kind, Value: l.max / 2}
		at := func(load float64) time.Duration { return s.length(l.spec(load, search.Goal{Loops: loops})) }
		loads += fmt.Sprintf("; a trial of %s: %v at %v, %v at %v", passes(loops), said(at(top.Value)), short(top), said(at(half.Value)), short(half))
	}
	return s.plan(loads, least, most)
}

func (l loadRange) spec(load float64, g search.Goal) trial.Spec {
	return trial.Spec{Unit: l.unit, Load: []trial.Point{{Load: load}}, Duration: g.Trial, Loops: g.Loops}
}

// lasts is how long a search takes at least, where the highest load passes at once, and, where it is not, mostly at most.
func (f *findLimit) lasts(s *session, l loadRange, g search.Goal) (least, most time.Duration) {
	one := func(load float64) time.Duration { return s.length(l.spec(load, g)) }
	if f.strategy == ladder {
		sure := 1
		if lead, ok := g.Rule.(search.Lead); ok {
			sure = lead.By
		}
		// Two loads are tried again and again, one of which may take all trials.
		return f.slow + time.Duration(sure)*one(l.max), lasting(2*f.slow.Seconds() + float64(g.Rule.Most()+2*sure)*one(l.max/2).Seconds())
	}
	seconds, load := 0.0, l.max
	for range 2 + int(math.Ceil(math.Log2(max(1, l.max/l.step)))) { // the lower a load, the longer its passes take
		seconds += float64(g.Rule.Most())*one(load).Seconds() + f.warmup.Seconds()
		load = max(load/2, l.step)
	}
	return f.warmup + one(l.max), lasting(seconds)
}
