package main

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"loadtest/internal/preflight"
	"loadtest/units"
)

// preflight judges what a stream sends for its port. What cannot measure what it seems to is refused; what will make the result
// worse is kept, to be told once.
func (s *session) preflight(st *stream) error {
	if !st.captured() {
		return nil
	}
	o := s.options(units.Rate{}, s.tag)
	o.MACs, o.Split = true, true // refused elsewhere, for all streams
	if s.verb == "replay" {
		if o.Load = s.rate; o.Load == (units.Rate{}) {
			o.Load = units.Rate{Kind: units.Factor, Value: st.weight()}
		}
		if o.Duration = s.duration; o.Duration == 0 && s.timed(s.command.Flags()) {
			o.Duration = math.MaxInt64 // until Ctrl-C
		}
		if o.Loops == 0 && !s.timed(s.command.Flags()) {
			o.Loops = 1
		}
	} else { // every trial begins with the first packet again
		o.Loops = max(2, o.Loops)
	}
	port := preflight.PortOf(s.devices[st.tx].Info)
	port.UpKnown, port.Merges = false, false // links are waited for; where packets come back is another port
	rule, sides := "", st.way.sides
	if sides != nil {
		rule = s.split
	}
	facts := st.capture.facts(rule, sides)
	found := preflight.Judge(facts, port, st.tally, o)
	if back := preflight.PortOf(s.devices[st.rx].Info); back.Merges {
		found = append(found, slices.DeleteFunc(preflight.Judge(facts, back, st.tally, o), func(f preflight.Finding) bool { return f.Kind != preflight.PortMerges })...)
	}
	for _, f := range found {
		known := slices.ContainsFunc(s.findings, func(g preflight.Finding) bool { return g.Text == f.Text })
		switch {
		case f.Level == preflight.Refuse:
			return errors.New(f.Text)
		case (f.Level == preflight.Warn || f.Kind == preflight.Cut) && !known:
			s.findings = append(s.findings, f)
		}
	}
	return nil
}

// warn tells what preflight found.
func (s *session) warn() {
	for _, f := range s.findings {
		s.tell("capture", f.Port, f.Text)
	}
	s.findings = nil
}

// warnings are the same before there is a run.
func (s *session) warnings() {
	for _, f := range s.findings {
		fmt.Fprintf(s.command.ErrOrStderr(), "warning: %s\n", f.Text)
	}
}
