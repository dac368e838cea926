package report

import (
	"fmt"
	"slices"
	"strings"

	"loadtest/units"
)

// answerTable has a row for each answer, or for each of its streams where they differ.
func (t *Text) answerTable() string {
	alike := t.alike() && !slices.ContainsFunc(t.answer, func(v *Verdict) bool { return v.Stream != "" })
	head := []string{"stream", "size", "goal", ">rate", ">Mpps", ">of line", "a step higher", ">p50", ">p99", ">max"}
	var rows [][]string
	for _, v := range t.answer {
		at, above := t.numbered(v.Trial), t.numbered(v.AboveTrial)
		if v.Stream != "" {
			rows = append(rows, t.answerRow(v, at, above, at.of(v.Stream)))
			continue
		}
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

// of is where a stream is in a trial; -1: nowhere.
func (t *Trial) of(stream string) int {
	if t == nil {
		return -1
	}
	return slices.IndexFunc(t.Streams, func(s TrialStream) bool { return s.Name == stream })
}

// answerRow is the row of one stream of the trial that shows the answer; -1 is all of them, alike, the worst of each.
func (t *Text) answerRow(v *Verdict, at, above *Trial, i int) []string {
	rate, pps, name, part := v.RateWireBps, v.RatePps, "", 1.0
	var of []TrialStream
	if at != nil {
		of = at.Streams
		if i >= 0 {
			of = of[i : i+1]
		}
		if i >= 0 && v.Stream == "" {
			part = t.share(of[0].Name)
			rate, pps = at.offered(&of[0], part)
		} else if pps == nil {
			pps = at.RatePps
		}
	}
	if v.Stream != "" {
		name = v.Stream
	} else if len(of) > 0 {
		name = of[0].Name
	} else if len(t.run.Streams) > 0 {
		name = t.run.Streams[0].Name
	}
	shown, higher := t.scale(rate).rate(rate), t.higher(v, above, i)
	if v.LoadFactor != nil {
		shown = fmt.Sprintf("%s = %s mean", t.factors().number(times(v.LoadFactor, part)), shown)
		if peak := times(t.peak(name), *v.LoadFactor*part); peak != nil {
			shown += ", peak " + t.scale(peak).rate(peak)
		}
	}
	if v.RateWireBps == nil {
		shown = "none without loss"
		if v.GoalLossRatio > 0 {
			shown = "no load passed"
		}
		if above != nil || v.AboveBps != nil || v.AboveFactor != nil {
			higher = "lowest tried " + higher
		}
	}
	if v.soft() && v.RateWireBps != nil {
		sc := t.scale(rate)
		sc.digits = 2
		sc.decimals = 0
		shown = sc.number(v.SoftLowBps) + ".." + sc.rate(v.SoftHighBps)
	}
	p50, p99, top := worst(of)
	return []string{
		name, size(v.Size, t.stream(name)), goal(v), shown, mpps(pps), t.ofLine(rate, of...), higher,
		delay(p50), delay(p99), delay(top),
	}
}

// goal is a goal's loss and its name.
func goal(v *Verdict) string {
	return strings.TrimSpace(units.Loss(v.GoalLossRatio).String() + " " + v.Goal)
}

// higher says what happened above the answer: "6.224 lost 0.096 %", or why nothing was tried there.
func (t *Text) higher(v *Verdict, above *Trial, i int) string {
	if above == nil {
		why := map[string]string{ByLine: " (line rate)", ByAsked: " (highest asked)", ByTester: " (tester)"}[v.Limit]
		switch {
		case v.AboveFactor != nil:
			return t.factors().number(v.AboveFactor) + " failed"
		case v.AboveBps != nil:
			return t.higherRate(v, v.AboveBps) + " failed"
		}
		return absent + why
	}
	of, rate, part := above.Streams, above.RateWireBps, 1.0
	if i >= 0 && i < len(of) {
		of = of[i : i+1]
		part = t.share(of[0].Name)
		rate, _ = above.offered(&of[0], part)
	}
	var loss, unsent *float64
	var lost int64
	for j := range of {
		loss, unsent = most(loss, of[j].LossRatio), most(unsent, of[j].UnsentRatio)
		lost = max(lost, value(of[j].Lost))
	}
	at := t.higherRate(v, rate)
	if above.LoadFactor != nil {
		at = t.factors().number(times(above.LoadFactor, part))
	}
	switch {
	case (above.Verdict == Invalid || lost == 0) && unsent != nil && *unsent > 0: // the tester's limit
		return at + " unsent " + share(unsent)
	case above.Verdict == Invalid || lost == 0:
		return at + " " + above.Verdict
	case above.Stopped: // a ratio of a trial without an end says nothing
		return fmt.Sprintf("%s lost %d; stopped early", at, lost)
	}
	return at + " lost " + share(loss)
}

// higherRate is the rate above an answer; with its unit if there is no answer to have it.
func (t *Text) higherRate(v *Verdict, bps *float64) string {
	if v.RateWireBps == nil {
		return t.scale(bps).rate(bps)
	}
	return t.scale(bps).number(bps)
}

// maxSteps is how many trials a table shows; the lines before it have them all.
const maxSteps = 50

// stepTable has a row for each stream of each replayed trial or step of load.
func (t *Text) stepTable(trials []*Trial) string {
	if len(trials) > maxSteps {
		return ""
	}
	ramp := trials[0].Purpose == Ramp
	head := []string{"stream", "size", ">rate", ">Mpps", ">of line", ">lost", ">share", ">p50", ">p99", ">max"}
	if ramp {
		head = []string{">step", "stream", ">rate", ">received", ">Mpps", ">lost", ">share", ">p50", ">p99", ">max"}
	}
	var rows [][]string
	for _, r := range trials {
		for i := range r.Streams {
			s := &r.Streams[i]
			bps, pps := r.offered(s, t.share(s.Name))
			sc := t.scale(bps)
			row := []string{s.Name, size(r.Size, t.stream(s.Name)), sc.rate(bps), mpps(pps), t.ofLine(bps, *s)}
			if ramp {
				sent := sc.rate(bps)
				if r.LoadFactor != nil {
					sent = t.factors().number(times(r.LoadFactor, t.share(s.Name))) + " = " + sent
				}
				row = []string{fmt.Sprint(r.Number), s.Name, sent, sc.number(r.back(s, t.share(s.Name))), mpps(pps)}
			}
			rows = append(rows, append(row, count(s.Lost), share(s.LossRatio), delay(s.Delay.P50Ns), delay(s.Delay.P99Ns), delay(s.Delay.MaxNs)))
		}
	}
	return columns(head, rows)
}

// peak is the captured peak of a stream; of one that is not known nothing.
func (t *Text) peak(stream string) *float64 {
	if s := t.stream(stream); s != nil {
		return s.PeakBps
	}
	return nil
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
