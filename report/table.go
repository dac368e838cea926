package report

import (
	"fmt"

	"loadtest/units"
)

// answerTable has a row for each answer, or for each of its streams where they differ.
func (t *Text) answerTable() string {
	alike := t.alike()
	head := []string{"stream", "size", "goal", ">rate", ">Mpps", ">of line", "a step higher", ">p50", ">p99", ">max"}
	var rows [][]string
	for _, v := range t.answer {
		at, above := t.numbered(v.Trial), t.numbered(v.AboveTrial)
		if alike || at == nil || len(at.Streams) == 0 {
			rows = append(rows, t.answerRow(v, at, above, -1))
			continue
		}
		for i := range at.Streams {
			rows = append(rows, t.answerRow(v, at, above, i))
		}
	}
	if alike {
		head = head[1:]
		for i := range rows {
			rows[i] = rows[i][1:]
		}
	}
	return columns(head, rows)
}

// answerRow is the row of one stream of the trial that shows the answer; -1 is all of them, alike, the worst of each.
func (t *Text) answerRow(v *Verdict, at, above *Trial, i int) []string {
	rate, pps, name := v.RateWireBps, v.RatePps, ""
	var of []TrialStream
	if at != nil {
		of = at.Streams
		if i >= 0 {
			of = of[i : i+1]
			rate, pps = of[0].SentBps, of[0].SentPps
		} else if pps == nil {
			pps = at.RatePps
		}
	}
	if len(of) > 0 {
		name = of[0].Name
	} else if len(t.run.Streams) > 0 {
		name = t.run.Streams[0].Name
	}
	p50, p99, top := worst(of)
	return []string{
		name, size(v.Size, t.stream(name)), units.Loss(v.GoalLossRatio).String(),
		t.scale(rate).rate(rate), mpps(pps), t.ofLine(rate, of...), t.higher(v, above, i),
		delay(p50), delay(p99), delay(top),
	}
}

// higher says what happened above the answer: "6.224 lost 0.096 %", or why nothing was tried there.
func (t *Text) higher(v *Verdict, above *Trial, i int) string {
	if above == nil {
		why := map[string]string{ByLine: " (line rate)", ByAsked: " (highest asked)", ByTester: " (tester)"}[v.Limit]
		if v.AboveBps != nil {
			return t.scale(v.AboveBps).number(v.AboveBps) + " failed"
		}
		return absent + why
	}
	of, rate := above.Streams, above.RateWireBps
	if i >= 0 && i < len(of) {
		of = of[i : i+1]
		rate = of[0].SentBps
	}
	var loss *float64
	for j := range of {
		loss = most(loss, of[j].LossRatio)
	}
	at := t.scale(rate).number(rate)
	if above.Stopped { // a ratio of a trial without an end says nothing
		var lost int64
		for j := range of {
			lost = max(lost, value(of[j].Lost))
		}
		return fmt.Sprintf("%s lost %d; stopped early", at, lost)
	}
	if loss == nil || *loss == 0 {
		return at + " " + above.Verdict
	}
	return at + " lost " + share(loss)
}

// replayTable has a row for each stream of each replayed trial.
func (t *Text) replayTable() string {
	head := []string{"stream", "size", ">rate", ">Mpps", ">of line", ">lost", ">share", ">p50", ">p99", ">max"}
	var rows [][]string
	for _, r := range t.counted(Replay) {
		for i := range r.Streams {
			s := &r.Streams[i]
			lost := absent // if nobody looks for it
			if s.Lost != nil {
				lost = fmt.Sprint(*s.Lost)
			}
			rows = append(rows, []string{
				s.Name, size(r.Size, t.stream(s.Name)), t.scale(s.SentBps).rate(s.SentBps), mpps(s.SentPps), t.ofLine(s.SentBps, *s),
				lost, share(s.LossRatio), delay(s.Delay.P50Ns), delay(s.Delay.P99Ns), delay(s.Delay.MaxNs),
			})
		}
	}
	return columns(head, rows)
}

func (t *Text) numbered(n *int) *Trial {
	if n == nil {
		return nil
	}
	return t.trials[*n]
}

// worst is the largest latency of some streams at each percentile.
func worst(of []TrialStream) (p50, p99, top *int64) {
	for i := range of {
		d := &of[i].Delay
		p50, p99, top = most(p50, d.P50Ns), most(p99, d.P99Ns), most(top, d.MaxNs)
	}
	return p50, p99, top
}

func mpps(pps *float64) string {
	if pps == nil {
		return absent
	}
	return fmt.Sprintf("%.3f", *pps/1e6)
}
