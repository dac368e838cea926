package clock

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// spinFor is how long before its time a stepper is woken to spin: sleeping is late by some tens of µs.
const spinFor = 100 * time.Microsecond

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

// Run gives each stepper a thread of its own.
func (r *Real) Run(ctx context.Context, s ...Stepper) error {
	var cut atomic.Bool
	defer context.AfterFunc(ctx, func() { cut.Store(true) })()
	var wg sync.WaitGroup
	for i, st := range s {
		wg.Go(func() {
			runtime.LockOSThread() // and never unlocked: a pinned thread ends with its goroutine
			if len(r.CPUs) > 0 {
				pin(r.CPUs[i%len(r.CPUs)])
			} else {
				defer runtime.UnlockOSThread()
			}
			r.drive(st, &cut)
		})
	}
	wg.Wait()
	if cut.Load() {
		return context.Cause(ctx)
	}
	return nil
}

func (r *Real) drive(s Stepper, cut *atomic.Bool) {
	for !cut.Load() {
		now := r.Now()
		next := s.Step(now)
		if next == Never {
			return
		}
		for !r.Spin && !cut.Load() {
			left := time.Duration(next - r.Now())
			if left <= spinFor {
				break
			}
			sleep(min(left-spinFor, longest))
		}
		for next > r.Now() && !cut.Load() {
		}
	}
}
