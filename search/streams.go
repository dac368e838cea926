package search

import (
	"slices"

	"loadtest/trial"
)

// A Limit is what one stream can have while all others have theirs.
type Limit struct {
	Stream string
	Answer Answer // of the search that ended with it
}

// PerStream finds a limit for each stream: all streams climb together until some of them fail, which stay at what they had, while the
// others climb on (max-min fairness by progressive filling; Bertsekas and Gallager, Data Networks, 6.5.2). Each search is one that
// next makes, of a load for the streams that still climb.
func PerStream(streams []string, loss float64, next func() Strategy) *Streams {
	return &Streams{climbing: slices.Clone(streams), loss: loss, next: next, inner: next()}
}

// Streams is such a search.
type Streams struct {
	climbing []string
	limits   []Limit
	loss     float64
	next     func() Strategy
	inner    Strategy
	over     bool
}

// Next is the trial that the search at hand wants, with the streams that do not climb at their limits.
func (s *Streams) Next() (Step, bool) {
	for !s.over {
		step, more := s.inner.Next()
		if more {
			return s.held(step), true
		}
		s.settle(s.inner.Answer())
	}
	return Step{}, false
}

// held keeps streams at their limits.
func (s *Streams) held(step Step) Step {
	if len(s.limits) == 0 {
		return step
	}
	share := map[string]float64{}
	for name, f := range step.Share {
		share[name] = f
	}
	for _, l := range s.limits {
		own := 1.0
		if f, ok := share[l.Stream]; ok {
			own = f
		}
		share[l.Stream] = own * l.Answer.Load / step.At(0)
	}
	step.Share = share
	return step
}

// settle gives their limit to the streams that failed a step higher; to all, if none of them is to blame.
func (s *Streams) settle(a Answer) {
	failed := func(name string) bool {
		return slices.ContainsFunc(a.Worst.Streams, func(t trial.Stream) bool {
			ratio, ok := t.LossRatio()
			return t.Name == name && ok && ratio > s.loss
		})
	}
	all := a.Load == 0 || a.Limit != LimitDevice || !a.Complete || !slices.ContainsFunc(s.climbing, failed)
	var on []string
	for _, name := range s.climbing {
		if all || failed(name) {
			s.limits = append(s.limits, Limit{name, a})
		} else {
			on = append(on, name)
		}
	}
	if s.close(); len(on) == 0 || !a.Complete {
		s.over = true
		return
	}
	s.climbing, s.inner = on, s.next()
}

// Report hands on how a trial went.
func (s *Streams) Report(o Outcome) { s.inner.Report(o) }

// Limits are those found so far, in the order in which they were.
func (s *Streams) Limits() []Limit { return s.limits }

// Answer is that of the search at hand.
func (s *Streams) Answer() Answer { return s.inner.Answer() }

// Err says what is wrong with the search's options.
func (s *Streams) Err() error {
	if e, ok := s.inner.(interface{ Err() error }); ok {
		return e.Err()
	}
	return nil
}

// Close leaves the search at hand.
func (s *Streams) Close() { s.close() }

func (s *Streams) close() {
	if c, ok := s.inner.(interface{ Close() }); ok {
		c.Close()
	}
}
