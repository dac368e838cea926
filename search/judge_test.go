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

func TestVerdicts(t *testing.T) {
	two := func(a, b trial.Stream) trial.Result {
		a.Name, b.Name = "node1", "node2"
		return trial.Result{Streams: []trial.Stream{a, b}}
	}
	port := func(r trial.Result, p trial.Port) trial.Result { r.Ports = []trial.Port{p}; return r }
	late := func(r trial.Result, n int64) trial.Result { r.Streams[0].Late = n; return r }
	stopped := func(r trial.Result) trial.Result { r.Stopped = true; return r }
	starved := func(r trial.Result, d time.Duration) trial.Result { r.Starved = d; return r }
	ok := trial.Stream{Intended: 8000, Sent: 8000, Received: 8000}
	for _, tt := range []struct {
		name   string
		res    trial.Result
		o      search.Options
		want   string // verdict: reason, of each trial
		trials int
	}{
		{"clean", books(1000, 1000, 1000), search.Options{}, "pass: ", 1},
		{"loss", books(7500, 7500, 7491), search.Options{}, "fail: lost 9 (0.12 %) node1", 1},
		{"loss at the goal", books(10000, 10000, 9950), search.Options{Loss: 0.005}, "pass: lost 50 (0.5 %) node1", 1},
		{"loss above the goal", books(10000, 10000, 9949), search.Options{Loss: 0.005}, "fail: lost 51 (0.51 %) node1", 1},
		{"only streams at fault", two(ok, trial.Stream{Intended: 8000, Sent: 8000, Received: 5976}), search.Options{},
			"fail: lost 2024 (25.3 %) node2", 1},
		{"goal of each stream", two(trial.Stream{Intended: 8000, Sent: 8000, Received: 7999}, trial.Stream{Intended: 9, Sent: 9, Received: 8}),
			search.Options{Loss: 0.01}, "fail: lost 1 (11.1 %) node2", 1},
		{"both", two(trial.Stream{Intended: 8, Sent: 8, Received: 1}, trial.Stream{Intended: 1 << 40, Sent: 1 << 40, Received: 1<<40 - 1}),
			search.Options{}, "fail: lost 7 (87.5 %) node1, 1 (0.0000000000909 %) node2", 1},
		{"stopped early", stopped(books(100, 100, 91)), search.Options{}, "fail: lost 9 node1; stopped early", 1},
		{"unsent", books(62000, 61188, 61188), search.Options{}, "limited: unsent 812 (1.31 %) node1: tester limited", 4},
		{"unsent and lost", books(62000, 61188, 61000), search.Options{}, "limited: unsent 812 (1.31 %) node1: tester limited", 4},
		{"unsent as allowed", books(62000, 61188, 61188), search.Options{MaxUnsent: 0.0131}, "pass: ", 1},
		{"unsent of one", two(ok, trial.Stream{Intended: 100, Sent: 99, Received: 99}), search.Options{Invalid: 1},
			"limited: unsent 1 (1 %) node2: tester limited", 2},
		{"unsent, as the device held the tester up", paused(books(62000, 61188, 61188)), search.Options{},
			"limited: unsent 812 (1.31 %) node1: held up by 431 PAUSE frames of the other end", 4},
		{"nothing sent", books(1000, 0, 0), search.Options{}, "limited: nothing was sent of 1000 packets: tester limited", 4},
		{"missed", port(books(1000, 1000, 988), trial.Port{Name: "eth2", Missed: 12}), search.Options{}, "limited: tester dropped 12 on receive", 4},
		{"not transmitted", port(books(1000, 1000, 988), trial.Port{Name: "eth2", TxError: 12}), search.Options{},
			"limited: tester could not transmit 12 of the packets it sent", 4},
		{"transmit error elsewhere", port(books(1000, 1000, 1000), trial.Port{Name: "eth2", TxError: 12}), search.Options{}, "pass: ", 1},
		{"starved", starved(books(62000, 61188, 61000), 35*time.Millisecond), search.Options{MaxUnsent: 0.5},
			"limited: packets waited 35 ms for the disk: tester limited by disk", 4},
		{"starved, all sent", starved(books(100, 100, 100), 10), search.Options{Invalid: -1},
			"limited: packets waited 1 ms for the disk: tester limited by disk", 1},
		{"starved from the start", starved(books(0, 0, 0), time.Second), search.Options{Invalid: -1},
			"limited: packets waited 1000 ms for the disk: tester limited by disk", 1},
		{"late, then judged", late(books(1000, 1000, 999), 4), search.Options{}, "fail: lost 1 (0.1 %) node1", 4},
		{"late, passes", late(books(1000, 1000, 1000), 4), search.Options{Invalid: -1}, "pass: ", 1},
		{"stopped within the goal", stopped(books(100, 100, 100)), search.Options{}, "limited: stopped early, yet within the goal: nothing lost", 4},
		{"stopped within a loss goal", stopped(books(100, 100, 99)), search.Options{Loss: 0.1},
			"limited: stopped early, yet within the goal: lost 1 node1", 4},
		{"no repeats", books(62000, 61188, 61188), search.Options{Invalid: -1}, "limited: unsent 812 (1.31 %) node1: tester limited", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &script{answer: func(int, trial.Spec) trial.Result { return tt.res }}
			var got string
			tt.o.See = func(e search.Event) {
				if e.Kind == search.TrialEnded {
					got = fmt.Sprintf("%v: %s", e.Verdict, e.Reason)
				}
			}
			a, err := search.Run(context.Background(), r, once(1e6), tt.o)
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if a.Trials != tt.trials || a.Traffic != time.Duration(tt.trials)*time.Second {
				t.Errorf("%d trials of %v, want %d", a.Trials, a.Traffic, tt.trials)
			}
			var not *search.NotMeasured
			if limited := strings.HasPrefix(tt.want, "limited"); limited != errors.As(err, &not) {
				t.Errorf("error %v", err)
			} else if limited {
				if _, reason, _ := strings.Cut(tt.want, ": "); not.Reason != "no verdict about the device at any load: "+reason {
					t.Errorf("reason %q", not.Reason)
				}
			}
		})
	}
}

func TestNotMeasured(t *testing.T) {
	both := func(received int64) trial.Result {
		return trial.Result{Streams: []trial.Stream{{Name: "node1", Intended: 9, Sent: 9, Received: received}, {Name: "node2", Intended: 8, Sent: 8}}}
	}
	downs := books(10, 10, 9)
	downs.Ports = []trial.Port{{Name: "eth2", Down: true}, {Name: "eth3"}}
	stopped := books(10, 5, 5)
	stopped.Stolen = 250 * time.Millisecond
	downs.Stolen = stopped.Stolen
	slept := books(10, 0, 0)
	slept.Suspended = 3 * time.Second
	for _, tt := range []struct {
		name   string
		answer func(n int, s trial.Spec) trial.Result
		s      search.Strategy
		o      search.Options
		want   string
		specs  int
	}{
		{"silent device", func(int, trial.Spec) trial.Result { return books(100, 100, 0) }, nil, search.Options{},
			"nothing came back: 300 sent, 0 of ours received", 3},
		{"silent in warm-ups too", func(int, trial.Spec) trial.Result { return books(100, 100, 0) }, nil, search.Options{Warmup: time.Second},
			"nothing came back: 300 sent, 0 of ours received", 3},
		{"silent in its only trial", func(int, trial.Spec) trial.Result { return books(100, 100, 0) }, once(1e6), search.Options{},
			"nothing came back: 100 sent, 0 of ours received", 1},
		{"one silent stream", func(int, trial.Spec) trial.Result { return both(9) }, nil, search.Options{},
			"stream node2: nothing came back: 24 sent, 0 of ours received", 3},
		{"empty", func(int, trial.Spec) trial.Result { return books(0, 0, 0) }, nil, search.Options{},
			"nothing to send: no packet was due in this trial", 4},
		{"link down", func(int, trial.Spec) trial.Result { return downs }, nil, search.Options{Invalid: 1}, "link down: eth2", 2},
		{"stopped each time", func(int, trial.Spec) trial.Result { return stopped }, nil, search.Options{}, "the tester was stopped for 250 ms", 4},
		{"slept, no repeats", func(int, trial.Spec) trial.Result { return slept }, nil, search.Options{Invalid: -1}, "the machine slept for 3 s", 1},
		{"too slow at all loads", func(int, trial.Spec) trial.Result { return books(100, 99, 99) },
			search.Bisect(search.BisectOptions{Max: 2, Precision: 1}), search.Options{},
			"no verdict about the device at any load: unsent 1 (1 %) node1: tester limited", 8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &script{answer: tt.answer}
			if tt.s == nil {
				tt.s = search.Bisect(search.BisectOptions{Max: 1e9, Precision: 1e6, Rule: search.Retry(3)})
			}
			_, err := search.Run(context.Background(), r, tt.s, tt.o)
			var not *search.NotMeasured
			if !errors.As(err, &not) || err.Error() != tt.want {
				t.Errorf("got %v, want *NotMeasured: %s", err, tt.want)
			}
			if len(r.specs) != tt.specs {
				t.Errorf("gave up after %d trials, want %d", len(r.specs), tt.specs)
			}
		})
	}
}

// What heals is no error: a device that wakes up, a link that comes back, loads too low to send anything.
func TestMeasuredAfterAll(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer func(n int, s trial.Spec) trial.Result
		load   float64
		limit  string
	}{
		{"wakes up", func(n int, _ trial.Spec) trial.Result { return books(100, 100, int64(n/3)*100) }, 4, "maximum"},
		{"link comes back", func(n int, _ trial.Spec) trial.Result {
			r := books(100, 100, 100)
			r.Ports = []trial.Port{{Name: "eth2", Down: n < 3}}
			return r
		}, 4, "maximum"},
		{"stops for a while", func(n int, _ trial.Spec) trial.Result { // and what it sent then is no sign of silence
			r := books(100, 100, 0)
			if r.Stolen = time.Duration(4-n) * 100 * time.Millisecond; n > 2 {
				r.Streams[0].Received = 100
			}
			return r
		}, 4, "maximum"},
		{"sleeps thrice", func(n int, _ trial.Spec) trial.Result {
			r := books(100, 100, 0)
			if r.Suspended = time.Duration(4-n) * time.Second; n > 3 {
				r.Streams[0].Received = 100
			}
			return r
		}, 4, "maximum"},
		{"lossy, then nothing is due", func(_ int, s trial.Spec) trial.Result {
			if s.At(0) < 4 {
				return books(0, 0, 0)
			}
			return books(100, 100, 99)
		}, 0, "tester"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := search.Bisect(search.BisectOptions{Max: 4, Precision: 1, Rule: search.Retry(3)})
			a, err := search.Run(context.Background(), &script{answer: tt.answer}, s, search.Options{})
			if a.Load != tt.load || a.Limit != tt.limit || (err == nil) != (tt.load > 0) {
				t.Errorf("load %v limit %q error %v, want %v, %q", a.Load, a.Limit, err, tt.load, tt.limit)
			}
		})
	}
}

// paused is a result with PAUSE frames.
func paused(r trial.Result) trial.Result {
	r.Ports = append(r.Ports, trial.Port{Name: "a", Line: trial.Line{Told: true, Pauses: 431}})
	return r
}
