package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"loadtest/search"
	"loadtest/trial"
)

// verdict judges a trial that stands alone.
func (s *session) verdict(spec trial.Spec, r *trial.Result, loss float64) error {
	if err := s.measured(r); err != nil {
		return err
	}
	if err := s.limited(spec, r); err != nil {
		return err
	}
	for i := range r.Streams {
		st := &r.Streams[i]
		if share, ok := st.LossRatio(); ok && share > loss && !slices.Contains(s.sentOnly(), st.Name) {
			return failure{fmt.Errorf("%s lost %d packets", st.Name, st.Lost())}
		}
	}
	return nil
}

// measured is the first verdict on a trial that stands alone: nil, or why nothing can be said about the device.
func (s *session) measured(r *trial.Result) error {
	if err := linked(r); err != nil {
		return err
	}
	if stall := r.Stall(); stall != "" && r.Elapsed <= time.Minute { // a longer one has books that say what came of it
		return &search.NotMeasured{Reason: stall}
	}
	for i := range r.Streams {
		st := &r.Streams[i]
		if st.Sent == 0 {
			return &search.NotMeasured{Reason: fmt.Sprintf("%s: nothing was sent", st.Name)}
		}
		if !slices.Contains(s.sentOnly(), st.Name) && st.Received == 0 {
			return &search.NotMeasured{Reason: fmt.Sprintf("%s: nothing came back: %d sent, 0 of ours received", st.Name, st.Sent)}
		}
	}
	return nil
}

// sentOnly are the streams that nobody looks for.
func (s *session) sentOnly() (names []string) {
	for _, st := range s.streams {
		if st.rx == "" {
			names = append(names, st.name)
		}
	}
	return names
}

// linked says which links went down: then a loss is none of the device's.
func linked(r *trial.Result) error {
	var down []string
	for _, p := range r.Ports {
		if p.Down {
			down = append(down, p.Name)
		}
	}
	if len(down) == 0 {
		return nil
	}
	return &search.NotMeasured{Reason: "link down: " + strings.Join(down, ", ")}
}
