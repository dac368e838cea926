package clock

import (
	"sync/atomic"
	"time"
)

// spinFor is how long before its time a stepper is woken to spin: waking up takes the kernel about so long. More is more exact
// on an idle machine, but who spins uses up his share of a busy one, and then waits for milliseconds.
const spinFor = 30 * time.Microsecond

// longest bounds a sleep, so that a cancelled run ends soon.
const longest = 5 * time.Millisecond

// A thread drives the steppers that share it.
type thread struct {
	steppers []Stepper
	spin     bool // never sleep
	aside    bool // never spin: nobody waits for it
	cut      *atomic.Bool
	now      func() int64
	sleep    func(time.Duration)
}

// drive steps each stepper when it is due until all are done; all are due at first, from the time began on. stolen is the longest
// that the thread stood still while one was due: a single step lasted, or nothing was stepped. Each look at the clock ends one
// such stretch and begins the next.
func (t *thread) drive(began int64) (stolen int64) {
	next := make([]int64, len(t.steppers))
	now := t.now()
	stolen = now - began
	for !t.cut.Load() {
		least := int64(Never)
		for i, s := range t.steppers {
			if next[i] <= now {
				next[i] = s.Step(now)
				ended := t.now()
				stolen = max(stolen, ended-now)
				now = ended
			}
			least = min(least, next[i])
		}
		if least == Never {
			break
		}
		due := max(least, now)
		now = t.wait(least, now)
		stolen = max(stolen, now-due)
	}
	return stolen
}

// wait sleeps until shortly before due and spins the rest. It takes and gives the time.
func (t *thread) wait(due, now int64) int64 {
	early := spinFor
	if t.aside {
		early = 0
	}
	for !t.spin && !t.cut.Load() {
		left := time.Duration(due - now)
		if left <= early {
			break
		}
		t.sleep(min(left-early, longest))
		now = t.now()
	}
	for due > now && !t.cut.Load() {
		now = t.now()
	}
	return now
}
