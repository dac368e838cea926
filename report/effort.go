package report

import (
	"fmt"
	"strings"
	"time"

	"loadtest/units"
)

// effort says what an answer rests on, a line for all answers that rest on the same: "trials of 1s, believed by lead 5 of 21; 27 trials,
// 11.2 s of traffic". A rate without the length of its trials says little.
func (t *Text) effort() string {
	var b strings.Builder
	for i, v := range t.answer {
		if v.Rule == "" || i > 0 && t.answer[i-1].Rule == v.Rule && t.answer[i-1].TrialNs == v.TrialNs {
			continue
		}
		trials, traffic, same := 0, time.Duration(0), 0
		for _, w := range t.answer[i:] {
			if w.Rule != v.Rule || w.TrialNs != v.TrialNs {
				break
			}
			if same++; w.Stream == "" || same == 1 { // streams have their trials in common
				trials, traffic = trials+w.Trials, traffic+time.Duration(w.TrafficNs)
			}
		}
		length := "one pass"
		if v.TrialNs > 0 {
			length = "trials of " + short(v.TrialNs)
		}
		which := ""
		if same < len(t.answer) {
			which = goal(v) + ": "
		}
		fmt.Fprintf(&b, "%s%s, believed by %s; %d trials, %s of traffic%s\n", which, length, v.Rule, trials, seconds(int64(traffic)), t.below(t.answer[i:i+same]))
	}
	return b.String()
}

// below is what was lost at the rates of goals that allow a loss.
func (t *Text) below(answers []*Verdict) string {
	var parts []string
	for _, v := range answers {
		if v.GoalLossRatio == 0 || v.LossRatio == nil {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s for %s", share(v.LossRatio), units.Loss(v.GoalLossRatio)))
	}
	if parts == nil {
		return ""
	}
	return "; lost at the rate " + strings.Join(parts, ", ")
}
