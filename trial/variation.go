package trial

// Variation is how the delays of a stream's packets differ from each other. The zero value is of what was not measured: it takes a
// port that tells each packet's arrival.
type Variation struct {
	// Jitter is the interarrival jitter in ns (RFC 3550, 6.4.1) as it stood at the last packet. Each lane has its own; of their
	// merge it is the largest.
	Jitter   int64
	Compared int64 // packets that went into it, in order of arrival

	// Between is the IPDV (RFC 8219, 7.3.2; RFC 5481, 4.1): each packet's delay less that of the one sent before it in its lane,
	// where both came back.
	Between Differences
}

func (v *Variation) add(o *Variation) {
	v.Jitter = max(v.Jitter, o.Jitter)
	v.Compared += o.Compared
	v.Between.Add(&o.Between)
}

func (v *Variation) clone() Variation {
	c := *v
	c.Between = v.Between.Clone()
	return c
}

// Differences count times in ns that may be negative. The zero value is empty and ready; Record does not allocate after Grow.
type Differences struct{ above, below Histogram } // of 0 and more, and of the rest, as what they are below 0

// Grow allocates the cells, so that Record never does.
func (d *Differences) Grow() {
	d.above.Grow()
	d.below.Grow()
}

// Record counts one of ns.
func (d *Differences) Record(ns int64) {
	if ns >= 0 {
		d.above.Record(ns, 1)
	} else {
		d.below.Record(-ns, 1)
	}
}

// Count is how many were counted.
func (d *Differences) Count() int64 { return d.above.Count + d.below.Count }

// Range is the least and the greatest, exact; false if it is empty.
func (d *Differences) Range() (least, most int64, ok bool) {
	switch {
	case d.Count() == 0:
		return 0, 0, false
	case d.below.Count == 0:
		return d.above.Min, d.above.Max, true
	case d.above.Count == 0:
		return -d.below.Max, -d.below.Min, true
	}
	return -d.below.Max, d.above.Max, true
}

// Median is the value that half of them do not exceed (to a cell's width); false if it is empty.
func (d *Differences) Median() (int64, bool) {
	n := d.Count()
	if n == 0 {
		return 0, false
	}
	if rank := n/2 + n%2; rank > d.below.Count {
		return d.above.ranked(rank - d.below.Count), true
	} else {
		return -d.below.ranked(d.below.Count - rank + 1), true
	}
}

// Add counts all that o counted.
func (d *Differences) Add(o *Differences) {
	d.above.Add(&o.above)
	d.below.Add(&o.below)
}

// Clone is a copy that shares nothing.
func (d *Differences) Clone() Differences { return Differences{d.above.Clone(), d.below.Clone()} }

// Reset empties it and keeps its cells.
func (d *Differences) Reset() {
	d.above.Reset()
	d.below.Reset()
}
