package search

import (
	"fmt"
	"strconv"
	"strings"

	"loadtest/trial"
)

// A problem is why a trial says nothing about the device.
type problem struct {
	kind trouble
	text string
}

type trouble uint8

const (
	fine trouble = iota
	down
	stalled // the tester stood still
	empty
	tester // unsent, not read in time, dropped on receive, not transmitted
	early  // ended early, and yet within the goal
	late   // only late packets: the trial before was not drained
)

// invalid finds what the tester spoilt in a trial, the gravest first.
func invalid(s *trial.Spec, r *trial.Result, o Options) problem {
	intended := r.Sum(func(s *trial.Stream) int64 { return s.Intended })
	sent := r.Sum(func(s *trial.Stream) int64 { return s.Sent })
	if names := downPorts(r); names != "" {
		return problem{down, "link down: " + names}
	}
	if stall := r.Stall(); stall != "" {
		return problem{stalled, stall}
	}
	if wait := r.Starved; wait > 0 {
		return problem{tester, fmt.Sprintf("packets waited %d ms for the disk: tester limited by disk", max(1, wait.Milliseconds()))}
	}
	if intended == 0 {
		return problem{empty, "nothing to send: no packet was due in this trial"}
	}
	if sent == 0 {
		return problem{tester, fmt.Sprintf("nothing was sent of %d packets: tester limited", intended)}
	}
	if list := unsent(s, r, o.MaxUnsent); list != "" {
		if n := r.Pauses(); n > 0 {
			return problem{tester, fmt.Sprintf("unsent %s: held up by %d PAUSE %s of the other end", list, n, plural(n, "frame"))}
		}
		return problem{tester, "unsent " + list + ": tester limited"}
	}
	if n := r.Missed(); n > 0 {
		return problem{tester, fmt.Sprintf("tester dropped %d on receive", n)}
	}
	pass, reason := judge(r, o.Loss)
	if n := txErrors(r); n > 0 && !pass && o.Verdict == nil {
		return problem{tester, fmt.Sprintf("tester could not transmit %d of the packets it sent", n)}
	}
	if r.Stopped && pass {
		if reason == "" {
			reason = "nothing lost"
		}
		return problem{early, "stopped early, yet within the goal: " + strings.TrimSuffix(reason, "; stopped early")}
	}
	if n := r.Sum(func(s *trial.Stream) int64 { return s.Late }); n > 0 {
		return problem{late, fmt.Sprintf("%d late %s of an earlier trial", n, plural(n, "packet"))}
	}
	return problem{}
}

// judge holds each stream against the goal and says what was lost; of a failed trial only the streams at fault.
func judge(r *trial.Result, goal float64) (pass bool, reason string) {
	var failed, all []string
	for i := range r.Streams {
		s := &r.Streams[i]
		ratio, ok := s.LossRatio()
		if !ok || s.Lost() <= 0 {
			continue
		}
		text := count(s.Lost(), ratio, s.Name)
		if r.Stopped { // the ratio of a trial without an end says nothing
			text = fmt.Sprintf("%d %s", s.Lost(), s.Name)
		}
		all = append(all, text)
		if ratio > goal {
			failed = append(failed, text)
		}
	}
	if len(all) == 0 {
		return true, ""
	}
	pass = len(failed) == 0
	if !pass {
		all = failed
	}
	reason = "lost " + strings.Join(all, ", ")
	if r.Stopped {
		reason += "; stopped early"
	}
	return pass, reason
}

// unsent lists the streams that left too much unsent. A trial that ended early is measured against all that it could have
// left unsent in its full length.
func unsent(s *trial.Spec, r *trial.Result, share float64) string {
	if total := r.Sum((*trial.Stream).Unsent); r.Stopped && total <= s.Spare {
		return ""
	}
	var list []string
	for i := range r.Streams {
		t := &r.Streams[i]
		if ratio, ok := t.UnsentRatio(); ok && float64(t.Unsent()) > share*float64(t.Intended) {
			list = append(list, count(t.Unsent(), ratio, t.Name))
		}
	}
	return strings.Join(list, ", ")
}

func downPorts(r *trial.Result) string {
	var names []string
	for _, p := range r.Ports {
		if p.Down {
			names = append(names, p.Name)
		}
	}
	return strings.Join(names, ", ")
}

func txErrors(r *trial.Result) (n int64) {
	for _, p := range r.Ports {
		n += p.TxError
	}
	return n
}

// count is "9 (0.12 %) node1".
func count(n int64, ratio float64, name string) string {
	return fmt.Sprintf("%d (%s %%) %s", n, percent(ratio), name)
}

// percent has three significant digits and no exponent.
func percent(ratio float64) string {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(100*ratio, 'g', 3, 64), 64)
	return strconv.FormatFloat(short, 'f', -1, 64)
}

func plural(n int64, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// worst is the greatest loss ratio of a stream.
func worst(r *trial.Result) (most float64) {
	for i := range r.Streams {
		if ratio, ok := r.Streams[i].LossRatio(); ok {
			most = max(most, ratio)
		}
	}
	return most
}
