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
		for lanes := range s.r.streams() {
			sum := trial.Progress{Name: lanes[0].name}
			for _, l := range lanes {
				p := &l.published
				sum.Intended += p.intended.Load()
				sum.Sent += p.sent.Load()
				sum.Received += p.returned.Load()
				sum.SentWireBits += p.bits.Load()
				sum.RecvBits += p.returnedBits.Load()
			}
			sample.Streams = append(sample.Streams, sum)
		}
		s.see(sample)
		s.next += s.every * max(1, (now-s.next)/s.every+1)
	}
	return min(s.next, now+int64(100*time.Millisecond))
}
