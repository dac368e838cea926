package search

import (
	"time"

	"loadtest/trial"
)

// learn notes how many packets a trial is: captures differ in sizes, and only the runner knows them.
func (l *loop) learn(s *trial.Spec, r *trial.Result) {
	due := r.Sum(func(s *trial.Stream) int64 { return s.Intended })
	if of := s.At(0) * r.Elapsed.Seconds(); due > 0 && of > 0 && len(s.Load) == 1 {
		l.perLoad = float64(due) / of
	}
	if s.Loops > 0 && !r.Stopped && (s.Duration == 0 || r.Elapsed < s.Duration) {
		l.perLoop = float64(due) / float64(s.Loops)
	}
}

// due is how many packets a whole trial would intend; 0: not known. What a capture's own pace brings in a given time is not known
// from any other load or time: it is not even.
func (l *loop) due(s *trial.Spec) float64 {
	inTime, inLoops := l.perLoad*s.At(0)*s.Duration.Seconds(), l.perLoop*float64(s.Loops)
	switch {
	case len(s.Load) != 1 || s.Unit == trial.Factor && s.Duration > 0:
		return 0
	case s.Loops == 0:
		return inTime
	case s.Duration == 0:
		return inLoops
	}
	return min(inTime, inLoops)
}

// spec adds to a strategy's Spec what the strategy does not care about, the bound of the early stop among it.
func (l *loop) spec(s trial.Spec) trial.Spec {
	for _, d := range []struct{ of, or *time.Duration }{
		{&s.Preroll, &l.Preroll}, {&s.Drain, &l.Drain}, {&s.Interval, &l.Interval},
	} {
		if *d.of == 0 {
			*d.of = *d.or
		}
	}
	s.Drain = max(s.Drain, l.drain)
	if l.NoEarlyStop || l.whole || l.Verdict != nil || s.StopAt != 0 {
		return s
	}
	if l.Loss == 0 && l.MaxUnsent == 0 {
		s.StopAt = 1
		return s
	}
	// What may be lost or unsent is a share of what the whole trial would intend, known only after some traffic.
	due := l.due(&s)
	if due == 0 {
		return s
	}
	s.StopAt = int64(l.Loss*due*1.01) + 1
	s.Spare = int64(l.MaxUnsent * due)
	return s
}
