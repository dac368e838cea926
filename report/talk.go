package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"loadtest/units"
)

// ports is a line for each of the tester's ports: "eth2   10G mlx5_core, afxdp zero-copy, 00:1b:21:00:00:02".
func ports(r *Run) string {
	var b strings.Builder
	for _, p := range r.Ports {
		var facts []string
		if p.LineBps != nil {
			facts = append(facts, line(*p.LineBps))
		}
		if p.Driver != "" && p.Driver != p.Backend {
			facts = append(facts, p.Driver)
		}
		parts := []string{strings.Join(facts, " "), strings.TrimSpace(p.Backend + " " + p.Mode), p.MAC}
		if p.MTU > 0 {
			parts = append(parts, fmt.Sprintf("MTU %d", p.MTU))
		}
		parts = append(parts, p.Addresses...)
		b.WriteString(talk(p.Name, joined(parts)))
	}
	return b.String()
}

// line is a line rate as ports are sold: "100M", "2.5G".
func line(bps float64) string {
	if bps < 1e9 {
		return plain(Number(bps*1e3)) + "M"
	}
	return plain(&bps) + "G"
}

// joined leaves out what is empty.
func joined(parts []string) string {
	var some []string
	for _, p := range parts {
		if p != "" {
			some = append(some, p)
		}
	}
	return strings.Join(some, ", ")
}

// changes is a line for each stream of which the source's packets do not leave as they are: "eth2→eth3  office.pcap, 90210 packets,
// 61.2 MB: skipped oversize 300, snapped 12; rewritten mac 89898".
func changes(r *Run) string {
	var b strings.Builder
	for i := range r.Streams {
		s := &r.Streams[i]
		var done []string
		for _, by := range []struct {
			word   string
			counts map[string]int64
		}{{"skipped", s.Skipped}, {"rewritten", s.Rewritten}} {
			var of []string
			for _, what := range slices.Sorted(maps.Keys(by.counts)) {
				if n := by.counts[what]; n > 0 {
					of = append(of, fmt.Sprintf("%s %d", what, n))
				}
			}
			if of != nil {
				done = append(done, by.word+" "+strings.Join(of, ", "))
			}
		}
		if done == nil {
			continue
		}
		text := s.Source
		if s.CapturePackets != nil {
			text += fmt.Sprintf(", %d packets", *s.CapturePackets)
		}
		if s.CaptureBytes != nil {
			text += ", " + units.Bytes(*s.CaptureBytes).String()
		}
		b.WriteString(talk(s.Name, text+": "+strings.Join(done, "; ")))
	}
	return b.String()
}

// event is an event's line: "hello  eth2→eth3 256 of 256 back".
func event(e *Event) string {
	if e.Port != "" {
		return talk(e.Event, e.Port+": "+e.Text)
	}
	return talk(e.Event, e.Text)
}

// ended says why a run ended, unless it ended as it should.
func ended(e *End) string {
	switch {
	case e.Reason != "":
		return talk("end", e.Reason)
	case e.Interrupted:
		return talk("end", "interrupted; the result so far is complete")
	}
	return ""
}

// talk is a line of preparation: a word in a column of its own, then what is to be said.
func talk(word, text string) string { return pad(word, 5) + "  " + text + "\n" }

// streams says in a few words what goes where: "eth2 ⇄ eth3, both directions at once; load per direction".
func streams(r *Run) string {
	s := r.Streams
	switch {
	case len(s) == 0:
		return ""
	case len(s) == 1 && s[0].RX == "":
		return named(&s[0]) + s[0].TX + ", sent only"
	case len(s) == 1:
		return named(&s[0]) + s[0].TX + " → " + s[0].RX
	case len(s) == 2 && s[0].TX == s[1].RX && s[0].RX == s[1].TX:
		a, b := s[0].TX, s[0].RX
		if named(&s[0]) != "" && named(&s[1]) != "" {
			a, b = s[0].Name, s[1].Name
		}
		return a + " ⇄ " + b + ", both directions at once; load per direction"
	}
	return fmt.Sprintf("%d streams at once; load per stream", len(s))
}

// named is a stream's name, if it is one that a user gave and not made of its ports.
func named(s *Stream) string {
	if s.Name == s.TX || s.Name == s.TX+"→"+s.RX {
		return ""
	}
	return s.Name + ": "
}

// size is what frames a stream has: the size's own name, else the mean with FCS.
func size(label string, s *Stream) string {
	switch {
	case label != "":
		return label
	case s == nil || s.MeanBytes == nil:
		return absent
	case *s.MeanBytes == float64(int(*s.MeanBytes)):
		return units.Size(*s.MeanBytes).String()
	}
	return fmt.Sprintf("%.1f B mean", *s.MeanBytes)
}
