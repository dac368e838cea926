package report

import (
	"fmt"
	"strings"
	"time"

	"loadtest/units"
)

// benchmarked has a table for each test of rfc2544, as far as it came, then how it was measured.
func (t *Text) benchmarked(e *End) string {
	out := t.title()
	for _, table := range []func() string{t.throughputTable, t.latencyTable, t.lossTable, t.burstTable, t.recoveryTable, t.soakTable} {
		if text := table(); text != "" {
			out += "\n" + text
		}
	}
	out += "\n"
	for _, b := range t.bench {
		if b.Left != "" {
			out += fmt.Sprintf("not measured: %s of %s: %s\n", b.Test, t.frames(b.Size), b.Left)
		}
	}
	if m := t.run.Settings.Method; m != nil {
		out += "measured by: " + m.words() + "\n"
		for _, d := range m.Deviations {
			out += "not as in RFC 2544: " + d + "\n"
		}
	}
	if t.ending(e) == complete {
		out += t.caveats()
	}
	return out + t.totals() + "\n"
}

// words are the settings.
func (m *Method) words() string {
	span := func(ns int64) string { return bareDuration(time.Duration(ns)) }
	text := fmt.Sprintf("%s; trials of %s, rest %s", strings.Join(m.Tests, ", "), span(m.TrialNs), span(m.RestNs))
	for _, test := range m.Tests {
		switch test {
		case Latency:
			text += ", latency " + span(m.LatencyNs)
		case BackToBack:
			text += fmt.Sprintf(", %d searches for the longest burst up to %s", m.Repeats, span(m.BurstNs))
		case Soak:
			text += ", soak " + span(m.SoakNs)
		}
	}
	return text
}

// bareDuration leaves out zeros: 1m, not 1m0s.
func bareDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// frames names a size.
func (t *Text) frames(label string) string {
	var s *Stream
	if len(t.run.Streams) > 0 {
		s = &t.run.Streams[0]
	}
	return size(label, s)
}

// results are those of a test that were measured.
func (t *Text) results(test string) (out []*Benchmark) {
	for _, b := range t.bench {
		if b.Test == test && b.Left == "" {
			out = append(out, b)
		}
	}
	return out
}

// table is the columns below a title; "" without rows.
func table(head []string, rows [][]string) string {
	if len(rows) == 0 {
		return ""
	}
	return columns(head, rows)
}

func (t *Text) throughputTable() string {
	var rows [][]string
	for _, b := range t.results("throughput") {
		rate, why := "none without loss", b.Limit
		if b.RateBps != nil {
			rate = t.scale(b.RateBps).rate(b.RateBps)
		}
		if b.Why != "" {
			why += ": " + b.Why
		}
		of := absent
		if b.OfMax != nil {
			of = units.Ratio(min(*b.OfMax, 1)).String()
		}
		rows = append(rows, []string{t.frames(b.Size), rate, mpps(b.RatePps), mpps(b.MaxPps), of, why})
	}
	return table([]string{"throughput", ">rate", ">Mpps", ">maximum", ">of maximum", "limited by"}, rows)
}

// offers is a row for each stream of each trial of a purpose.
func (t *Text) offers(purpose, title string) string {
	var rows [][]string
	for _, r := range t.counted(purpose) {
		if r.Verdict == Invalid || r.Cut {
			continue
		}
		for i := range r.Streams {
			s := &r.Streams[i]
			bps, _ := r.offered(s, t.share(s.Name))
			rows = append(rows, []string{t.frames(r.Size), s.Name, t.scale(bps).rate(bps), t.ofLine(r.IntendedWireBps, *s), seconds(r.DurationNs), count(&s.Sent), count(s.Lost), share(s.LossRatio)})
		}
	}
	return table([]string{title, "stream", ">rate", ">of line", ">time", ">sent", ">lost", ">share"}, rows)
}

func (t *Text) lossTable() string { return t.offers(LossCurve, "frame loss") }

func (t *Text) soakTable() string { return t.offers(Soak, "soak") }

func (t *Text) burstTable() string {
	var rows [][]string
	for _, b := range t.results(BackToBack) {
		if b.Bursts == nil {
			continue
		}
		f := b.Bursts
		rows = append(rows, []string{t.frames(b.Size), fmt.Sprintf("%.1f", f.Mean), fmt.Sprintf("%.0f", f.Least), fmt.Sprintf("%.0f", f.Most),
			fmt.Sprintf("%.2f", f.SD), fmt.Sprint(len(f.Lengths)), delay(&f.ImpliedNs), delay(&f.CorrectedNs)})
	}
	return table([]string{"back-to-back", ">frames", ">min", ">max", ">sd", ">searches", ">implied", ">buffer"}, rows)
}

func (t *Text) recoveryTable() string {
	var rows [][]string
	for _, b := range t.results(Recovery) {
		r := b.Recovery
		if r == nil {
			continue
		}
		last := "not told by the counts"
		switch {
		case r.Lost == 0:
			last = "no loss"
		case r.HighNs != nil && *r.LowNs == 0:
			last = "at most " + delay(r.HighNs)
		case r.HighNs != nil:
			last = fmt.Sprintf("%s to %s", delay(r.LowNs), delay(r.HighNs))
		}
		rows = append(rows, []string{t.frames(b.Size), t.scale(r.OverloadBps).rate(r.OverloadBps), t.scale(r.RestBps).rate(r.RestBps), count(&r.Lost), last})
	}
	return table([]string{"recovery", ">overload", ">then", ">lost", "last lost after"}, rows)
}
