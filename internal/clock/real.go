package clock

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Real is the clock of the machine: ns of CLOCK_MONOTONIC since it was made.
type Real struct {
	Spin bool  // never sleep
	CPUs []int // the steppers' threads are pinned to these in turn; empty: not pinned

	start  time.Time
	epoch  int64
	asleep func() (least, most int64)
	lost   Loss
}

// A Loss is time that the machine took from a Run.
type Loss struct {
	Stolen    time.Duration // longest time that one hot thread stood still though a stepper was due: a step lasted, or began late
	Suspended time.Duration // the machine slept, which its clock does not count; 0 where the system tells nothing of it
}

// NewReal is a clock whose time zero is now.
func NewReal() *Real {
	r := &Real{start: time.Now(), epoch: monotonic(), asleep: asleep}
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
	threads := r.threads(s)
	stolen := make([]int64, len(threads)) // of each
	_, slept := r.asleep()
	began := r.Now()
	var wg sync.WaitGroup
	for i, steppers := range threads {
		if len(steppers) == 0 { // more CPUs than steppers
			continue
		}
		wg.Go(func() {
			runtime.LockOSThread() // and never unlocked: the thread ends with its goroutine, and what was set for it
			eager()
			if i < len(r.CPUs) {
				pin(r.CPUs[i])
			}
			aside := slices.ContainsFunc(steppers, isAside)
			t := thread{steppers: steppers, spin: r.Spin && !aside, aside: aside, cut: &cut, now: r.Now, sleep: sleep}
			if runtime.GOMAXPROCS(0) > runtime.NumCPU() { // processors to spare
				t.sleep = nap
			}
			if n := t.drive(began); !aside {
				stolen[i] = n
			}
		})
	}
	wg.Wait()
	least, _ := r.asleep()
	r.lost = Loss{Suspended: time.Duration(max(0, least-slept))}
	for _, n := range stolen {
		r.lost.Stolen = max(r.lost.Stolen, time.Duration(n))
	}
	if cut.Load() {
		return context.Cause(ctx)
	}
	return nil
}

// Lost is what the machine took from the last Run. It belongs to the goroutine that called Run.
func (r *Real) Lost() Loss { return r.lost }

// threads says which steppers share a thread; those of the CPUs come first.
func (r *Real) threads(s []Stepper) [][]Stepper {
	t := make([][]Stepper, len(r.CPUs))
	hot := 0
	for _, st := range s {
		if len(r.CPUs) == 0 || isAside(st) {
			t = append(t, []Stepper{st})
			continue
		}
		t[hot%len(r.CPUs)] = append(t[hot%len(r.CPUs)], st)
		hot++
	}
	return t
}

func isAside(s Stepper) bool {
	_, aside := s.(Aside)
	return aside
}
