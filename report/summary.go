package report

import (
	"fmt"
	"slices"
	"strings"

	"loadtest/units"
)

// end is what follows the last trial: a table, what limits, notes, and the bare number of a search with one answer.
func (t *Text) end(e *End) string {
	last := t.lastLine(e)
	if t.o.Quiet {
		return last
	}
	var b strings.Builder
	switch steps := t.steps(); {
	case t.run.Settings.Method != nil:
		b.WriteString(t.benchmarked(e))
	case t.searching():
		b.WriteString(t.searched(e))
	case len(steps) > 0:
		b.WriteString(t.title() + t.stepTable(steps) + t.totals() + "\n")
		last = "" // it stands above
	}
	b.WriteString(t.notes())
	return b.String() + last
}

// lastLine is all that a quiet run prints: a search's number if it has one answer, else the line of the last step.
func (t *Text) lastLine(e *End) string {
	if t.searching() && t.run.Settings.Method == nil {
		return t.result(e)
	}
	if s := t.steps(); len(s) > 0 {
		return t.line(s[len(s)-1])
	}
	return ""
}

// steps are the trials that are no search's, without those that were made again.
func (t *Text) steps() []*Trial {
	all := t.counted(Replay)
	if len(all) == 0 {
		all = t.counted(Ramp)
	}
	if len(all) == 0 {
		return nil
	}
	last := len(all) - 1 // after it comes no other
	return append(slices.DeleteFunc(all[:last:last], (*Trial).again), all[last])
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

// share is a stream's factor on the load.
func (t *Text) share(name string) float64 {
	if s := t.stream(name); s != nil && s.Share > 0 {
		return s.Share
	}
	return 1
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

// alike says whether all streams carry the same load in packets of the same size: then one row is enough. Those that have a pace
// of their own do not.
func (t *Text) alike() bool {
	if t.run.Settings.RateFactor != nil && len(t.run.Streams) > 1 {
		return false
	}
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
	return units.Ratio(min(*bps / *line, 1)).String()
}

// totals are the packets beside the books, over all trials.
func (t *Text) totals() string {
	var all []Foreign
	var foreign int64
	var duplicated, late *int64
	for _, r := range t.order {
		for i := range r.Streams {
			duplicated, late = plus(duplicated, r.Streams[i].Duplicated), plus(late, r.Streams[i].Late)
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
	return fmt.Sprintf("Foreign %d%s, duplicated %s, late %s", foreign, of, count(duplicated), count(late))
}

// plus adds what was measured.
func plus(sum, n *int64) *int64 {
	if n == nil {
		return sum
	}
	return new(value(sum) + *n)
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
	var untagged, sent, unsent, intended, missed, waited, pauses, broken int64
	var p99, top *int64
	for _, r := range t.counted("") {
		waited = max(waited, r.DiskWaitNs)
		for i := range r.Streams {
			s := &r.Streams[i]
			if s.Received != nil { // else nothing is matched
				untagged, sent = untagged+s.Untagged, sent+s.Sent
			}
			if r.Verdict != Invalid { // an invalid trial says so itself
				unsent, intended = unsent+s.Unsent, intended+s.Intended
				p99, top = most(p99, s.Lateness.P99Ns), most(top, s.Lateness.MaxNs)
			}
		}
		for i := range r.Ports {
			missed += r.Ports[i].Missed
			pauses += value(r.Ports[i].Pauses)
			broken += value(r.Ports[i].Broken)
		}
	}
	out := ""
	if untagged > 0 {
		out += fmt.Sprintf("note: %d of %d packets matched by flow: a copy can hide a loss\n", untagged, sent)
	}
	if unsent > 0 {
		out += fmt.Sprintf("note: %d packets unsent (%s): the tester was late, p99 %s, max %s\n", unsent, part(unsent, intended), delay(p99), delay(top))
	}
	if waited > 0 {
		out += fmt.Sprintf("note: packets waited up to %s for the disk: the tester is limited by disk. A lower rate, a faster disk, or --memory\n", delay(&waited))
	}
	if pauses > 0 {
		out += fmt.Sprintf("note: %d PAUSE frames came: it is the other end that held the tester up (flow control)\n", pauses)
	}
	if broken > 0 {
		out += fmt.Sprintf("note: %d frames came in broken: cable or optic; what they were is lost without the device\n", broken)
	}
	if missed > 0 {
		out += fmt.Sprintf("note: %d packets missed by the tester's own receive path: those trials say nothing about the device\n", missed)
	}
	return out
}
