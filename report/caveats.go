package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"loadtest/units"
)

// caveats are what to know before the answers are believed, a line each.
func (t *Text) caveats() string {
	var b strings.Builder
	for _, v := range t.answer {
		where := ""
		if len(t.answer) > 1 {
			where = strings.TrimSpace(v.Stream+" "+goal(v)) + ": "
			if len(t.run.Settings.Sizes) > 1 {
				where = v.Size + ", " + where
			}
		}
		for _, note := range t.doubts(v) {
			b.WriteString(where + note + "\n")
		}
	}
	return b.String()
}

// within is a goal in words.
func within(v *Verdict) string {
	if v.GoalLossRatio == 0 {
		return "without loss"
	}
	return "with a loss of " + units.Loss(v.GoalLossRatio).String() + " at most"
}

// has says whether an answer is flagged so.
func (v *Verdict) has(flag string) bool { return slices.Contains(v.Flags, flag) }

// soft says whether an interval says more than a rate.
func (v *Verdict) soft() bool {
	return v.has(FlagSoft) && v.SoftLowBps != nil && v.SoftHighBps != nil && v.LossPps != nil
}

func (t *Text) doubts(v *Verdict) (notes []string) {
	if above := t.numbered(v.AboveTrial); v.RateWireBps == nil && v.LoadFactor == nil && v.Limit == ByDevice && above != nil && above.Verdict == Fail {
		var loss *float64
		for i := range above.Streams {
			loss = most(loss, above.Streams[i].LossRatio)
		}
		notes = append(notes, fmt.Sprintf("no rate %s; lowest tried %s had loss %s", within(v), t.scale(above.RateWireBps).rate(above.RateWireBps), share(loss)))
	}
	if v.Background != nil {
		notes = append(notes, t.background(v)...)
	}
	if v.soft() {
		sc := t.scale(v.SoftLowBps)
		notes = append(notes, fmt.Sprintf("soft limit: from %s to %s some trials of %s are clean and some are not, with %s packets lost a second; by the rule (%s) it is %s",
			sc.number(v.SoftLowBps), sc.rate(v.SoftHighBps), short(v.TrialNs), two(*v.LossPps), v.Rule, sc.rate(v.RateWireBps)))
	}
	if v.has(FlagUnstable) && !v.soft() {
		notes = append(notes, fmt.Sprintf("unstable: %d of %d trials at the rate were clean", v.Clean, v.Clean+v.Lossy))
	}
	if v.SlowStartNs != nil {
		notes = append(notes, fmt.Sprintf("slow start: for about %s after a change of load the device forwards less; it was measured warm", short(*v.SlowStartNs)))
	}
	if v.has(FlagDrifted) {
		notes = append(notes, "drifted: the first bounds of this search were others at its end; measure again")
	}
	return notes
}

// background says what is lost at every load, and how to measure what is above that.
func (t *Text) background(v *Verdict) []string {
	b := v.Background
	var of []TrialStream
	if n := len(t.order); n > 0 {
		of = t.order[n-1].Streams
	}
	line := func(bps *float64) string {
		if share := t.ofLine(bps, of...); share != absent {
			return share
		}
		return t.scale(bps).rate(bps)
	}
	top, passes := "; no cliff up to there", "What passes apart from that"
	if b.CliffBps != nil {
		top, passes = "; cliff at "+line(b.CliffBps), "The cliff"
	}
	return []string{
		fmt.Sprintf("background loss %s (95 %%: %s..%s) at every load from %s to %s%s", two(b.Ratio), two(b.Low), two(b.High), line(b.FromBps), line(b.ToBps), top),
		fmt.Sprintf("half of the %s trials at %s have no loss, by luck. %s is measured by --loss %g",
			short(v.TrialNs), t.scale(b.HalfBps).rate(b.HalfBps), passes, b.Goal),
	}
}

// two is a number in two digits that count: 1.0e-06 as 1.0e-6.
func two(x float64) string {
	text := fmt.Sprintf("%.2g", x)
	if x > 0 && x < 1e-3 {
		text = strings.Replace(fmt.Sprintf("%.1e", x), "e-0", "e-", 1)
	}
	return text
}

func short(ns int64) string { return time.Duration(ns).Round(time.Millisecond).String() }
