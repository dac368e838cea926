package report

import (
	"fmt"
	"strings"
)

// block is one trial as Snabb prints it, with measured times instead of nominal ones, and with the lines that Snabb has not.
func (t *Text) block(r *Trial) string {
	var b strings.Builder
	if r.Purpose == Warmup {
		fmt.Fprintf(&b, "Warmed up at %s for %s.\n", asked(r), strings.TrimSuffix(seconds(r.DurationNs), " s")+" seconds")
		return b.String()
	}
	fmt.Fprintf(&b, "Applying %s of load.\n", asked(r))
	ingress := ingress(&t.run, r)
	for i := range r.Streams {
		s := &r.Streams[i]
		fmt.Fprintf(&b, "  %s:\n", s.Name)
		fmt.Fprintf(&b, "    TX %d packets (%s MPPS), %d bytes (%s Gbps)\n", s.Sent, six(s.SentPps, 1e6), s.SentBytes, six(s.SentBps, 1e9))
		if s.Lost != nil {
			fmt.Fprintf(&b, "    RX %d packets (%s MPPS), %d bytes (%s Gbps)\n",
				value(s.Received), six(s.ReceivedPps, 1e6), value(s.ReceivedBytes), six(s.ReceivedBps, 1e9))
			fmt.Fprintf(&b, "    Loss: %d ingress drop + %d packets lost (%s)\n", ingress[i], *s.Lost-ingress[i], snabbPercent(s.LossRatio))
		}
		hidden(&b, s)
	}
	for i := range r.Ports {
		p := &r.Ports[i]
		f := portFaults(p)
		if len(p.Foreign) > 0 {
			f = append(f, fmt.Sprintf("foreign %s at %s", examples(p.Foreign), p.Name))
		}
		if f != nil {
			fmt.Fprintf(&b, "  Ports: %s\n", strings.Join(f, "; "))
		}
	}
	if stall := r.stall(); stall != "" && stall != r.Reason {
		fmt.Fprintf(&b, "  Stalled: %s.\n", stall)
	}
	if waited := r.starved(); waited != "" {
		fmt.Fprintf(&b, "  Disk: %s.\n", waited)
	}
	if r.Stopped {
		fmt.Fprintf(&b, "  Stopped early, after %s.\n", seconds(r.DurationNs))
	}
	if r.Cut {
		fmt.Fprintf(&b, "  Interrupted after %s.\n", seconds(r.DurationNs))
	}
	b.WriteString(t.judged(r))
	return b.String()
}

// hidden are the lines of a stream's block for what Snabb does not count.
func hidden(b *strings.Builder, s *TrialStream) {
	if s.Unsent != 0 {
		fmt.Fprintf(b, "    Unsent: %d packets (%s)\n", s.Unsent, snabbPercent(s.UnsentRatio))
	}
	var odd []string
	for _, c := range []struct {
		name string
		n    int64
	}{
		{"duplicated", value(s.Duplicated)}, {"reordered", value(s.Reordered)}, {"late", value(s.Late)}, {"corrupt", value(s.Corrupt)},
		{"surplus", value(s.Surplus)}, {"skipped", s.Skipped},
	} {
		if c.n != 0 {
			odd = append(odd, fmt.Sprintf("%d %s", c.n, c.name))
		}
	}
	if odd != nil {
		fmt.Fprintf(b, "    Apart: %s\n", strings.Join(odd, ", "))
	}
	if s.HalfBps != nil {
		fmt.Fprintf(b, "    Second half: RX %s MPPS (%s Gbps)\n", six(s.HalfPps, 1e6), six(s.HalfBps, 1e9))
	}
	b.WriteString(s.delays())
	if s.Lateness.MaxNs != nil {
		fmt.Fprintf(b, "    Lateness: p50 %s, p99 %s, max %s\n", delay(s.Lateness.P50Ns), delay(s.Lateness.P99Ns), delay(s.Lateness.MaxNs))
	}
}

// judged is a block's last line.
func (t *Text) judged(r *Trial) string {
	reason := r.Reason
	if r.Verdict != Invalid { // the block above has the counts
		reason = news(reason, []string{"lost ", "unsent "})
	}
	because := ""
	if reason != "" {
		because = ": " + reason
	}
	switch {
	case r.Verdict == Pass:
		return "Success" + because + ".\n"
	case r.Verdict == Fail && r.Retries != nil && *r.Retries == 1:
		return "Failed" + because + "; 1 retry remaining.\n"
	case r.Verdict == Fail && r.Retries != nil && *r.Retries > 1:
		return fmt.Sprintf("Failed%s; %d retries remaining.\n", because, *r.Retries)
	case r.Verdict == Fail:
		return "Failed" + because + ".\n"
	case r.Verdict == Invalid:
		return "Invalid" + because + ".\n"
	}
	return ""
}

// asked is the load as Snabb writes it.
func asked(r *Trial) string {
	switch {
	case r.IntendedWireBps != nil:
		return six(r.IntendedWireBps, 1e9) + " Gbps"
	case r.IntendedPps != nil:
		return six(r.IntendedPps, 1e6) + " MPPS"
	case r.IntendedText != "":
		return r.IntendedText
	}
	return absent
}

// snabbPercent is a share as Snabb writes it; a dash where there is nothing to take a share of.
func snabbPercent(ratio *float64) string {
	if ratio == nil {
		return absent
	}
	return fmt.Sprintf("%f%%", *ratio*100)
}

// ingress splits each stream's lost packets: how many of them, at most, the tester's own receiving port dropped. A port's drops
// are given to its streams in their order, and never to more packets than were lost.
func ingress(run *Run, r *Trial) []int64 {
	missed := make(map[string]int64, len(r.Ports))
	for i := range r.Ports {
		missed[r.Ports[i].Name] += r.Ports[i].Missed
	}
	rx := make(map[string]string, len(run.Streams))
	for i := range run.Streams {
		rx[run.Streams[i].Name] = run.Streams[i].RX
	}
	drops := make([]int64, len(r.Streams))
	for i := range r.Streams {
		port := rx[r.Streams[i].Name]
		drops[i] = min(max(missed[port], 0), max(value(r.Streams[i].Lost), 0))
		missed[port] -= drops[i]
	}
	return drops
}
