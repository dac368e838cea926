package replay

import (
	"sync/atomic"

	"loadtest/trial"
)

// shared is all that senders and receivers of a running trial know of each other; written once per burst, if at all.
type shared struct {
	stop  atomic.Bool // end sending now
	early atomic.Bool // because StopAt was reached

	missing atomic.Int64 // packets that are certainly lost
	unsent  atomic.Int64 // packets that were due and will not be sent

	stopAt, spare int64
	count         int64 // when counting starts, on the run's clock
}

func (s *shared) begin(spec trial.Spec) {
	s.stop.Store(false)
	s.early.Store(false)
	s.missing.Store(0)
	s.unsent.Store(0)
	s.stopAt, s.spare = spec.StopAt, spec.Spare
}

// over says whether sending is to end before its time.
func (s *shared) over() bool {
	if s.stop.Load() {
		return true
	}
	if s.stopAt > 0 && s.missing.Load()+max(0, s.unsent.Load()-s.spare) >= s.stopAt {
		s.early.Store(true)
		s.stop.Store(true)
		return true
	}
	return false
}
