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

// A recording is a runner of a capture of 1000 packets in 10 s, behind a device that carries so many times its pace.
type recording struct {
	script
	carries float64
}

func newRecording(carries float64) *recording {
	r := &recording{carries: carries}
	r.answer = func(_ int, s trial.Spec) trial.Result {
		load := s.At(0)
		n, took := 1000*s.Loops, time.Duration(10e9*float64(s.Loops)/load)
		if s.Duration > 0 && (s.Loops == 0 || s.Duration < took) {
			n, took = int64(100*load*s.Duration.Seconds()), s.Duration
		}
		lost := int64(0)
		if load > r.carries {
			lost = max(1, n/100)
		}
		res := books(n, n, n-lost)
		res.Elapsed = took
		return res
	}
	return r
}

// Trials of whole passes have no duration; what is sent before them has, and no end by passes.
func TestTrialsOfLoops(t *testing.T) {
	r := newRecording(7.3)
	s := search.Bisect(search.BisectOptions{Max: 20, Precision: 0.1, Unit: trial.Factor, Loops: 2})
	a, err := search.Run(context.Background(), r, s, search.Options{Warmup: 300 * time.Millisecond})
	if err != nil || a.Load != 7.3 || a.Above != 7.4 || a.Limit != search.LimitDevice {
		t.Fatalf("%v, above %v, limited by %s, %v; want 7.3, 7.4, device", a.Load, a.Above, a.Limit, err)
	}
	var traffic time.Duration
	for i, s := range r.specs {
		if s.Unit != trial.Factor || s.At(0) != r.specs[i/2*2].At(0) {
			t.Errorf("run %d: %+v; want a warm-up and a trial at each factor", i+1, s)
		}
		if i%2 == 0 && (s.Duration != 300*time.Millisecond || s.Loops != 0 || s.StopAt != 0) ||
			i%2 == 1 && (s.Duration != 0 || s.Loops != 2 || s.StopAt != 1) {
			t.Errorf("run %d: %+v; want 300ms, then 2 loops that end with the first loss", i+1, s)
		}
		if traffic += s.Duration; i%2 == 1 {
			traffic += time.Duration(20e9 / s.At(0))
		}
	}
	if a.Traffic != traffic || a.Trials != len(r.specs)/2 {
		t.Errorf("%v of traffic in %d trials; want %v in %d", a.Traffic, a.Trials, traffic, len(r.specs)/2)
	}
}

// A trial of passes ends early by what all of its packets are, which the first whole one tells; a stretch of a capture tells
// nothing of another.
func TestEarlyStopOfCaptures(t *testing.T) {
	some := search.Options{Loss: 0.005, MaxUnsent: 0.002, Warmup: 300 * time.Millisecond}
	for _, tt := range []struct {
		name     string
		loops    int64
		duration time.Duration
		o        search.Options
		unit     trial.Unit
		bounds   string // stop, spare of each run
	}{
		{"after one pass", 1, 0, some, trial.Factor, "[0 0] [0 0] [0 0] [6 2] [0 0] [6 2]"},
		{"after three", 3, 0, some, trial.Factor, "[0 0] [0 0] [0 0] [16 6] [0 0] [16 6]"},
		{"passes at a rate", 3, 0, some, trial.Packets, "[0 0] [0 0] [0 0] [16 6] [0 0] [16 6]"},
		{"a time of a capture", 0, time.Second, some, trial.Factor, "[0 0] [0 0] [0 0] [0 0] [0 0] [0 0]"},
		{"passes in a time", 1, time.Hour, some, trial.Factor, "[0 0] [0 0] [0 0] [0 0] [0 0] [0 0]"},
		{"passes in a time, at a rate", 3, 30 * time.Second, some, trial.Packets, "[0 0] [0 0] [0 0] [16 6] [0 0] [16 6]"},
		{"passes or a time", 3, 8 * time.Second, some, trial.Packets, "[0 0] [0 0] [0 0] [13 4] [0 0] [9 3]"},
		{"a time that ends before the passes", 3, time.Second, some, trial.Packets, "[0 0] [0 0] [0 0] [0 0] [0 0] [0 0]"},
		{"no loss", 1, 0, search.Options{}, trial.Factor, "[1 0] [1 0] [1 0]"},
		{"no loss in a time", 0, time.Second, search.Options{}, trial.Factor, "[1 0] [1 0] [1 0]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRecording(4)
			s := search.Bisect(search.BisectOptions{Max: 4.1, Precision: 1, Unit: tt.unit, Loops: tt.loops, Duration: tt.duration})
			r.carries = 2
			if _, err := search.Run(context.Background(), r, s, tt.o); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range r.specs {
				got = append(got, fmt.Sprint([]int64{s.StopAt, s.Spare}))
			}
			if strings.Join(got, " ") != tt.bounds {
				t.Errorf("got %v, want %s", got, tt.bounds)
			}
		})
	}
}

// What was stopped early does not tell how many packets a pass has.
func TestStoppedLoopsTeachNothing(t *testing.T) {
	r := &script{answer: func(n int, s trial.Spec) trial.Result {
		res := books(1000, 1000, 1000)
		if s.StopAt > 0 {
			res = books(100, 100, 50)
			res.Stopped = true
		} else if n == 1 {
			res = books(1000, 1000, 500)
		}
		res.Elapsed = time.Second
		return res
	}}
	s := search.Bisect(search.BisectOptions{Max: 4, Precision: 1, Unit: trial.Factor, Loops: 1, Rule: search.Retry(2)})
	if _, err := search.Run(context.Background(), r, s, search.Options{Loss: 0.1}); err != nil {
		t.Fatal(err)
	}
	for i, s := range r.specs[1:] {
		if s.StopAt != 102 {
			t.Errorf("run %d ends early at %d; want 102, of the 1000 that a pass has", i+2, s.StopAt)
		}
	}
}

// A trial of passes that was ended from outside, in order or not, proves nothing, however long it took.
func TestInterruptedLoops(t *testing.T) {
	for _, cause := range []error{trial.ErrStop, errors.New("signal: terminated")} {
		ctx, cancel := context.WithCancelCause(context.Background())
		r := newRecording(20)
		whole := r.answer
		r.answer = func(n int, s trial.Spec) trial.Result {
			res := whole(n, s)
			if n == 1 {
				return books(1000, 1000, 500)
			}
			cancel(cause)
			res.Elapsed /= 2
			return res
		}
		s := search.Bisect(search.BisectOptions{Max: 8, Precision: 1, Unit: trial.Factor, Loops: 1})
		a, err := search.Run(ctx, r, s, search.Options{})
		if err != cause || a.Load != 0 || a.Above != 8 || a.Complete {
			t.Errorf("%v: %v above %v, complete %v, error %v; want nothing but 8 that failed", cause, a.Load, a.Above, a.Complete, err)
		}
	}
}
