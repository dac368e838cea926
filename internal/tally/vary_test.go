package tally

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// arrival is a packet as it came: its sequence number and its delay.
type arrival struct {
	seq   int
	delay int64
}

// The IPDV of arrivals in any order is that of the list sorted by sequence number.
func TestBetween(t *testing.T) {
	for _, tt := range []struct {
		name   string
		came   []arrival
		sorted []int64 // all differences
	}{
		{"none", nil, nil},
		{"one", []arrival{{0, 10}}, nil},
		{"constant", []arrival{{0, 10}, {1, 10}, {2, 10}}, []int64{0, 0}},
		{"alternating", []arrival{{0, 10}, {1, 40}, {2, 10}, {3, 40}}, []int64{-30, 30, 30}},
		{"one lost: it has no difference, nor has the next", []arrival{{0, 10}, {1, 12}, {3, 40}, {4, 41}}, []int64{1, 2}},
		{"overtaken", []arrival{{0, 10}, {2, 20}, {1, 35}, {3, 20}}, []int64{-15, 0, 25}},
		{"turned round", []arrival{{3, 1}, {2, 10}, {1, 100}, {0, 1000}}, []int64{-900, -90, -9}},
		{"over the end of the numbers", []arrival{{math.MaxUint32, 10}, {1 << 32, 17}}, []int64{7}},
		{"too far apart to remember", []arrival{{0, 10}, {recent, 20}, {1, 30}}, nil},
		{"one that is very late displaces nobody", []arrival{{recent, 10}, {0, 500}, {recent + 1, 13}}, []int64{3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b Back
			for _, a := range tt.came {
				b.Took(uint32(a.seq), a.delay)
			}
			d := &b.vary.Between
			least, most, _ := d.Range()
			middle, _ := d.Median()
			want := [4]int64{int64(len(tt.sorted))}
			if n := len(tt.sorted); n > 0 {
				want = [4]int64{int64(n), tt.sorted[0], tt.sorted[(n+1)/2-1], tt.sorted[n-1]}
			}
			if got := [4]int64{d.Count(), least, middle, most}; got != want {
				t.Errorf("count, least, median, greatest are %v, want %v", got, want)
			}
		})
	}
}

// The jitter is that of RFC 3550, 6.4.1, to the rounding of its integers: J += (|D| - J) / 16, in order of arrival.
func TestJitter(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for name, delay := range map[string]func(i int) int64{
		"constant":    func(int) int64 { return 5000 },
		"alternating": func(i int) int64 { return 5000 + int64(i%2)*3000 },
		"any":         func(int) int64 { return rnd.Int64N(1e6) },
		"below zero":  func(i int) int64 { return -int64(i % 7 * 100) },
		"hours":       func(i int) int64 { return int64(i%3) * 3600e9 },
	} {
		var b Back
		var exact float64
		last := int64(0)
		const n = 1000
		for i := range n {
			d := delay(i)
			b.Took(uint32(i), d)
			if i > 0 {
				exact += (math.Abs(float64(d-last)) - exact) / 16
			}
			last = d
		}
		v := b.vary.variation()
		if math.Abs(float64(v.Jitter)-exact) > 1.5 || v.Compared != n-1 {
			t.Errorf("%s: jitter %d ns of %d packets, want %.1f of %d", name, v.Jitter, v.Compared, exact, n-1)
		}
	}
}

// Where the port counts most packets itself, the few that it passes on are no sample of what lies between them.
func TestNoVariationBesideThePortsOwnCount(t *testing.T) {
	sent := Sent{Intended: 9, Sent: 9, Tagged: 9}
	for counted, want := range map[int64]int64{0: 2, 6: 0} {
		var b Back
		b.Reset()
		b.Counted.Received = counted
		for seq := range uint32(3) {
			b.Limit = 9
			b.See(seq)
			b.Took(seq, int64(seq)*10)
		}
		if got := Stream("s", &sent, &b, &Flows{}); got.Variation.Compared != want || got.Variation.Between.Count() != want || got.Latency.Count != 3 {
			t.Errorf("%d counted by the port: %d compared, %d differences, %d latencies; want %d, %d, 3", counted,
				got.Variation.Compared, got.Variation.Between.Count(), got.Latency.Count, want, want)
		}
	}
}

// The result shares nothing with the book, which goes on, and booking allocates nothing.
func TestTook(t *testing.T) {
	var b Back
	b.Grow()
	seq := uint32(0)
	delays := []int64{3, 1 << 20, 7, 1 << 30}
	if n := testing.AllocsPerRun(1000, func() { b.Took(seq, delays[seq%4]); seq++ }); n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
	v := b.vary.variation()
	before, _ := v.Between.Median()
	for range 10000 {
		b.Took(seq, slices.Max(delays)*2)
		seq++
	}
	if after, _ := v.Between.Median(); after != before {
		t.Errorf("a result's median was %d and became %d", before, after)
	}
}

func BenchmarkTook(b *testing.B) {
	var back Back
	back.Grow()
	b.ReportAllocs()
	for i := uint32(0); b.Loop(); i++ {
		back.Took(i, int64(i&0xfff)+20000)
	}
}

// BenchmarkLatencyOnly is the baseline of BenchmarkTook.
func BenchmarkLatencyOnly(b *testing.B) {
	var back Back
	back.Grow()
	for i := uint32(0); b.Loop(); i++ {
		back.Latency.Record(int64(i&0xfff)+20000, 1)
	}
}
