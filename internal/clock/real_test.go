package clock_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"loadtest/internal/clock"
)

// A beat steps every so many ns, n times.
type beat struct {
	clock *clock.Real
	every int64
	n     int
	due   int64
	early atomic.Int64
	steps atomic.Int64
	then  func()
	done  bool
	after atomic.Bool // stepped after it was done
}

func (b *beat) Step(now int64) int64 {
	if b.done {
		b.after.Store(true)
	}
	if now < b.due || b.clock.Now() < now {
		b.early.Add(1)
	}
	if b.then != nil {
		b.then()
	}
	if b.steps.Add(1) == int64(b.n) {
		b.done = true
		return clock.Never
	}
	b.due = now + b.every
	return b.due
}

// A watcher is a beat beside the hot threads.
type watcher struct{ beat }

func (w *watcher) Aside() {}

func TestReal(t *testing.T) {
	for _, tt := range []struct {
		name string
		spin bool
		cpus []int
	}{{"sleeping", false, nil}, {"spinning", true, nil}, {"one CPU", true, []int{0}}, {"more CPUs than steppers", true, []int{0, 0, 0, 0, 0}}} {
		t.Run(tt.name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			c := clock.NewReal()
			c.Spin, c.CPUs = tt.spin, tt.cpus
			a, b := &beat{clock: c, every: 200e3, n: 50}, &beat{clock: c, every: 0, n: 100}
			w := &watcher{beat{clock: c, every: 1e6, n: 5}}
			if err := c.Run(t.Context(), a, b, w); err != nil {
				t.Fatal(err)
			}
			for _, s := range []*beat{a, b, &w.beat} {
				if s.steps.Load() != int64(s.n) || s.early.Load() != 0 || s.after.Load() {
					t.Errorf("%d steps of %d, %d before their time, after the end: %v", s.steps.Load(), s.n, s.early.Load(), s.after.Load())
				}
			}
			if c.Now() < 49*200e3 {
				t.Errorf("all was over after %d ns", c.Now())
			}
			noneLeft(t, before)
		})
	}
}

// A real step that lasts is seen, in the run in which it lasted; who only looks on may take his time.
func TestRealLost(t *testing.T) {
	c := clock.NewReal()
	slow := &beat{clock: c, n: 1, then: func() { time.Sleep(150 * time.Millisecond) }}
	if err := c.Run(t.Context(), &beat{clock: c, every: 1e6, n: 3}, slow); err != nil {
		t.Fatal(err)
	}
	if l := c.Lost(); l.Stolen < 150*time.Millisecond || l.Suspended != 0 {
		t.Errorf("lost %+v; want at least 150ms stolen and no sleep", l)
	}
	if err := c.Run(t.Context(), &watcher{beat{clock: c, n: 1, then: slow.then}}); err != nil {
		t.Fatal(err)
	}
	if l := c.Lost(); l != (clock.Loss{}) {
		t.Errorf("lost %+v in a run without hot threads; want nothing", l)
	}
}

// Who only looks on holds nobody up, also where all others share one CPU.
func TestRealAside(t *testing.T) {
	c := clock.NewReal()
	c.Spin, c.CPUs = true, []int{0}
	b := &beat{clock: c, every: 100e3, n: 20}
	w := &watcher{beat{clock: c, n: 1}}
	seen := int64(0)
	w.then = func() {
		for end := time.Now().Add(10 * time.Second); b.steps.Load() < 20 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		seen = b.steps.Load()
	}
	if err := c.Run(t.Context(), w, b); err != nil || seen != 20 {
		t.Errorf("the hot stepper made %d steps while the other looked on (%v); want 20", seen, err)
	}
}

func TestRealContext(t *testing.T) {
	cause := errors.New("enough")
	for _, spin := range []bool{false, true} {
		before := runtime.NumGoroutine()
		c := clock.NewReal()
		c.Spin = spin
		ctx, cancel := context.WithCancelCause(t.Context())
		far := &beat{clock: c, every: 3600e9, n: 9}
		time.AfterFunc(20*time.Millisecond, func() { cancel(cause) })
		start := time.Now()
		if err := c.Run(ctx, far, &beat{clock: c, every: 1000, n: 1 << 40}); err != cause {
			t.Errorf("spin %v: error %v, want the cause", spin, err)
		}
		if d := time.Since(start); d < 20*time.Millisecond || d > 5*time.Second {
			t.Errorf("spin %v: ended after %v", spin, d)
		}
		if far.steps.Load() != 1 {
			t.Errorf("spin %v: %d steps of one that is due in an hour", spin, far.steps.Load())
		}
		noneLeft(t, before)
	}
}

// noneLeft waits for goroutines to end: the last ones are about to.
func noneLeft(t *testing.T, before int) {
	t.Helper()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
