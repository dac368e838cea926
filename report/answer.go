package report

import (
	"fmt"
	"strings"
)

// searching says whether the run looks for a rate.
func (t *Text) searching() bool {
	return len(t.answer) > 0 || t.run.Settings.Search != "" || len(t.counted(Search)) > 0
}

// How a search ended.
type ending uint8

const (
	complete    ending = iota // with an answer: a rate, or that none passed
	interrupted               // by a signal
	broken                    // by an error: what was found is true, but no answer
)

// ending is how the search ended. That the tester is the limit is an error with an answer: a lower bound.
func (t *Text) ending(e *End) ending {
	switch {
	case e.Interrupted || e.ExitCode == 130 || e.ExitCode == 143:
		return interrupted
	case e.ExitCode < 2:
		return complete
	}
	for _, v := range t.answer {
		if e.ExitCode == 3 && v.Limit == ByTester && v.RateWireBps != nil {
			return complete
		}
	}
	return broken
}

// searched is a search's table and what limits it, as far as it came; nothing is said about what was not measured.
func (t *Text) searched(e *End) string {
	passed := false
	for _, v := range t.answer {
		passed = passed || v.RateWireBps != nil
	}
	over, out := t.ending(e) == complete, ""
	if passed || over && len(t.answer) > 0 {
		out = t.title() + t.answerTable() + t.latencyTable()
	}
	if over {
		out += t.caveats() + t.effort() + t.limits() + t.carries()
	}
	if len(t.counted("")) == 0 {
		return out
	}
	return out + t.totals() + "\n"
}

// result is a search's last line: the bare number, or what is known where the search did not come to its end.
func (t *Text) result(e *End) string {
	switch end := t.ending(e); {
	case end == interrupted:
		return "interrupted: " + t.known()
	case end == broken && t.latest().RateWireBps != nil:
		return "not finished: " + t.known()
	case end == complete && len(t.answer) == 1:
		if t.run.Settings.RateFactor != nil {
			return bare(t.answer[0].LoadFactor) + "\n"
		}
		return plain(t.answer[0].RateWireBps) + "\n"
	}
	return ""
}

// latest is the last answer; where there is none, what the trials say.
func (t *Text) latest() *Verdict {
	if n := len(t.answer); n > 0 {
		return t.answer[n-1]
	}
	v := &Verdict{}
	for _, r := range t.counted(Search) {
		switch r.Verdict {
		case Pass:
			v.RateWireBps, v.LoadFactor = most(v.RateWireBps, r.RateWireBps), most(v.LoadFactor, r.LoadFactor)
		case Fail:
			v.AboveBps, v.AboveFactor = least(v.AboveBps, r.RateWireBps), least(v.AboveFactor, r.LoadFactor)
		default:
			continue
		}
		v.Trials++
	}
	return v
}

// known says between which loads an unfinished search was: "between 0.500 and 0.625 Gbps after 7 trials".
func (t *Text) known() string {
	v := t.latest()
	low, high, sc := v.RateWireBps, v.AboveBps, t.scale(v.RateWireBps)
	if above := t.numbered(v.AboveTrial); high == nil && above != nil { // a search in packets
		high = above.RateWireBps
	}
	if v.LoadFactor != nil {
		low, high, sc = v.LoadFactor, v.AboveFactor, t.factors()
	}
	what := "nothing passed yet"
	switch {
	case low != nil && high != nil && *high > *low:
		what = fmt.Sprintf("between %s and %s", sc.number(low), sc.rate(high))
	case low != nil:
		what = sc.rate(low) + " passed"
	}
	if len(t.run.Settings.Sizes) > 1 && v.Size != "" {
		what = v.Size + " " + what
	}
	if v.Trials == 1 {
		return what + " after 1 trial\n"
	}
	return fmt.Sprintf("%s after %d trials\n", what, v.Trials)
}

// limits says what limits each answer. Where no load passed, or the limit is not known, it says nothing.
func (t *Text) limits() string {
	words := map[string]string{ByAsked: "the highest load asked for", ByTester: "the tester (a lower bound)"}
	if t.run.Verb == "selftest" {
		words[ByDevice], words[ByTester] = "what came back", "the tester itself"
	}
	var parts []string
	for _, v := range t.answer {
		if v.Limit == "" || v.RateWireBps == nil {
			continue
		}
		what := v.Limit
		if w, ok := words[what]; ok {
			what = w
		}
		if len(t.run.Settings.Sizes) > 1 {
			what += " at " + v.Size
		}
		if len(t.run.Settings.GoalLossRatios) > 1 {
			what += " for loss " + goal(v)
		}
		if len(parts) == 0 || parts[len(parts)-1] != what {
			parts = append(parts, what)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	out := "limited by: " + strings.Join(parts, ", ")
	var alone *float64
	for _, v := range t.answer {
		alone = least(alone, v.TesterBps)
	}
	if alone != nil {
		out += " (tester alone: " + t.scale(alone).rate(alone) + ")"
	}
	return out + ". "
}

// carries says in words what a factor is.
func (t *Text) carries() string {
	if len(t.answer) != 1 || t.answer[0].LoadFactor == nil {
		return ""
	}
	who, verb := "The device", "carries"
	if t.run.Name != "" {
		who = t.run.Name
	}
	if t.answer[0].Limit != ByDevice {
		verb += " at least"
	}
	return fmt.Sprintf("%s %s x%s of the capture's own pace. ", who, verb, bare(t.answer[0].LoadFactor))
}
