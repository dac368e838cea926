package clock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"loadtest/internal/clock"
)

// A script is a stepper that answers from a list, then Never (or, a device, over again from the last answer), and notes
// when it was stepped.
type script struct {
	name string
	next []int64
	log  *[]string
	then func() // called in each step
	last bool   // repeats its last answer
}

func (s *script) Step(now int64) int64 {
	*s.log = append(*s.log, fmt.Sprint(s.name, now))
	if s.then != nil {
		s.then()
	}
	if len(s.next) == 0 {
		return clock.Never
	}
	next := s.next[0]
	if len(s.next) > 1 || !s.last {
		s.next = s.next[1:]
	}
	return next
}

func TestVirtual(t *testing.T) {
	for _, tt := range []struct {
		name     string
		steppers [][]int64 // a, b, …
		devices  [][]int64 // x, y, …
		want     []string
		now      int64
	}{
		{"nothing to do", nil, nil, nil, 0},
		{"time moves to the next", [][]int64{{10, 30}}, nil, []string{"a0", "a10", "a30"}, 30},
		{"time moves to the least next, all are stepped in order", [][]int64{{10, 30}, {20}}, nil,
			[]string{"a0", "b0", "a10", "b10", "a30"}, 30},
		{"at once leaves time where it is", [][]int64{{0, 0, 5, 5}}, nil, []string{"a0", "a0", "a0", "a5", "a5"}, 5},
		{"a next in the past is at once, time never goes back", [][]int64{{10, 3, -1}}, nil, []string{"a0", "a10", "a10", "a10"}, 10},
		{"one is done, the other goes on", [][]int64{{}, {7, 9}}, nil, []string{"a0", "b0", "b7", "b9"}, 9},
		{"devices come last", [][]int64{{5}, {5}}, [][]int64{{100}, {100}},
			[]string{"a0", "b0", "x0", "y0", "a5", "b5", "x5", "y5"}, 5},
		{"a device's next moves time", [][]int64{{20}}, [][]int64{{8, 20}},
			[]string{"a0", "x0", "a8", "x8"}, 8},
		{"an idle device holds nobody up", [][]int64{{4, 9}}, [][]int64{{}},
			[]string{"a0", "x0", "a4", "x4", "a9", "x9"}, 9},
		{"a device's next does not move time once all are done", [][]int64{{4}}, [][]int64{{1000000}},
			[]string{"a0", "x0", "a4", "x4"}, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log []string
			make := func(first rune, all [][]int64, last bool) (s []clock.Stepper) {
				for i, next := range all {
					s = append(s, &script{name: string(first + rune(i)), next: slices.Clone(next), log: &log, last: last})
				}
				return s
			}
			c := clock.NewVirtual(make('x', tt.devices, true)...)
			if err := c.Run(context.Background(), make('a', tt.steppers, false)...); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(log, tt.want) {
				t.Errorf("steps\n%q, want\n%q", log, tt.want)
			}
			if c.Now() != tt.now {
				t.Errorf("Now() = %d, want %d", c.Now(), tt.now)
			}
		})
	}
}

func TestVirtualGoesOnFromRunToRun(t *testing.T) {
	var log []string
	device := &script{name: "x", next: []int64{50}, log: &log, last: true}
	c := clock.NewVirtual(device)
	for _, next := range []int64{10, 40} {
		if err := c.Run(context.Background(), &script{name: "a", next: []int64{next}, log: &log}); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"a0", "x0", "a10", "x10", "a10", "x10", "a40", "x40"}
	if !slices.Equal(log, want) {
		t.Errorf("steps\n%q, want\n%q: the device stays, time goes on", log, want)
	}
}

func TestVirtualContext(t *testing.T) {
	cause := errors.New("enough")
	t.Run("before", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(cause)
		var log []string
		c := clock.NewVirtual()
		if err := c.Run(ctx, &script{name: "a", log: &log}); err != cause || len(log) != 0 {
			t.Errorf("Run = %v after steps %q; want %v and no step", err, log, cause)
		}
	})
	t.Run("while stepping", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		var log []string
		n := 0
		forever := &script{name: "a", next: []int64{1}, log: &log, last: true, then: func() {
			if n++; n == 3 {
				cancel(cause)
			}
		}}
		other := &script{name: "b", next: []int64{1}, log: &log, last: true}
		c := clock.NewVirtual()
		if err := c.Run(ctx, forever, other); err != cause {
			t.Errorf("Run = %v, want the cause %v", err, cause)
		}
		if want := []string{"a0", "b0", "a1", "b1", "a1", "b1"}; !slices.Equal(log, want) {
			t.Errorf("steps %q, want %q: the round that was begun is ended, no further one begun", log, want)
		}
	})
	t.Run("over with the last step", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		var log []string
		c := clock.NewVirtual()
		if err := c.Run(ctx, &script{name: "a", log: &log, then: cancel}); err != nil {
			t.Errorf("Run = %v, want nil: every stepper was done", err)
		}
	})
}

func TestVirtualIsVirtual(t *testing.T) {
	if c := clock.NewVirtual(); !c.Virtual() || c.Now() != 0 {
		t.Errorf("Virtual, Now = %v, %d; want true, 0", c.Virtual(), c.Now())
	}
}

type ticks int64

func (k *ticks) Step(now int64) int64 {
	if *k--; *k <= 0 {
		return clock.Never
	}
	return now + 1
}

func TestVirtualAllocatesNothingPerStep(t *testing.T) {
	run := func(n int64) float64 {
		return testing.AllocsPerRun(10, func() {
			k := ticks(n)
			if err := clock.NewVirtual().Run(context.Background(), &k); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := run(1), run(1000); few != many {
		t.Errorf("1 step: %v allocations, 1000 steps: %v; want the same", few, many)
	}
}
