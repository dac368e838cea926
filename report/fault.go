package report

import (
	"fmt"
	"slices"
	"strings"
)

// faults says what is wrong with a trial: each kind with its streams, then what the ports saw, whether the tester stood still, then
// why it ended or was judged so.
func faults(t *Trial) []string {
	var out []string
	for _, k := range []struct {
		name string
		of   func(*TrialStream) (n, base int64) // base: what a share is taken of; 0 = none
	}{
		{"lost", func(s *TrialStream) (int64, int64) { return value(s.Lost), s.Sent }},
		{"unsent", func(s *TrialStream) (int64, int64) { return s.Unsent, s.Intended }},
		{"duplicated", func(s *TrialStream) (int64, int64) { return value(s.Duplicated), 0 }},
		{"late", func(s *TrialStream) (int64, int64) { return value(s.Late), 0 }},
		{"surplus", func(s *TrialStream) (int64, int64) { return value(s.Surplus), 0 }},
		{"corrupt", func(s *TrialStream) (int64, int64) { return value(s.Corrupt), 0 }},
		{"reordered", func(s *TrialStream) (int64, int64) { return value(s.Reordered), 0 }},
		{"skipped", func(s *TrialStream) (int64, int64) { return s.Skipped, 0 }},
	} {
		var of []string
		for i := range t.Streams {
			s := &t.Streams[i]
			n, base := k.of(s)
			switch {
			case n == 0:
			case base == 0 || t.Stopped: // the share of a trial that ended early is no share of a trial
				of = append(of, fmt.Sprintf("%d %s", n, s.Name))
			default:
				of = append(of, fmt.Sprintf("%d (%s) %s", n, part(n, base), s.Name))
			}
		}
		if of != nil {
			out = append(out, k.name+" "+strings.Join(of, ", "))
		}
	}
	var foreign []Foreign
	for i := range t.Ports {
		for _, f := range t.Ports[i].Foreign {
			foreign = addKind(foreign, f)
		}
		out = append(out, portFaults(&t.Ports[i])...)
	}
	if foreign != nil {
		out = append(out, "foreign "+kinds(foreign))
	}
	if stall := t.stall(); stall != "" {
		out = append(out, stall)
	} else if late := disturbed(t); late != "" {
		out = append(out, late)
	}
	if waited := t.starved(); waited != "" {
		out = append(out, waited)
	}
	if t.Stopped && !strings.HasPrefix(t.Reason, "stopped early") {
		out = append(out, "stopped early")
	}
	if t.Cut {
		out = append(out, "interrupted")
	}
	if r := news(t.Reason, out); r != "" {
		out = append(out, r)
	}
	return out
}

// disturbed says that the tester did not keep the pace, though it sent what it should; "" where it did.
func disturbed(t *Trial) string {
	var of []string
	for i := range t.Streams {
		s := &t.Streams[i]
		if s.Unsent > 0 { // that says it already
			return ""
		}
		if s.LateRatio != nil && *s.LateRatio > mostLate {
			of = append(of, fmt.Sprintf("%.2g %% of %s", *s.LateRatio*100, s.Name))
		}
	}
	if of == nil {
		return ""
	}
	return "pacing disturbed: " + strings.Join(of, ", ") + " left more than 1 ms late"
}

// news is a reason, unless it was told already, or the counts that were told say it: "lost 9 node1" after "lost 9 (0.12 %) node1".
func news(reason string, told []string) string {
	if slices.Contains(told, reason) {
		return ""
	}
	for _, kind := range []string{"lost ", "unsent ", "link down"} {
		for _, s := range told {
			if strings.HasPrefix(reason, kind) && strings.HasPrefix(s, kind) {
				return ""
			}
		}
	}
	return reason
}

func portFaults(p *TrialPort) (out []string) {
	if p.Missed != 0 {
		out = append(out, fmt.Sprintf("missed %d at %s", p.Missed, p.Name))
	}
	if p.TxError != 0 {
		out = append(out, fmt.Sprintf("driver could not send %d at %s", p.TxError, p.Name))
	}
	if p.Down {
		out = append(out, "link down at "+p.Name)
	}
	if n := value(p.Pauses); n > 0 {
		out = append(out, fmt.Sprintf("%d PAUSE frames at %s: the other end held the tester up", n, p.Name))
	}
	if n := value(p.Broken); n > 0 {
		out = append(out, fmt.Sprintf("%d broken frames at %s: cable or optic", n, p.Name))
	}
	return out
}

// examples lists foreign packets with one of each kind: "37 ARP (ARP who-has 10.0.0.1 from …)".
func examples(f []Foreign) string {
	var of []string
	for _, k := range f {
		text := fmt.Sprintf("%d %s", k.Packets, k.Kind)
		if k.Example != "" {
			text += " (" + k.Example + ")"
		}
		of = append(of, text)
	}
	return strings.Join(of, ", ")
}

// kinds lists foreign packets: "37 ARP, 4 LLDP".
func kinds(f []Foreign) string {
	var of []string
	for _, k := range f {
		of = append(of, fmt.Sprintf("%d %s", k.Packets, k.Kind))
	}
	return strings.Join(of, ", ")
}
