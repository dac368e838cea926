package report

import (
	"fmt"
	"strings"

	"loadtest/units"
)

// end is what follows the last trial: a table, what limits, notes, and the bare number of a search with one answer.
func (t *Text) end() string {
	last := t.lastLine()
	if t.o.Quiet {
		return last
	}
	var b strings.Builder
	switch {
	case len(t.answer) > 0:
		b.WriteString(t.title() + t.answerTable() + t.limits())
	case len(t.counted(Replay)) > 0:
		b.WriteString(t.title() + t.replayTable())
		if totals := t.totals(); totals != "" {
			b.WriteString(totals + "\n")
		}
		last = ""
	}
	b.WriteString(t.notes())
	return b.String() + last
}

// lastLine is all that a quiet run prints: a search's number if it has one answer, else a replay's line.
func (t *Text) lastLine() string {
	if len(t.answer) == 1 {
		return plain(t.answer[0].RateWireBps) + "\n"
	}
	if r := t.counted(Replay); len(t.answer) == 0 && len(r) > 0 {
		return t.line(r[len(r)-1])
	}
	return ""
}

// counted are the trials of a purpose; "" is all but warm-ups.
func (t *Text) counted(purpose string) (out []*Trial) {
	for _, r := range t.order {
		if r.Purpose == purpose || purpose == "" && r.Purpose != Warmup {
			out = append(out, r)
		}
	}
	return out
}

// title names the device and its streams.
func (t *Text) title() string {
	title := strings.TrimSpace(pad(t.run.Name, 5) + "  " + streams(&t.run))
	if title == "" {
		return ""
	}
	return title + "\n"
}

// stream finds a stream's description; nil if the run line has none.
func (t *Text) stream(name string) *Stream {
	for i := range t.run.Streams {
		if t.run.Streams[i].Name == name {
			return &t.run.Streams[i]
		}
	}
	return nil
}

// alike says whether all streams carry the same load in packets of the same size: then one row is enough.
func (t *Text) alike() bool {
	for i := range t.run.Streams {
		a, b := &t.run.Streams[0], &t.run.Streams[i]
		if a.Share != b.Share || (a.MeanBytes == nil) != (b.MeanBytes == nil) || a.MeanBytes != nil && *a.MeanBytes != *b.MeanBytes {
			return false
		}
	}
	return true
}

// ofLine is a rate of each of some streams as a share of the slowest line that one of them is sent on.
func (t *Text) ofLine(bps *float64, of ...TrialStream) string {
	var line *float64
	for i := range of {
		for j := range t.run.Ports {
			p := &t.run.Ports[j]
			if s := t.stream(of[i].Name); s != nil && s.TX == p.Name && p.LineBps != nil && *p.LineBps > 0 {
				line = least(line, p.LineBps)
			}
		}
	}
	if line == nil || bps == nil {
		return absent
	}
	return share(Number(*bps / *line))
}

// limits says what limits each answer, then the totals.
func (t *Text) limits() string {
	words := map[string]string{ByAsked: "the highest load asked for", ByTester: "the tester (a lower bound)"}
	var parts []string
	for _, v := range t.answer {
		if v.Limit == "" {
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
			what += " for loss " + units.Loss(v.GoalLossRatio).String()
		}
		if len(parts) == 0 || parts[len(parts)-1] != what {
			parts = append(parts, what)
		}
	}
	out := ""
	if len(parts) > 0 {
		out = "limited by: " + strings.Join(parts, ", ")
		var alone *float64
		for _, v := range t.answer {
			alone = least(alone, v.TesterBps)
		}
		if alone != nil {
			out += " (tester alone: " + t.scale(alone).rate(alone) + ")"
		}
		out += ". "
	}
	return out + t.totals() + "\n"
}

// totals are the packets beside the books, over all trials.
func (t *Text) totals() string {
	var all []Foreign
	var foreign, duplicated, late int64
	for _, r := range t.order {
		for i := range r.Streams {
			duplicated += r.Streams[i].Duplicated
			late += r.Streams[i].Late
		}
		for i := range r.Ports {
			for _, f := range r.Ports[i].Foreign {
				foreign += f.Packets
				all = addKind(all, f)
			}
		}
	}
	of := ""
	if len(all) > 0 {
		of = " (" + kinds(all) + ")"
	}
	return fmt.Sprintf("Foreign %d%s, duplicated %d, late %d", foreign, of, duplicated, late)
}

func addKind(all []Foreign, f Foreign) []Foreign {
	for i := range all {
		if all[i].Kind == f.Kind {
			all[i].Packets += f.Packets
			return all
		}
	}
	return append(all, f)
}

// notes are what a reader must know to trust the numbers.
func (t *Text) notes() string {
	var untagged, sent, unsent, intended, missed int64
	var p99, top *int64
	for _, r := range t.counted("") {
		for i := range r.Streams {
			s := &r.Streams[i]
			untagged, sent = untagged+s.Untagged, sent+s.Sent
			if r.Verdict != Invalid { // an invalid trial says so itself
				unsent, intended = unsent+s.Unsent, intended+s.Intended
				p99, top = most(p99, s.Lateness.P99Ns), most(top, s.Lateness.MaxNs)
			}
		}
		for i := range r.Ports {
			missed += r.Ports[i].Missed
		}
	}
	out := ""
	if untagged > 0 {
		out += fmt.Sprintf("note: %d of %d packets matched by flow: a copy can hide a loss\n", untagged, sent)
	}
	if unsent > 0 {
		out += fmt.Sprintf("note: %d packets unsent (%s): the tester was late, p99 %s, max %s\n", unsent, part(unsent, intended), delay(p99), delay(top))
	}
	if missed > 0 {
		out += fmt.Sprintf("note: %d packets missed by the tester's own receive path: those trials say nothing about the device\n", missed)
	}
	return out
}
