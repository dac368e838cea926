package search_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"loadtest/search"
	"loadtest/trial"
)

// A link that goes down: the search waits, warms up anew and repeats the trial, as often as it takes, and only so often in a row.
func TestRelink(t *testing.T) {
	warm := search.Options{FirstWarmup: 3 * time.Second, Warmup: 2 * time.Second}
	gone := &search.NotMeasured{Reason: "link down: eth3 (waited 30 s)"}
	times := func(n int, s string) string { return strings.Repeat(s+" ", n) }
	for _, tt := range []struct {
		name string
		o    search.Options
		runs string       // of the runner: d is a run in which the link is down, u one with unsent packets; then all is well
		back func() error // of Relink
		want string       // warm-ups with their time, trials with their verdict; - and + are the link's ends
		err  string
	}{
		{"never", warm, "", nil, "w3s pass", ""},
		{"in a trial", search.Options{}, "d", nil, "invalid - + pass", ""},
		{"in a trial, warmed up", warm, ".d", nil, "w3s invalid - + w3s pass", ""},
		{"in a warm-up", warm, "d", nil, "w3s - + w3s pass", ""},
		{"in both", warm, "ddd.d", nil, "w3s - + w3s - + w3s - + w3s invalid - + w3s pass", ""},
		{"only the first warm-up", search.Options{FirstWarmup: time.Second}, ".d", nil, "w1s invalid - + w1s pass", ""},
		{"more often than other faults", search.Options{Invalid: 1}, "ddddduddd", nil,
			times(5, "invalid - +") + "invalid " + times(3, "invalid - +") + "pass", ""},
		{"without repeats of other faults", search.Options{Invalid: -1}, "ddd", nil, times(3, "invalid - +") + "pass", ""},
		{"other faults between", search.Options{Invalid: 2}, "dudud", nil, "invalid - + invalid invalid - + invalid invalid - + pass", ""},
		{"other faults after", search.Options{Invalid: 1}, "duu", nil, "invalid - + invalid limited",
			"no verdict about the device at any load: unsent 1 (10 %) node1: tester limited"},
		{"as often as can be", search.Options{}, times(8, "d"), nil, times(8, "invalid - +") + "pass", ""},
		{"for ever", search.Options{}, times(99, "d"), nil, times(8, "invalid - +") + "invalid", "link down: eth3, 9 times in a row"},
		{"in each warm-up", warm, times(99, "d"), nil, times(8, "w3s - +") + "w3s", "link down: eth3, 9 times in a row"},
		{"not under warm-ups, in each trial", warm, times(99, ".d"), nil, times(8, "w3s invalid - +") + "w3s invalid", "link down: eth3, 9 times in a row"},
		{"stays down", search.Options{}, "d", func() error { return gone }, "invalid -", "link down: eth3 (waited 30 s)"},
		{"stays down in a warm-up", warm, "d", func() error { return gone }, "w3s -", "link down: eth3 (waited 30 s)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runs := strings.ReplaceAll(tt.runs, " ", "")
			r := &script{answer: func(n int, s trial.Spec) trial.Result {
				res := books(10, 10, 10)
				res.Ports = []trial.Port{{Name: "eth2"}, {Name: "eth3"}}
				if n <= len(runs) && runs[n-1] == 'd' {
					res = books(10, 10, 4)
					res.Ports = []trial.Port{{Name: "eth2"}, {Name: "eth3", Down: true}}
				}
				if n <= len(runs) && runs[n-1] == 'u' {
					res.Streams[0].Sent, res.Streams[0].Received = 9, 9
				}
				return res
			}}
			var got []string
			tt.o.See = func(e search.Event) {
				switch e.Kind {
				case search.WarmupEnded:
					got = append(got, fmt.Sprint("w", e.Spec.Duration))
				case search.TrialEnded:
					got = append(got, e.Verdict.String())
				case search.LinkDown, search.LinkUp:
					if down := e.Kind == search.LinkDown; e.Spec.At(0) != 1e6 || down != (e.Reason == "link down: eth3") {
						t.Errorf("event %+v; want the load, and the links where they are down", e)
					}
					got = append(got, map[search.Kind]string{search.LinkDown: "-", search.LinkUp: "+"}[e.Kind])
				}
			}
			tt.o.Relink = func(context.Context) error {
				if tt.back != nil {
					return tt.back()
				}
				return nil
			}
			a, err := search.Run(t.Context(), r, once(1e6), tt.o)
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("got  %s\nwant %s", s, tt.want)
			}
			var not *search.NotMeasured
			switch {
			case tt.err == "" && (err != nil || a.Load != 1e6):
				t.Errorf("load %v, error %v; want 1e6", a.Load, err)
			case tt.err != "" && (!errors.As(err, &not) || err.Error() != tt.err):
				t.Errorf("error %v, want *NotMeasured: %s", err, tt.err)
			}
		})
	}
}

// Who is interrupted while a link is down ends at once, with the cause; a port that is gone for good is an error of the runner.
func TestRelinkEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	down := books(10, 10, 4)
	down.Ports = []trial.Port{{Name: "eth3", Down: true}}
	r := &script{answer: func(int, trial.Spec) trial.Result { return down }}
	a, err := search.Run(ctx, r, once(1e6), search.Options{Relink: func(ctx context.Context) error {
		cancel(trial.ErrStop)
		return &search.NotMeasured{Reason: "link down: eth3"}
	}})
	if err != trial.ErrStop || a.Trials != 1 {
		t.Errorf("error %v after %d trials; want %v after 1", err, a.Trials, trial.ErrStop)
	}

	_, err = search.Run(t.Context(), broken{}, once(1e6), search.Options{Relink: func(context.Context) error {
		t.Error("waits for a link where the port is gone")
		return nil
	}})
	if want := "trial 1: eth3: port is closed"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// A broken runner has lost its port.
type broken struct{}

func (broken) Run(context.Context, trial.Spec, func(trial.Sample)) (trial.Result, error) {
	r := books(10, 10, 4)
	r.Ports = []trial.Port{{Name: "eth3", Down: true}}
	return r, errors.New("eth3: port is closed")
}
