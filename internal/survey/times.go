package survey

import (
	"math"

	"loadtest/internal/timeline"
	"loadtest/packet"
	"loadtest/trial"
)

// Times are in ns. Pointers are nil where there is nothing: no packet with a time, no gap, no time that goes by.
type Times struct {
	First   *int64 `json:"first_unix_ns"`
	Last    *int64 `json:"last_unix_ns"` // of the last packet with a time, not the latest
	Span    int64  `json:"span_ns"`      // sum of all gaps; steps back count 0
	Untimed int64  `json:"untimed"`      // packets without a time

	Back        Seen  `json:"back"` // packets with a time before that of the one before
	LargestBack int64 `json:"largest_back_ns"`

	GapMin *int64         `json:"gap_min_ns"`
	GapP50 *int64         `json:"gap_p50_ns"`
	GapP99 *int64         `json:"gap_p99_ns"`
	GapMax *int64         `json:"gap_max_ns"`
	MaxAt  timeline.Place `json:"gap_max_before"` // the record behind the longest one

	// Mean rates of a loop, in which a mean gap follows the last packet.
	Pps   *float64 `json:"mean_pps"`
	Bps   *float64 `json:"mean_wire_bps"`
	Peaks []Peak   `json:"peaks"` // shortest window first; none that is longer than Span
}

// A pace is what Times are made from.
type pace struct {
	last    int64 // time of the latest packet that has one
	gaps    trial.Histogram
	windows [3]window
}

func (p *pace) begin() {
	p.gaps.Grow()
	for i, length := range [...]int64{1e6, 10e6, 1e9} {
		p.windows[i].step = length / steps
	}
}

// add sees the next record, of so many bits on the wire.
func (t *Times) add(r *packet.Record, bits int64, p *pace) {
	now := r.Nanos
	switch {
	case now == 0:
		if t.Untimed++; t.First == nil {
			p.count(0, bits)
		}
		return
	case t.First == nil && t.Untimed > 0 && timeline.FromZero(now):
		t.First = new(int64)
		p.gaps.Record(0, t.Untimed-1)
		t.Untimed = 0
		t.gap(r, now, p)
	case t.First == nil:
		t.First = new(now)
	case now < p.last:
		t.Back.see(r)
		t.LargestBack = max(t.LargestBack, between(now, p.last))
	default:
		t.gap(r, between(p.last, now), p)
	}
	p.last = now
	p.count(t.Span, bits)
}

// gap counts the time before a record.
func (t *Times) gap(r *packet.Record, gap int64, p *pace) {
	if p.gaps.Count == 0 || gap > p.gaps.Max {
		t.MaxAt = place(r)
	}
	p.gaps.Record(gap, 1)
	t.Span += min(gap, math.MaxInt64-t.Span)
}

// count counts a packet that comes so long after the first.
func (p *pace) count(at, bits int64) {
	for i := range p.windows {
		p.windows[i].add(at, bits)
	}
}

// between is the time from a to b, which is not before it: 292 years at most.
func between(a, b int64) int64 { return int64(min(uint64(b)-uint64(a), math.MaxInt64)) }

// done completes the figures of so many packets and their bits on the wire.
func (t *Times) done(packets, bits int64, p *pace) {
	if t.First != nil {
		t.Last = new(p.last)
	}
	if g := &p.gaps; g.Count > 0 {
		p50, _ := g.Percentile(50)
		p99, _ := g.Percentile(99)
		t.GapMin, t.GapP50, t.GapP99, t.GapMax = new(g.Min), &p50, &p99, new(g.Max)
	}
	t.Peaks = []Peak{}
	if t.Span == 0 {
		return
	}
	pass := float64(t.Span) / 1e9 * float64(packets) / float64(packets-1)
	t.Pps, t.Bps = new(float64(packets)/pass), new(float64(bits)/pass)
	for i := range p.windows {
		if w := &p.windows[i]; w.step*steps <= t.Span {
			t.Peaks = append(t.Peaks, w.peak())
		}
	}
}
