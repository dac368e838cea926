package search_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"loadtest/dut"
	"loadtest/search"
	"loadtest/trial"
	"loadtest/units"
)

// A script is a runner that answers from a function; it keeps the Specs.
type script struct {
	answer func(n int, s trial.Spec) trial.Result
	specs  []trial.Spec
}

func (r *script) Run(ctx context.Context, s trial.Spec, _ func(trial.Sample)) (trial.Result, error) {
	r.specs = append(r.specs, s)
	res := r.answer(len(r.specs), s)
	if res.Elapsed == 0 {
		res.Elapsed = s.Duration
	}
	return res, nil
}

// books is a Result of one stream.
func books(intended, sent, received int64) trial.Result {
	return trial.Result{Streams: []trial.Stream{{Name: "node1", Intended: intended, Sent: sent, Received: received}}}
}

// once is a strategy of a single trial.
func once(load float64) search.Strategy {
	return search.Bisect(search.BisectOptions{Max: load, Precision: load})
}

func TestWarmups(t *testing.T) {
	r := &script{answer: func(_ int, s trial.Spec) trial.Result {
		n := int64(s.At(0) * 1000)
		return books(n, n, min(n, 5000))
	}}
	s := search.Bisect(search.BisectOptions{Max: 8, Precision: 1, Rule: search.Retry(1), Duration: 2 * time.Second})
	a, err := search.Run(context.Background(), r, s, search.Options{FirstWarmup: 5 * time.Second, Warmup: 300 * time.Millisecond,
		Quiet: 100 * time.Millisecond, Preroll: time.Millisecond, Drain: 7 * time.Millisecond, Interval: time.Second})
	if err != nil || a.Load != 5 || a.Trials != 6 {
		t.Fatalf("load %v, %d trials, %v; want 5, 6", a.Load, a.Trials, err)
	}
	var got []string
	for _, s := range r.specs {
		got = append(got, fmt.Sprintf("%v:%v", s.At(0), s.Duration))
		warmup := s.Duration != 2*time.Second
		if warmup && (s.Drain != 100*time.Millisecond || s.StopAt != 0 || s.Preroll != 0) {
			t.Errorf("warm-up %+v: want quiet 100ms, whole, without pre-roll", s)
		}
		if !warmup && (s.Drain != 7*time.Millisecond || s.StopAt != 1 || s.Preroll != time.Millisecond || s.Interval != time.Second) {
			t.Errorf("trial %+v: want drain 7ms, stop at 1, pre-roll 1ms, samples each 1s", s)
		}
	}
	if want := "8:5s 8:2s 8:2s 4:300ms 4:2s 6:300ms 6:2s 6:2s 5:300ms 5:2s"; strings.Join(got, " ") != want {
		t.Errorf("runs %v\nwant %s", got, want)
	}
	if want := 6*2*time.Second + 5900*time.Millisecond; a.Traffic != want {
		t.Errorf("traffic %v, want %v", a.Traffic, want)
	}
}

func TestLatePacketsStretchTheDrain(t *testing.T) {
	r := &script{answer: func(n int, _ trial.Spec) trial.Result {
		res := books(1000, 1000, 1000)
		res.Streams[0].Late = int64(max(0, 4-n))
		return res
	}}
	var seen []string
	o := search.Options{Drain: 600 * time.Millisecond, See: func(e search.Event) {
		if e.Kind == search.TrialEnded {
			seen = append(seen, fmt.Sprintf("%v %s", e.Verdict, e.Reason))
		}
	}}
	if _, err := search.Run(context.Background(), r, once(1), o); err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{600 * time.Millisecond, 1200 * time.Millisecond, 2 * time.Second, 2 * time.Second} {
		if r.specs[i].Drain != want {
			t.Errorf("trial %d: drain %v, want %v", i+1, r.specs[i].Drain, want)
		}
	}
	want := "invalid 3 late packets of an earlier trial|invalid 2 late packets of an earlier trial|invalid 1 late packet of an earlier trial|pass "
	if got := strings.Join(seen, "|"); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestEarlyStop(t *testing.T) {
	exec := func(context.Context, trial.Spec, trial.Result) (bool, string, error) { return true, "", nil }
	for _, tt := range []struct {
		name   string
		o      search.Options
		bounds string // stop, spare of each run
	}{
		{"no loss", search.Options{}, "[1 0] [1 0]"},
		{"nothing known yet", search.Options{Loss: 0.005}, "[0 0] [2526 0]"},
		{"known from the warm-up", search.Options{Loss: 0.005, Warmup: time.Second}, "[0 0] [5051 0] [0 0] [2526 0]"},
		{"unsent allowed", search.Options{MaxUnsent: 0.002}, "[0 0] [1 1000]"},
		{"both", search.Options{Loss: 0.005, MaxUnsent: 0.002, FirstWarmup: time.Second}, "[0 0] [5051 2000] [2526 1000]"},
		{"whole trials", search.Options{NoEarlyStop: true}, "[0 0] [0 0]"},
		{"judged by a command", search.Options{Verdict: exec}, "[0 0]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &script{answer: func(_ int, s trial.Spec) trial.Result {
				n := int64(s.At(0) * s.Duration.Seconds() / 1000)
				return books(n, n, n-n/100*int64(s.At(0)/1e9))
			}}
			s := search.Bisect(search.BisectOptions{Max: 1e9, Precision: 5e8})
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

// A trial that ended early for unsent packets that a whole one may have is not the tester's fault; one that ended early
// without need is made again in full.
func TestEarlyStopInVain(t *testing.T) {
	stopped := books(100, 98, 97)
	stopped.Stopped = true
	r := &script{answer: func(_ int, s trial.Spec) trial.Result {
		if s.StopAt == 0 {
			return books(100000, 100000, 100000)
		}
		return stopped
	}}
	a, err := search.Run(context.Background(), r, once(1e6), search.Options{MaxUnsent: 0.002, FirstWarmup: time.Second})
	if err != nil || a.Limit != "device" || a.Reason != "lost 1 node1; stopped early" {
		t.Errorf("limit %q, reason %q, error %v; want a failure of the device", a.Limit, a.Reason, err)
	}
	stopped = books(100, 100, 100)
	stopped.Stopped = true
	r.specs = nil
	a, err = search.Run(context.Background(), r, once(1e6), search.Options{})
	if err != nil || a.Load != 1e6 || len(r.specs) != 2 || r.specs[1].StopAt != 0 {
		t.Errorf("load %v after %d trials, error %v; want a pass in the second, whole", a.Load, len(r.specs), err)
	}
}

func TestVerdictHook(t *testing.T) {
	r := &script{answer: func(_ int, s trial.Spec) trial.Result { return books(100, 100, 0) }}
	s := func() search.Strategy {
		return search.Bisect(search.BisectOptions{Max: 8, Precision: 1, Rule: search.Retry(1)})
	}
	hook := func(_ context.Context, s trial.Spec, r trial.Result) (bool, string, error) {
		return s.At(0) <= 5 && r.Streams[0].Sent == 100, "said no", nil
	}
	a, err := search.Run(context.Background(), r, s(), search.Options{Verdict: hook})
	if err != nil || a.Load != 5 || a.Reason != "said no" || a.Trials != 6 {
		t.Errorf("load %v, reason %q, %d trials, error %v; want 5 by the hook, whatever is lost", a.Load, a.Reason, a.Trials, err)
	}
	gone := errors.New("exit status 127")
	_, err = search.Run(context.Background(), r, s(), search.Options{Verdict: func(context.Context, trial.Spec, trial.Result) (bool, string, error) {
		return false, "", gone
	}})
	if !errors.Is(err, gone) || err.Error() != "verdict on trial 1: exit status 127" {
		t.Errorf("error %v", err)
	}
}

func TestEvents(t *testing.T) {
	var got []string
	m := &dut.Model{Capacity: units.Gbps}
	s := search.Bisect(search.BisectOptions{Max: 2e9, Precision: 1e9, Rule: search.Retry(1)})
	_, err := search.Run(context.Background(), m, s, search.Options{Warmup: time.Second, Interval: 600 * time.Millisecond, NoEarlyStop: true,
		See: func(e search.Event) {
			got = append(got, fmt.Sprint(e.Kind, e.Trial, e.Attempt, len(e.Result.Streams), e.Verdict))
		}})
	if err != nil {
		t.Fatal(err)
	}
	want := "0 1 1 0 invalid|3 1 1 0 invalid|1 1 1 1 invalid|2 1 1 0 invalid|3 1 1 0 invalid|4 1 1 1 fail|" +
		"2 2 2 0 invalid|3 2 2 0 invalid|4 2 2 1 fail|" +
		"0 3 1 0 invalid|3 3 1 0 invalid|1 3 1 1 invalid|2 3 1 0 invalid|3 3 1 0 invalid|4 3 1 1 pass"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

func TestInterrupted(t *testing.T) {
	for _, cause := range []error{trial.ErrStop, errors.New("signal: terminated")} {
		for at := 1; at <= 9; at++ {
			ctx, cancel := context.WithCancelCause(context.Background())
			m := &dut.Model{Capacity: 3.3 * units.Gbps}
			samples, last := 0, search.Event{}
			o := search.Options{Interval: 250 * time.Millisecond, Warmup: time.Second, NoEarlyStop: true, See: func(e search.Event) {
				if e.Kind == search.Sampled {
					if samples++; samples == 3*at {
						cancel(cause)
					}
				}
				last = e
			}}
			a, err := search.Run(ctx, m, search.Bisect(search.BisectOptions{Max: 10e9, Precision: 1e6}), o)
			if err != cause || a.Complete || !last.Result.Cut || last.Result.Elapsed != 750*time.Millisecond {
				t.Fatalf("stopped by %v in run %d: error %v, complete %v, last %+v", cause, at, err, a.Complete, last)
			}
			if kind := map[bool]search.Kind{true: search.TrialEnded, false: search.WarmupEnded}[at%2 == 0]; last.Kind != kind ||
				last.Reason != "interrupted" || last.Verdict != search.Invalid {
				t.Errorf("what was cut: %v %v %q", last.Kind, last.Verdict, last.Reason)
			}
			if at == 9 && (a.Load != 2.5e9 || a.Above != 3.75e9 || a.Trials != 4) {
				t.Errorf("so far: %v, above %v, %d trials; want 2.5e9, 3.75e9, 4", a.Load, a.Above, a.Trials)
			}
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(trial.ErrStop)
	r := &script{}
	if a, err := search.Run(ctx, r, once(1), search.Options{Warmup: 1}); err != trial.ErrStop || len(r.specs) != 0 || a.Trials != 0 {
		t.Errorf("stopped before: %v, %d runs, %d trials", err, len(r.specs), a.Trials)
	}
}

func TestRunnerFails(t *testing.T) {
	_, err := search.Run(context.Background(), &dut.Model{}, once(1e6), search.Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "trial 1: model : no capacity") {
		t.Errorf("error %v", err)
	}
	for want, o := range map[string]search.Options{
		"search: acceptable loss 1: want a ratio from 0 to below 1":                     {Loss: 1},
		"search: acceptable share of unsent packets -1: want a ratio from 0 to below 1": {MaxUnsent: -1},
	} {
		if _, err := search.Run(context.Background(), &script{}, once(1), o); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Random devices behind random testers: the answer is the lesser of their limits, to a step, and says whose it is.
func TestRunFindsTheNarrowerLimit(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		device, gen := 10000+rnd.Int64N(1500000), 10000+rnd.Int64N(1500000)
		m := &dut.Model{ModelParams: dut.ModelParams{Cap0: device, Gen: gen, Queue: rnd.Int64N(100)}}
		const max, p = 1200000, 1500
		a, err := search.Run(context.Background(), m, search.Bisect(search.BisectOptions{Max: max, Precision: p, Unit: trial.Packets,
			Rule: search.Retry(rnd.IntN(3))}), search.Options{})
		if err != nil {
			t.Fatalf("device %d, tester %d: %v", device, gen, err)
		}
		truth := float64(min(device+m.Queue, gen, max))
		limit := map[bool]string{true: "device", false: "tester"}[device+m.Queue < gen]
		if truth == max {
			limit = "maximum"
		}
		near := min(device-gen, gen-device) > -p-m.Queue || truth > max-p
		if a.Load > truth+4 || a.Load+p < truth || a.Limit != limit && !near {
			t.Errorf("device %d queue %d, tester %d: %v limited by %s", device, m.Queue, gen, a.Load, a.Limit)
		}
	}
}
