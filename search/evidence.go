package search

import "time"

// evidence is what trials lost, one by one.
type evidence []lossy

// lossy is one trial.
type lossy struct {
	load       float64
	sent, lost int64 // packets of all streams
	during     time.Duration
}

// add notes a trial that says something about the device.
func (e *evidence) add(o *Outcome) {
	if o.Verdict != Limited {
		e.count(o)
	}
}

// count notes a trial whatever came of it, if the tester dropped nothing itself.
func (e *evidence) count(o *Outcome) {
	t := lossy{load: o.Spec.At(0), during: o.Result.Elapsed}
	for i := range o.Result.Streams {
		s := &o.Result.Streams[i]
		t.sent += s.Sent
		t.lost += max(0, s.Lost())
	}
	if t.sent > 0 && o.Result.Missed() == 0 {
		*e = append(*e, t)
	}
}

// sum is that of the trials with loads from low to below high. A trial with a loss is one event: it mostly ended with it.
func (e evidence) sum(low, high float64) (s sums) {
	for _, t := range e {
		if t.load < low || t.load >= high {
			continue
		}
		s.sent += t.sent
		s.lost += t.lost
		s.during += t.during
		if t.lost > 0 {
			s.events++
			if s.lowest == 0 || t.load < s.lowest {
				s.lowest = t.load
			}
		}
	}
	return s
}

// sums of several trials.
type sums struct {
	sent, lost int64
	events     int64 // trials that lost something
	during     time.Duration
	lowest     float64 // load of them
}

// bursts says whether packets are lost many at once and seldom, as queues lose them, rather than one by one. What goes on being lost
// until a trial is stopped is none: that takes a fifth of a second at most.
func (s sums) bursts() bool {
	if s.events == 0 || s.during <= 0 {
		return false
	}
	each := float64(s.lost) / float64(s.events)
	return each > 2+0.2*each/(s.during.Seconds()/float64(s.events))
}
