package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"loadtest/internal/clock"
	"loadtest/report"
	"loadtest/search"
	"loadtest/trial"
)

// A link that went down comes before any other verdict, and is not measured.
func TestLinkDownIsNoVerdict(t *testing.T) {
	for _, tt := range []struct {
		name   string
		stream trial.Stream
		missed int64
	}{
		{"lost", trial.Stream{Name: "s", Intended: 10, Sent: 10, Received: 5}, 0},
		{"all lost", trial.Stream{Name: "s", Intended: 10, Sent: 10}, 0},
		{"nothing sent", trial.Stream{Name: "s", Intended: 10}, 0},
		{"tester limited", trial.Stream{Name: "s", Intended: 10, Sent: 1, Received: 1}, 7},
		{"nothing wrong", trial.Stream{Name: "s", Intended: 10, Sent: 10, Received: 10}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &session{common: &common{}}
			r := &trial.Result{Streams: []trial.Stream{tt.stream}, Ports: []trial.Port{{Name: "a", Missed: tt.missed}, {Name: "b", Down: true}}}
			err := s.verdict(trial.Spec{}, r, 0)
			var not *search.NotMeasured
			if !errors.As(err, &not) || not.Reason != "link down: b" || exitCode(err) != exitNotMeasured {
				t.Errorf("%v, code %d: want link down: b, code 3", err, exitCode(err))
			}
		})
	}
}

// Only a search that came to its end knows what limits.
func TestLimit(t *testing.T) {
	not := &search.NotMeasured{Reason: "nothing came back"}
	for _, tt := range []struct {
		name   string
		answer search.Answer
		atLine bool
		err    error
		want   string
	}{
		{"device", search.Answer{Complete: true, Load: 5, Limit: search.LimitDevice}, true, nil, report.ByDevice},
		{"device passes nothing", search.Answer{Complete: true, Limit: search.LimitDevice}, false, nil, report.ByDevice},
		{"tester", search.Answer{Complete: true, Load: 5, Limit: search.LimitTester}, false, nil, report.ByTester},
		{"line", search.Answer{Complete: true, Load: 5, Limit: search.LimitMaximum}, true, nil, report.ByLine},
		{"asked", search.Answer{Complete: true, Load: 5, Limit: search.LimitMaximum}, false, nil, report.ByAsked},
		{"interrupted", search.Answer{Load: 5, Limit: search.LimitDevice}, false, interrupted{2}, ""},
		{"not measured in the middle", search.Answer{Load: 5, Limit: search.LimitTester}, false, not, ""},
		{"not measured at the end", search.Answer{Complete: true, Limit: search.LimitDevice}, false, not, ""},
		{"nothing made", search.Answer{}, false, nil, ""},
	} {
		if got := limit(tt.answer, tt.atLine, tt.err); got != tt.want {
			t.Errorf("%s: limit %q, want %q", tt.name, got, tt.want)
		}
	}
}

// What could not be written is told once, and there is no verdict without its results.
func TestWholeError(t *testing.T) {
	lost, full := failure{errors.New("lost")}, errors.New("disk full")
	for _, tt := range []struct {
		name    string
		err     error
		sending bool
		code    int
		told    bool
		text    string
	}{
		{"passed", nil, true, 3, false, "disk full"},
		{"failed", lost, true, 3, false, "disk full"},
		{"interrupted", interrupted{2}, true, 130, false, "interrupted; disk full"},
		{"not measured", notMeasured("dark"), true, 3, false, "dark; disk full"},
		{"before a packet", nil, false, 2, false, "disk full"},
	} {
		s := &session{sending: tt.sending}
		s.fault(full)
		s.fault(errors.New("and again"))
		err := s.whole(s.whole(tt.err))
		if exitCode(err) != tt.code || told(err) != tt.told || err.Error() != tt.text {
			t.Errorf("%s: %q, code %d; want %q, code %d", tt.name, err, exitCode(err), tt.text, tt.code)
		}
	}
}

// A trial in virtual time, however long, began within the run.
func TestTimesOfVirtualTrials(t *testing.T) {
	c := clock.NewVirtual()
	if err := c.Run(context.Background(), until(3600e9)); err != nil {
		t.Fatal(err)
	}
	for _, start := range []int64{0, 3599.999e9} {
		s := &session{common: &common{}, clock: c, begun: time.Now().Add(-20 * time.Millisecond)}
		r := &trial.Result{Start: start, Elapsed: time.Millisecond}
		at := report.TrialOf(trial.Spec{}, r, s.about(report.Search, r)).Time
		if at.Before(s.begun.Round(0)) || at.After(time.Now()) {
			t.Errorf("began at %v: not between %v and now", at, s.begun)
		}
	}
}

// until is a stepper that ends then.
type until int64

func (u until) Step(now int64) int64 {
	if now >= int64(u) {
		return clock.Never
	}
	return int64(u)
}
