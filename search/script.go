package search

import "iter"

// A script is a search written down as it goes: it asks for one trial after the other.
type script struct {
	next func() (Step, bool)
	stop func()
	step Step
	open bool // step waits for its outcome
	over bool
	out  Outcome
}

// errStopped unwinds a script that is not to go on.
type errStopped struct{}

// newScript makes a state machine of run, which is left in the middle if nobody wants its next trial.
func newScript(run func(ask func(Step) Outcome)) *script {
	s := &script{}
	s.next, s.stop = iter.Pull(func(yield func(Step) bool) {
		defer func() {
			if r := recover(); r != nil && r != (errStopped{}) {
				panic(r)
			}
		}()
		run(func(step Step) Outcome {
			if !yield(step) {
				panic(errStopped{})
			}
			return s.out
		})
	})
	return s
}

// Next is the trial that the script waits for.
func (s *script) Next() (Step, bool) {
	if !s.open && !s.over {
		s.step, s.open = s.next()
		s.over = !s.open
	}
	return s.step, s.open
}

// Report lets the script go on.
func (s *script) Report(o Outcome) { s.out, s.open = o, false }

// Close leaves the script where it is.
func (s *script) Close() {
	s.stop()
	s.over, s.open = true, false
}
