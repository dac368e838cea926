package trial

import (
	"math"
	"math/bits"
)

// The cells of a Histogram: 64 an octave, so a cell is at most 1/64 of its value wide; exact below 128 ns.
const (
	octaves    = 40 // 1 ns .. 2^40 ns, 18 minutes
	octaveBits = 6  // log2 of the cells an octave
	cells      = (octaves - octaveBits + 1) << octaveBits
)

// HistogramCells is the number of a Histogram's cells, for who counts in the same ones elsewhere. A value v below 128 is in cell v;
// above, with s the place of its highest bit - 6, in cell s·64 + v>>s; from 2^40 on in the last.
const HistogramCells = cells

// A Histogram counts times in ns. Its minimum and maximum are exact and clamp its percentiles. The zero value is empty and
// ready; Record does not allocate once the first value was recorded, or after Grow.
type Histogram struct {
	Count    int64
	Min, Max int64
	Sum      float64
	cell     []int64
}

// Grow allocates the cells, so that Record never does.
func (h *Histogram) Grow() {
	if h.cell == nil {
		h.cell = make([]int64, cells)
	}
}

// Record counts n packets at ns; negative times count as 0.
func (h *Histogram) Record(ns, n int64) {
	if n <= 0 {
		return
	}
	if ns < 0 {
		ns = 0
	}
	if h.Count == 0 {
		h.Grow()
		h.Min, h.Max = ns, ns
	} else if ns < h.Min {
		h.Min = ns
	} else if ns > h.Max {
		h.Max = ns
	}
	h.Count += n
	h.Sum += float64(ns) * float64(n)
	h.cell[cell(ns)] += n
}

// AddCells counts what others counted in cells like these: n by cell, with their exact minimum, maximum and sum.
func (h *Histogram) AddCells(n []uint64, least, most int64, sum float64) {
	o := Histogram{Min: least, Max: most, Sum: sum, cell: make([]int64, cells)}
	for i := range o.cell {
		o.cell[i] = int64(n[i])
		o.Count += o.cell[i]
	}
	h.Add(&o)
}

// cell is the index of the cell that holds ns.
func cell(ns int64) int {
	u := uint64(ns)
	if u >= 1<<octaves {
		return cells - 1
	}
	shift := bits.Len64(u) - octaveBits - 1
	if shift <= 0 {
		return int(u)
	}
	return shift<<octaveBits + int(u>>shift)
}

// floor is the least value of a cell.
func floor(c int) int64 {
	if c < 2<<octaveBits {
		return int64(c)
	}
	shift := c>>octaveBits - 1
	return int64(c-shift<<octaveBits) << shift
}

// Percentile is the value that p percent of the counted values do not exceed (to the cell's width); false if it is empty.
func (h *Histogram) Percentile(p float64) (int64, bool) {
	if h.Count == 0 {
		return 0, false
	}
	x := p / 100 * float64(h.Count)
	rank := int64(math.Ceil(x - 1e-12*x)) // the noise of floats must not make 7 of 25 from 28 percent an eighth
	return h.ranked(min(max(rank, 1), h.Count)), true
}

// ranked is the rank-th of the counted values, from 1, to the cell's width.
func (h *Histogram) ranked(rank int64) int64 {
	var seen int64
	for c, n := range h.cell {
		if seen += n; seen >= rank {
			top := h.Max
			if c+1 < cells {
				top = floor(c+1) - 1
			}
			return min(max(top, h.Min), h.Max)
		}
	}
	return h.Max
}

// Above is how many of the counted values exceed ns (to the cell's width: those in the cell of ns do not).
func (h *Histogram) Above(ns int64) (n int64) {
	if h.Count == 0 {
		return 0
	}
	for _, k := range h.cell[cell(max(ns, 0))+1:] {
		n += k
	}
	return n
}

// Bars are the counts of the eighths of octaves that have any: the least value of each, ns, and how many.
func (h *Histogram) Bars() (bars [][2]int64) {
	if h.Count == 0 {
		return nil
	}
	const wide = 1 << octaveBits / 8 // cells
	for c := 0; c < cells; c++ {
		from := floor(c)
		if c >= 2<<octaveBits {
			from = floor(c / wide * wide)
		} else if from >= 8 { // below 128 ns a cell is 1 ns wide
			s := bits.Len64(uint64(from)) - 4
			from = from >> s << s
		}
		switch n := h.cell[c]; {
		case n == 0:
		case len(bars) > 0 && bars[len(bars)-1][0] == from:
			bars[len(bars)-1][1] += n
		default:
			bars = append(bars, [2]int64{from, n})
		}
	}
	return bars
}

// Mean is the mean in ns; false if it is empty.
func (h *Histogram) Mean() (float64, bool) {
	if h.Count == 0 {
		return 0, false
	}
	return h.Sum / float64(h.Count), true
}

// Reset empties it and keeps its cells.
func (h *Histogram) Reset() {
	clear(h.cell)
	h.Count, h.Min, h.Max, h.Sum = 0, 0, 0, 0
}

// Clone is a copy that shares nothing.
func (h *Histogram) Clone() Histogram {
	c := *h
	c.cell = append([]int64(nil), h.cell...)
	return c
}

// Add counts all that o counted.
func (h *Histogram) Add(o *Histogram) {
	if o.Count == 0 {
		return
	}
	if h.Count == 0 {
		*h = o.Clone()
		return
	}
	h.Min, h.Max = min(h.Min, o.Min), max(h.Max, o.Max)
	h.Count += o.Count
	h.Sum += o.Sum
	for i, n := range o.cell {
		h.cell[i] += n
	}
}
