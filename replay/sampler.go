package replay

import (
	"time"

	"loadtest/internal/clock"
	"loadtest/trial"
)

// A sampler shows how far a trial is, from published numbers, in a stepper of its own.
type sampler struct {
	r     *Runner
	every int64
	next  int64
	see   func(trial.Sample)
}

// Aside keeps it off the hot threads.
func (s *sampler) Aside() {}

// Step shows one sample.
func (s *sampler) Step(now int64) int64 {
	ended := true
	for _, t := range s.r.senders {
		ended = ended && t.finished.Load() != 0
	}
	if ended {
		return clock.Never
	}
	if s.next == 0 {
		s.next = s.r.shared.count + s.every
	}
	if now >= s.next {
		sample := trial.Sample{At: time.Duration(now - s.r.shared.count)}
		for _, l := range s.r.lanes {
			p := &l.published
			sample.Streams = append(sample.Streams, trial.Progress{Name: l.name, Intended: p.intended.Load(), Sent: p.sent.Load(),
				Received: p.returned.Load(), SentWireBits: p.bits.Load(), RecvBits: p.returnedBits.Load()})
		}
		s.see(sample)
		s.next += s.every * max(1, (now-s.next)/s.every+1)
	}
	return min(s.next, now+int64(100*time.Millisecond))
}
