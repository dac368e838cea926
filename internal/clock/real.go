package clock

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// spinFor is how long before its time a stepper is woken to spin: waking up takes the kernel about so long. More is more exact
// on an idle machine, but who spins uses up his share of a busy one, and then waits for milliseconds.
const spinFor = 30 * time.Microsecond

// longest bounds a sleep, so that a cancelled run ends soon.
const longest = 5 * time.Millisecond

// Real is the clock of the machine: ns of CLOCK_MONOTONIC since it was made.
type Real struct {
	Spin bool  // never sleep
	CPUs []int // the steppers' threads are pinned to these in turn; empty: not pinned

	start time.Time
	epoch int64
}

// NewReal is a clock whose time zero is now.
func NewReal() *Real {
	r := &Real{start: time.Now(), epoch: monotonic()}
	r.epoch -= int64(time.Since(r.start))
	return r
}

// Epoch is time zero in ns of CLOCK_MONOTONIC; 0 where the system tells none.
func (r *Real) Epoch() int64 { return r.epoch }

// Now is the time in ns since the clock was made.
func (r *Real) Now() int64 { return int64(time.Since(r.start)) }

// Virtual is false.
func (r *Real) Virtual() bool { return false }

// Run gives each stepper a thread of its own; with fewer CPUs than steppers those of one CPU take turns in one thread, since two
// threads that never yield must not share one.
func (r *Real) Run(ctx context.Context, s ...Stepper) error {
	var cut atomic.Bool
	defer context.AfterFunc(ctx, func() { cut.Store(true) })()
	var wg sync.WaitGroup
	for i, thread := range r.threads(s) {
		wg.Go(func() {
			runtime.LockOSThread() // and never unlocked: the thread ends with its goroutine, and what was set for it
			eager()
			if i < len(r.CPUs) {
				pin(r.CPUs[i])
			}
			r.drive(thread, &cut)
		})
	}
	wg.Wait()
	if cut.Load() {
		return context.Cause(ctx)
	}
	return nil
}

// threads says which steppers share a thread; those of the CPUs come first.
func (r *Real) threads(s []Stepper) [][]Stepper {
	t := make([][]Stepper, len(r.CPUs))
	hot := 0
	for _, st := range s {
		if _, aside := st.(Aside); aside || len(r.CPUs) == 0 {
			t = append(t, []Stepper{st})
			continue
		}
		t[hot%len(r.CPUs)] = append(t[hot%len(r.CPUs)], st)
		hot++
	}
	return t
}

// drive steps the steppers of one thread, each when it is due, until all are done.
func (r *Real) drive(s []Stepper, cut *atomic.Bool) {
	spin := r.Spin && !slices.ContainsFunc(s, func(st Stepper) bool { _, aside := st.(Aside); return aside })
	next := make([]int64, len(s))
	for !cut.Load() {
		least := int64(Never)
		for i, st := range s {
			if next[i] == Never {
				continue
			}
			if now := r.Now(); next[i] <= now {
				next[i] = st.Step(now)
			}
			least = min(least, next[i])
		}
		if least == Never {
			return
		}
		r.wait(least, spin, cut)
	}
}

// wait sleeps until shortly before t and spins the rest.
func (r *Real) wait(t int64, spin bool, cut *atomic.Bool) {
	for !spin && !cut.Load() {
		left := time.Duration(t - r.Now())
		if left <= spinFor {
			break
		}
		sleep(min(left-spinFor, longest))
	}
	for t > r.Now() && !cut.Load() {
	}
}
