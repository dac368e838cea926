package replay

import (
	"context"
	"maps"
	"slices"

	"loadtest/internal/clock"
	"loadtest/internal/neigh"
)

// rest attends to the neighbours of the ports until wake is called: between two trials a device may ask, too. In simulated
// time there is nothing between two trials.
func (r *Runner) rest() {
	if r.o.Clock.Virtual() || len(r.o.Hosts) == 0 {
		return
	}
	var all []clock.Stepper
	for _, name := range slices.Sorted(maps.Keys(r.o.Hosts)) {
		if d, ok := r.o.Ports[name]; ok {
			all = append(all, resting{&neigh.Attendant{Host: r.o.Hosts[name], Port: d.Port()}})
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = r.o.Clock.Run(ctx, all...) // it ends by being woken
	}()
	r.wake = func() {
		cancel()
		<-done
		r.wake = func() {}
	}
}

// resting keeps an attendant off the hot threads.
type resting struct{ *neigh.Attendant }

// Aside is what says so.
func (resting) Aside() {}

// Close ends what the Runner does between trials, and gives back packets that are like those of the first pass. The ports stay open.
func (r *Runner) Close() error {
	r.wake()
	for _, l := range r.lanes {
		l.restore()
	}
	return nil
}
