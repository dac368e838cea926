package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"loadtest/search"
	"loadtest/units"
)

// A goalFlag is what --goal says.
type goalFlag struct {
	name        string
	loss, width *units.Loss
	trial, sum  time.Duration
	exceed      *float64
	rule        search.Rule
}

// parseGoal reads name=gold,loss=0,trial=60s,sum=60s,exceed=0,width=0.5%,rule=lead 5 of 21.
func parseGoal(s string) (g goalFlag, err error) {
	const forms = "want name=gold,loss=0.5%,trial=1s,sum=21s,exceed=0.5,width=0.5% or rule=\"lead 5 of 21\", each at most once"
	seen := map[string]bool{}
	for _, part := range strings.Split(s, ",") {
		key, text, ok := strings.Cut(part, "=")
		if !ok || seen[key] {
			return g, fmt.Errorf("%q in %q: %s", part, s, forms)
		}
		seen[key] = true
		switch key {
		case "name":
			g.name = text
		case "loss":
			g.loss, err = pointed(units.ParseLoss(text))
		case "width":
			if g.width, err = pointed(units.ParseLoss(text)); err == nil && *g.width == 0 {
				err = fmt.Errorf("width %q: want a share of the load above 0, as 0.5%%", text)
			}
		case "trial":
			g.trial, err = units.ParseDuration(text)
		case "sum":
			g.sum, err = units.ParseDuration(text)
		case "exceed":
			var x float64
			if x, err = strconv.ParseFloat(text, 64); err != nil || !(x >= 0 && x < 1) {
				err = fmt.Errorf("exceed %q: want the share of the trials that may fail, from 0 to below 1", text)
			}
			g.exceed = &x
		case "rule":
			g.rule, err = search.ParseRule(text)
		default:
			err = fmt.Errorf("unknown key %q", key)
		}
		if err != nil {
			return g, fmt.Errorf("%q: %w; %s", s, err, forms)
		}
	}
	if g.rule != nil && (g.sum > 0 || g.exceed != nil) {
		return g, fmt.Errorf("%q: a rule says what sum and exceed would; want either", s)
	}
	return g, nil
}

func pointed[T any](v T, err error) (*T, error) { return &v, err }

// parseLosses reads the goals' losses.
func parseLosses(s string) (all []units.Loss, err error) {
	for _, part := range strings.Split(s, ",") {
		l, err := units.ParseLoss(part)
		if err != nil {
			return nil, err
		}
		if slices.Contains(all, l) {
			return nil, fmt.Errorf("%q twice", part)
		}
		all = append(all, l)
	}
	slices.Sort(all)
	return all, nil
}

// goals are those of --goal, else one for each of --loss, the strictest first.
func (f *findLimit) aims() (goals []search.Goal, err error) {
	base := search.Goal{Trial: f.duration, Loops: f.loops, Rule: f.strategy.rule(f), Width: float64(f.width)}
	for _, l := range f.losses {
		g := base
		g.Loss = float64(l)
		goals = append(goals, g)
	}
	if len(f.given) == 0 {
		return goals, nil
	}
	goals = nil
	names := map[string]bool{}
	for i, given := range f.given {
		g := base
		if g.Name = given.name; g.Name == "" {
			g.Name = fmt.Sprintf("goal%d", i+1)
		}
		if names[g.Name] {
			return nil, usagef("--goal: two goals are named %s", g.Name)
		}
		names[g.Name] = true
		if given.loss != nil {
			g.Loss = float64(*given.loss)
		}
		if given.width != nil {
			g.Width = float64(*given.width)
		}
		if given.trial > 0 {
			g.Trial, g.Loops = given.trial, 0
		}
		if g.Rule, err = given.believed(g); err != nil {
			return nil, err
		}
		goals = append(goals, g)
	}
	slices.SortStableFunc(goals, func(a, b search.Goal) int { return int(math.Copysign(1, a.Loss-b.Loss)) })
	return goals, nil
}

// believed is the rule of a goal, in MLRsearch's terms: as many trials as fit into the sum, of which the exceed ratio may fail.
func (g *goalFlag) believed(of search.Goal) (search.Rule, error) {
	switch {
	case g.rule != nil:
		return g.rule, nil
	case g.sum == 0 && g.exceed == nil:
		return of.Rule, nil
	case of.Trial == 0:
		return nil, usagef("--goal %s: sum and exceed need trials of a known length, as trial=1s", of.Name)
	}
	n := usualTrials
	if g.sum > 0 {
		n = int(math.Ceil(g.sum.Seconds()/of.Trial.Seconds() - 1e-9))
	}
	if n < 1 || n > 100000 {
		return nil, usagef("--goal %s: %d trials of %v; want 1 to 100000", of.Name, n, of.Trial)
	}
	if g.exceed == nil {
		return search.Sure(n), nil
	}
	return search.Quota{Of: n, Bad: int(*g.exceed * float64(n))}, nil
}

// usualTrials is how many trials a load takes at most before it is believed (MLRsearch's usual sum of 21 s).
const usualTrials = 21

// parseWidth reads how far apart two loads may be at the end.
func parseWidth(s string) (units.Loss, error) {
	w, err := units.ParseLoss(s)
	if err == nil && w < 1e-6 {
		err = fmt.Errorf("%q: want a share of the load of 1e-6 or more, as 0.5%%", s)
	}
	return w, err
}
