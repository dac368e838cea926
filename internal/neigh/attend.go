package neigh

import (
	"errors"
	"time"

	"loadtest/internal/clock"
	"loadtest/nic"
	"loadtest/packet"
)

// idle is how long an Attendant leaves a silent port alone, ns.
const idle = int64(time.Millisecond)

// An Attendant owns both halves of a port while no trial runs: it hears, answers, sends. It is a clock.Stepper.
type Attendant struct {
	Host    *Host
	Port    nic.Port
	Virtual bool                               // the clock is: nothing waits in the kernel
	See     func(b []byte, at int64, own bool) // is shown each frame, lent until it returns; nil: nobody looks
	Until   func(now int64) bool               // ends it; nil: never
	Err     error                              // of the port, if that ended it; a link that is down does not

	frames []packet.Frame
	waiter nic.Waiter
}

// Step hears what has arrived and sends what is due.
func (a *Attendant) Step(now int64) (next int64) {
	if a.frames == nil {
		a.frames, a.waiter = make([]packet.Frame, 64), nic.Of(a.Port).Waiter
	}
	n, err := a.Port.Recv(a.frames)
	for i := range a.frames[:n] {
		a.hear(&a.frames[i], now)
	}
	next = a.Host.Step(now)
	if err == nil && a.Host.Pending() {
		err = a.Host.Flush(a.Port)
	}
	if err != nil && !errors.Is(err, nic.ErrDown) {
		a.Err = err
		return clock.Never
	}
	if a.Until != nil && a.Until(now) {
		return clock.Never
	}
	if n == len(a.frames) {
		return now
	}
	if next = min(next, now+idle); a.Virtual || a.waiter == nil {
		return next
	}
	a.waiter.Wait(time.Duration(next - now))
	return now
}

func (a *Attendant) hear(f *packet.Frame, now int64) {
	own := a.Host.Hear(f.Data, now)
	if a.See == nil {
		return
	}
	at := f.Nanos
	if at == 0 {
		at = now
	}
	a.See(f.Data, at, own)
}
