package timeline

import "math"

// Told is what a pass has seen. Times are in ns; what does not fit is MaxInt64.
type Told struct {
	Packets int64
	Untimed int64 // of them, how many have no time
	Start   int64 // time of the first, ns since 1970
	Span    int64 // from the first to the last, as they are replayed

	// Mean is the mean gap of the whole line: Span over Packets-1, rounded down; 0 with fewer than two packets. It is the gap
	// between passes, from the last packet to the first one again.
	Mean int64

	Back    Back
	Capped  Capped
	Longest Gap // as captured; Nanos 0: there is none
}

// A Place says which record.
type Place struct {
	File   uint16 `json:"file"`   // from 0
	Number int64  `json:"record"` // in its file, from 1; 0: none
}

// A Gap is the time before a record.
type Gap struct {
	Place
	Nanos int64
}

// Back is about records that have a time before that of an earlier one in their file. They get the time of the one before.
type Back struct {
	Records int64
	First   Place
	Largest int64 // step back
}

// Capped is about gaps that were cut.
type Capped struct {
	Gaps    int64
	First   Place // behind the gap
	Largest int64 // before it was cut
	Removed int64 // all that was cut off
}

func (b *Back) add(p Place, step uint64) {
	if b.Records == 0 {
		b.First = p
	}
	b.Records++
	b.Largest = max(b.Largest, clip(step))
}

func (c *Capped) add(p Place, gap, limit uint64) {
	if c.Gaps == 0 {
		c.First = p
	}
	c.Gaps++
	c.Largest = max(c.Largest, clip(gap))
	c.Removed = clip(uint64(c.Removed) + uint64(clip(gap-limit))) // two of 63 bits fit
}

func clip(u uint64) int64 { return int64(min(u, math.MaxInt64)) }
