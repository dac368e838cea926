package trial

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Merge adds two results of the same trial, as lanes, queues or machines counted them: counts and cells add, the stretch of
// time is the union, of times lost and of the lanes' jitter the longest stays, names are sorted. It is associative and commutative, an empty Result
// changes nothing, and the sum shares no memory with its parts.
func Merge(a, b Result) (Result, error) {
	r := Result{Start: a.Start, Elapsed: a.Elapsed, Stopped: a.Stopped || b.Stopped, Cut: a.Cut || b.Cut,
		Stolen: max(a.Stolen, b.Stolen), Suspended: max(a.Suspended, b.Suspended), Starved: max(a.Starved, b.Starved)}
	switch {
	case a.empty():
		r.Start, r.Elapsed = b.Start, b.Elapsed
	case !b.empty():
		r.Start = min(a.Start, b.Start)
		r.Elapsed = time.Duration(max(a.Start+int64(a.Elapsed), b.Start+int64(b.Elapsed)) - r.Start)
	}
	for _, part := range []*Result{&a, &b} {
		if err := part.check(); err != nil {
			return Result{}, fmt.Errorf("merge results: %w", err)
		}
		for i := range part.Streams {
			s := &part.Streams[i]
			if j := slices.IndexFunc(r.Streams, func(t Stream) bool { return t.Name == s.Name }); j >= 0 {
				r.Streams[j].Add(s)
			} else {
				r.Streams = append(r.Streams, s.clone())
			}
		}
		for i := range part.Ports {
			p := &part.Ports[i]
			j := slices.IndexFunc(r.Ports, func(q Port) bool { return q.Name == p.Name })
			if j < 0 {
				j = len(r.Ports)
				r.Ports = append(r.Ports, Port{Name: p.Name})
			}
			r.Ports[j].add(p)
		}
	}
	slices.SortFunc(r.Streams, func(a, b Stream) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(r.Ports, func(a, b Port) int { return cmp.Compare(a.Name, b.Name) })
	return r, nil
}

func (r *Result) empty() bool {
	return r.Start == 0 && r.Elapsed == 0 && len(r.Streams) == 0 && len(r.Ports) == 0
}

// check refuses a name that stands twice: it would be added to itself.
func (r *Result) check() error {
	for i := range r.Streams {
		name := r.Streams[i].Name
		if slices.ContainsFunc(r.Streams[:i], func(t Stream) bool { return t.Name == name }) {
			return fmt.Errorf("stream %q stands twice in one of them", name)
		}
	}
	for i, p := range r.Ports {
		if slices.ContainsFunc(r.Ports[:i], func(q Port) bool { return q.Name == p.Name }) {
			return fmt.Errorf("port %q stands twice in one of them", p.Name)
		}
	}
	return nil
}

func (s *Stream) clone() Stream {
	c := *s
	c.Latency, c.Variation, c.Lateness = s.Latency.Clone(), s.Variation.clone(), s.Lateness.Clone()
	return c
}

// Add adds the counts of another part of the same stream.
func (s *Stream) Add(o *Stream) {
	for _, c := range [][2]*int64{
		{&s.Intended, &o.Intended}, {&s.Sent, &o.Sent}, {&s.Received, &o.Received}, {&s.Untagged, &o.Untagged},
		{&s.SentBytes, &o.SentBytes}, {&s.ReceivedBytes, &o.ReceivedBytes},
		{&s.SentWireBits, &o.SentWireBits}, {&s.RecvWireBits, &o.RecvWireBits},
		{&s.Duplicated, &o.Duplicated}, {&s.Reordered, &o.Reordered}, {&s.Late, &o.Late}, {&s.Corrupt, &o.Corrupt},
		{&s.Surplus, &o.Surplus}, {&s.Skipped, &o.Skipped},
		{&s.Half.Packets, &o.Half.Packets}, {&s.Half.Bytes, &o.Half.Bytes}, {&s.Half.WireBits, &o.Half.WireBits},
	} {
		*c[0] += *c[1]
	}
	s.Half.During = max(s.Half.During, o.Half.During)
	s.Latency.Add(&o.Latency)
	s.Variation.add(&o.Variation)
	s.Stamps.Sent, s.Stamps.Arrived = max(s.Stamps.Sent, o.Stamps.Sent), max(s.Stamps.Arrived, o.Stamps.Arrived)
	s.Lateness.Add(&o.Lateness)
}

func (p *Port) add(o *Port) {
	p.Missed += o.Missed
	p.TxError += o.TxError
	p.Down = p.Down || o.Down
	p.Line.Told = p.Line.Told || o.Line.Told
	p.Line.Pauses += o.Line.Pauses
	p.Line.Broken += o.Line.Broken
	for _, f := range o.Foreign {
		i := slices.IndexFunc(p.Foreign, func(g Foreign) bool { return g.Kind == f.Kind })
		if i < 0 {
			p.Foreign = append(p.Foreign, f)
		} else {
			p.Foreign[i].Packets += f.Packets
		}
	}
	slices.SortFunc(p.Foreign, func(a, b Foreign) int { return cmp.Compare(a.Kind, b.Kind) })
}
