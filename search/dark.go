package search

import (
	"fmt"
	"slices"

	"loadtest/trial"
)

// A darkness counts trials of which nothing came back.
type darkness struct {
	trials  int   // in a row since the start, of all streams
	sent    int64 // in them
	light   bool  // something came back
	streams []darkStream
}

type darkStream struct {
	name   string
	trials int
	sent   int64
	light  bool
}

// see notes a trial or a warm-up. One that the tester spoilt is no sign of the device's silence.
func (d *darkness) see(r *trial.Result) {
	if r.Missed() > 0 || downPorts(r) != "" || r.Stall() != "" {
		return
	}
	sent := r.Sum(func(s *trial.Stream) int64 { return s.Sent })
	d.light = d.light || r.Sum(func(s *trial.Stream) int64 { return s.Received }) > 0
	if sent > 0 && !d.light {
		d.trials++
		d.sent += sent
	}
	for i := range r.Streams {
		s := d.of(r.Streams[i].Name)
		s.light = s.light || r.Streams[i].Received > 0
		if r.Streams[i].Sent > 0 && !s.light {
			s.trials++
			s.sent += r.Streams[i].Sent
		}
	}
}

func (d *darkness) of(name string) *darkStream {
	for i := range d.streams {
		if d.streams[i].name == name {
			return &d.streams[i]
		}
	}
	d.streams = append(d.streams, darkStream{name: name})
	return &d.streams[len(d.streams)-1]
}

// err is *NotMeasured once so many trials were dark from the start of the run, in all streams or in one.
func (d *darkness) err(enough int) error {
	if !d.light && d.trials >= enough {
		return &NotMeasured{fmt.Sprintf("nothing came back: %d sent, 0 of ours received", d.sent)}
	}
	for _, s := range d.streams {
		if !s.light && s.trials >= enough {
			return &NotMeasured{fmt.Sprintf("stream %s: nothing came back: %d sent, 0 of ours received", s.name, s.sent)}
		}
	}
	return nil
}

// silent tells whether a stream sent enough for something to come back, and nothing did.
func silent(r *trial.Result) bool {
	const enough = 10
	return slices.ContainsFunc(r.Streams, func(s trial.Stream) bool { return s.Sent >= enough && s.Received == 0 })
}
