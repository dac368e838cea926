package trial_test

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"loadtest/trial"
)

// fills are the shapes of latencies that a test meets, and the edges of the cells.
func fills() map[string][]int64 {
	rnd := rand.New(rand.NewPCG(3, 5))
	f := map[string][]int64{
		"one":       {4711},
		"zeros":     {0, 0, 0},
		"two sizes": {5, 1 << 39},
		"beyond":    {1<<40 - 1, 1 << 40, 1 << 50, math.MaxInt64},
	}
	for i := range int64(300) {
		f["exact below 128"] = append(f["exact below 128"], i%128)
		f["thousand"] = append(f["thousand"], i*10)
	}
	for range 1000 {
		f["log"] = append(f["log"], int64(math.Exp(rnd.Float64()*27)))
		f["narrow"] = append(f["narrow"], 21000+rnd.Int64N(500))
	}
	for k := range 41 {
		f["powers"] = append(f["powers"], 1<<k-1, 1<<k, 1<<k+1)
	}
	return f
}

// rankOf is the exact rank of a percentile written in thousandths: the least r with 100·1000·r >= p·n.
func rankOf(thousandths, n int64) int64 {
	x := new(big.Int).Mul(big.NewInt(thousandths), big.NewInt(n))
	r, rest := x.DivMod(x, big.NewInt(100*1000), new(big.Int))
	if rest.Sign() > 0 {
		r.Add(r, big.NewInt(1))
	}
	return min(max(r.Int64(), 1), n)
}

func TestHistogramAgainstSort(t *testing.T) {
	for name, values := range fills() {
		t.Run(name, func(t *testing.T) {
			var h trial.Histogram
			sum := 0.0
			for _, v := range values {
				h.Record(v, 1)
				sum += float64(v)
			}
			sorted := slices.Sorted(slices.Values(values))
			n := int64(len(sorted))
			if h.Count != n || h.Min != sorted[0] || h.Max != sorted[n-1] || h.Sum != sum {
				t.Errorf("count %d min %d max %d sum %v, want %d, %d, %d, %v", h.Count, h.Min, h.Max, h.Sum, n, sorted[0], sorted[n-1], sum)
			}
			for _, p := range []int64{0, 1, 1000, 25000, 50000, 90000, 99000, 99900, 99990, 99999, 100000} {
				exact := sorted[rankOf(p, n)-1]
				got, ok := h.Percentile(float64(p) / 1000)
				// A cell is at most 1/64 of its value wide, and a value of 2^40 ns or more is only known to be one.
				if most := exact + exact/64; !ok || got < exact && exact < 1<<40 || got > most && got != h.Max || got > h.Max {
					t.Errorf("percentile %v: got %d (%v), the sorted list has %d", float64(p)/1000, got, ok, exact)
				}
				if exact < 128 && got != exact {
					t.Errorf("percentile %v: got %d, want %d to the ns", float64(p)/1000, got, exact)
				}
			}
		})
	}
}

// The rank of a percentile is exact in spite of floats: of n different small numbers, p percent are p·n/100.
func TestPercentileRank(t *testing.T) {
	for n := int64(1); n <= 50; n++ {
		for _, repeat := range []int64{1, 20} {
			var h trial.Histogram
			for v := range n {
				h.Record(v, repeat)
			}
			for p := int64(0); p <= 1000; p++ {
				want := (rankOf(p*100, n*repeat) - 1) / repeat
				if got, _ := h.Percentile(float64(p) / 10); got != want {
					t.Fatalf("%d values, each %d times: percentile %v is %d, want %d", n, repeat, float64(p)/10, got, want)
				}
			}
		}
	}
}

func TestHistogramEdges(t *testing.T) {
	var h trial.Histogram
	if _, ok := h.Percentile(50); ok {
		t.Error("percentile of nothing")
	}
	if _, ok := h.Mean(); ok {
		t.Error("mean of nothing")
	}
	h.Record(-5, 2)
	h.Record(10, 0)
	h.Record(10, -3)
	h.Record(30, 1)
	if m, ok := h.Mean(); h.Count != 3 || h.Min != 0 || h.Max != 30 || m != 10 || !ok {
		t.Errorf("count %d min %d max %d mean %v, want 3, 0 for the negative, 30, 10", h.Count, h.Min, h.Max, m)
	}
	c := h.Clone()
	h.Reset()
	h.Record(99, 1)
	if got, _ := c.Percentile(100); got != 30 || c.Count != 3 {
		t.Errorf("the clone changed: %d of %d", got, c.Count)
	}
	if got, _ := h.Percentile(1); got != 99 || h.Count != 1 || h.Min != 99 {
		t.Errorf("after Reset: %d of %d, min %d", got, h.Count, h.Min)
	}
}

// Adding parts equals recording all, in any order, also of empty ones.
func TestHistogramAdd(t *testing.T) {
	for name, values := range fills() {
		var whole, a, b, empty trial.Histogram
		for i, v := range values {
			whole.Record(v, 3)
			if part := &a; i%3 == 0 {
				part.Record(v, 3)
			} else {
				b.Record(v, 3)
			}
		}
		var ab, ba trial.Histogram
		for _, o := range []*trial.Histogram{&empty, &a, &b, &empty} {
			ab.Add(o)
		}
		ba.Grow()
		ba.Add(&b)
		ba.Add(&a)
		before := fmt.Sprint(a)
		ab.Record(17, 1)
		whole.Record(17, 1)
		ba.Record(17, 1)
		if fmt.Sprint(a) != before {
			t.Errorf("%s: the sum shares cells with its part", name)
		}
		for p := range 101 {
			w, _ := whole.Percentile(float64(p))
			x, _ := ab.Percentile(float64(p))
			y, _ := ba.Percentile(float64(p))
			if x != w || y != w {
				t.Fatalf("%s: percentile %d: %d and %d added, %d at once", name, p, x, y, w)
			}
		}
		if ab.Count != whole.Count || ab.Min != whole.Min || ab.Max != whole.Max || math.Abs(ab.Sum-whole.Sum) > 1e-12*whole.Sum {
			t.Errorf("%s: %d %d %d %v added, %d %d %d %v at once", name, ab.Count, ab.Min, ab.Max, ab.Sum, whole.Count, whole.Min, whole.Max, whole.Sum)
		}
	}
}

func TestRecordDoesNotAllocate(t *testing.T) {
	var h trial.Histogram
	h.Grow()
	v := int64(1)
	if n := testing.AllocsPerRun(1000, func() { h.Record(v, 1); v = v*7%1000003 + 1 }); n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	var h trial.Histogram
	h.Grow()
	b.ReportAllocs()
	for i := range b.N {
		h.Record(int64(i)&0xfffff, 1)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpps")
}

// Who counts elsewhere in cells like these, by the rule that HistogramCells gives, gets the same histogram.
func TestAddCells(t *testing.T) {
	cellOf := func(v uint64) uint64 {
		switch {
		case v < 128:
			return v
		case v >= 1<<40:
			return trial.HistogramCells - 1
		}
		s := uint64(bits.Len64(v)-1) - 6
		return s*64 + v>>s
	}
	r := rand.New(rand.NewPCG(3, 4))
	var want, got trial.Histogram
	for range 3 { // AddCells adds
		n := make([]uint64, trial.HistogramCells)
		least, most, sum := int64(math.MaxInt64), int64(0), 0.0
		for range 1000 {
			v := r.Int64() >> r.IntN(63)
			want.Record(v, 1)
			n[cellOf(uint64(v))]++
			least, most, sum = min(least, v), max(most, v), sum+float64(v)
		}
		got.AddCells(n, least, most, sum)
	}
	if math.Abs(got.Sum-want.Sum) > 1e-9*want.Sum {
		t.Errorf("sum %g, want %g", got.Sum, want.Sum)
	}
	if got.Count != want.Count || got.Min != want.Min || got.Max != want.Max {
		t.Errorf("%d values of %d..%d, want %d of %d..%d", got.Count, got.Min, got.Max, want.Count, want.Min, want.Max)
	}
	for p := range 1001 {
		g, _ := got.Percentile(float64(p) / 10)
		if w, _ := want.Percentile(float64(p) / 10); g != w {
			t.Fatalf("percentile %g is %d, want %d", float64(p)/10, g, w)
		}
	}
}

func TestAboveAndBars(t *testing.T) {
	var empty trial.Histogram
	if empty.Above(0) != 0 || empty.Bars() != nil {
		t.Error("an empty one has some")
	}
	var h trial.Histogram
	for _, v := range []int64{0, 7, 15, 16, 17, 18, 127, 1 << 20, 1<<20 + 1, 1<<20 + 1<<17 - 1, 1<<20 + 1<<17, 1 << 41} {
		h.Record(v, 1)
	}
	if n := h.Above(1 << 20); n != 3 { // the next one is in the same cell
		t.Errorf("%d above 2^20, want 3", n)
	}
	if n := h.Above(-5); n != 11 {
		t.Errorf("%d above 0, want 11", n)
	}
	want := [][2]int64{{0, 1}, {7, 1}, {15, 1}, {16, 2}, {18, 1}, {120, 1}, {1 << 20, 3}, {1<<20 + 1<<17, 1}, {15 << 36, 1}}
	if got := h.Bars(); !slices.Equal(got, want) {
		t.Errorf("bars %v, want %v", got, want)
	}
}
