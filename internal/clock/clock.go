// Package clock runs steppers in real or virtual time. Times are ns since the run's epoch.
//
//	sender, device, receiver: Step(now) → next ─→ Clock.Run: real: a locked thread each; virtual: one goroutine, in order
//
// Engines see time only as the argument of Step, so the same engine runs exactly and repeatably against a simulated device.
package clock

import (
	"context"
	"math"
)

// A Stepper does one burst of work and says when it wants to be stepped again: next <= now is at once, Never is done.
// Step must not wait for another stepper.
type Stepper interface {
	Step(now int64) (next int64)
}

// Never, as the answer of Step, ends a Stepper.
const Never = math.MaxInt64

// An Aside is a Stepper that only looks on: the real clock gives it a thread of its own, which is not pinned and sleeps.
type Aside interface {
	Stepper
	Aside()
}

// A Clock runs steppers until each is done or ctx ends; then the cause of ctx is returned.
type Clock interface {
	Now() int64
	Run(ctx context.Context, s ...Stepper) error
	Virtual() bool
}
