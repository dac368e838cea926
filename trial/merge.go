package trial

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Merge adds two results of the same trial, as lanes, queues or machines counted them: counts and cells add, the stretch of
// time is the union. It is associative and commutative. Both must hold the same names, or disjoint ones.
func Merge(a, b Result) (Result, error) {
	if a.Streams == nil && a.Ports == nil {
		return b, nil
	}
	if b.Streams == nil && b.Ports == nil {
		return a, nil
	}
	end := max(a.Start+int64(a.Elapsed), b.Start+int64(b.Elapsed))
	r := Result{Start: min(a.Start, b.Start), Stopped: a.Stopped || b.Stopped, Cut: a.Cut || b.Cut}
	r.Elapsed = time.Duration(end - r.Start)
	for _, s := range [][]Stream{a.Streams, b.Streams} {
		seen := make(map[string]bool, len(s))
		for i := range s {
			if seen[s[i].Name] {
				return Result{}, fmt.Errorf("merge results: stream %q stands twice in one of them", s[i].Name)
			}
			seen[s[i].Name] = true
			j := slices.IndexFunc(r.Streams, func(t Stream) bool { return t.Name == s[i].Name })
			if j < 0 {
				r.Streams = append(r.Streams, s[i].clone())
			} else {
				r.Streams[j].Add(&s[i])
			}
		}
	}
	for _, p := range [][]Port{a.Ports, b.Ports} {
		for i := range p {
			j := slices.IndexFunc(r.Ports, func(q Port) bool { return q.Name == p[i].Name })
			if j < 0 {
				r.Ports = append(r.Ports, p[i])
				r.Ports[len(r.Ports)-1].Foreign = slices.Clone(p[i].Foreign)
			} else {
				r.Ports[j].add(&p[i])
			}
		}
	}
	slices.SortFunc(r.Streams, func(a, b Stream) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(r.Ports, func(a, b Port) int { return cmp.Compare(a.Name, b.Name) })
	return r, nil
}

func (s *Stream) clone() Stream {
	c := *s
	c.Latency, c.Lateness = s.Latency.Clone(), s.Lateness.Clone()
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
	s.Lateness.Add(&o.Lateness)
}

func (p *Port) add(o *Port) {
	p.Missed += o.Missed
	p.TxError += o.TxError
	p.Down = p.Down || o.Down
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
