package timeline_test

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadtest/internal/timeline"
	"loadtest/packet"
)

// A merge of files in order is a stable sort of all their records.
func TestMergeIsStableSort(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		times := make([][]int64, rnd.IntN(6))
		for f := range times {
			at := int64(1 + rnd.IntN(20))
			for range rnd.IntN(30) {
				times[f] = append(times[f], at)
				at += rnd.Int64N(4)
			}
		}
		all := files(times...)
		var want []packet.Record
		for f, s := range all {
			for r := range records(t, s) {
				r.File = uint16(f)
				want = append(want, r)
			}
		}
		slices.SortStableFunc(want, func(a, b packet.Record) int { return int(a.Nanos - b.Nanos) })
		l := timeline.New(all, timeline.Options{Merge: true})
		var got []packet.Record
		for r := range records(t, l) {
			got = append(got, r)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-want +got\n%s", diff)
		}
	}
}

// In sequence, n copies of a file are what a loop of it is, with the mean gap between passes.
func TestSequenceIsLoop(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		times := []int64{1e18}
		for range 1 + rnd.IntN(20) {
			times = append(times, times[len(times)-1]+rnd.Int64N(1e9)*rnd.Int64N(1e3)+1)
		}
		one := timeline.New(files(times), timeline.Options{})
		read(t, one)
		pass := one.Told().Span + one.Told().Mean
		var want, got []int64
		for k := range int64(3) {
			for _, at := range times {
				want = append(want, at+k*pass)
			}
		}
		for r := range records(t, timeline.New(files(times, times, times), timeline.Options{})) {
			got = append(got, r.Nanos)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-want +got\n%s", diff)
		}
	}
}

// Whatever the times are: they come out in order, each record once and in the order of its file, their gaps are the span, no gap
// is above the limit, and without anything told times are their own (but of several files that begin at 0 and before).
func FuzzLine(f *testing.F) {
	add := func(merge bool, limit int64, times ...int64) {
		var b []byte
		for _, t := range times {
			b = binary.BigEndian.AppendUint64(b, uint64(t))
		}
		f.Add(merge, limit, uint8(2), b)
	}
	add(false, 0, 1e18, 1e18+5, 1e18+9, 1e18+7)
	add(true, 3, 0, 1e18, -1e18, 1e18+9, 1e18+7, 0)
	add(true, 0, math.MinInt64, math.MaxInt64, math.MinInt64, math.MaxInt64)
	add(false, 1, math.MaxInt64, 1, math.MaxInt64, 2)
	f.Fuzz(func(t *testing.T, merge bool, limit int64, n uint8, b []byte) {
		times := make([][]int64, n%5+1)
		for i := 0; len(b) >= 8; i, b = i+1, b[8:] {
			to := &times[i%len(times)]
			*to = append(*to, int64(binary.BigEndian.Uint64(b)))
		}
		packets := 0
		for _, ts := range times {
			packets += len(ts)
		}
		l := timeline.New(files(times...), timeline.Options{Merge: merge, MaxGap: time.Duration(limit)})
		next := make([]int64, len(times))
		var got []packet.Record
		for r := range records(t, l) {
			if next[r.File]++; r.Number != next[r.File] {
				t.Fatalf("file %d: record %d, want %d", r.File, r.Number, next[r.File])
			}
			got = append(got, r)
		}
		if len(got) != packets {
			t.Fatalf("%d packets of %d", len(got), packets)
		}
		told := l.Told()
		sum := new(big.Int)
		own, before := true, false
		for i, r := range got {
			own = own && r.Nanos == times[r.File][r.Number-1]
			if i == 0 {
				continue
			}
			gap := r.Nanos - got[i-1].Nanos
			if r.Nanos < got[i-1].Nanos || gap < 0 || limit > 0 && gap > limit || gap > told.Longest.Nanos {
				t.Fatalf("record %d at %d after %d; %+v", i, r.Nanos, got[i-1].Nanos, told)
			}
			sum.Add(sum, big.NewInt(gap))
		}
		if !sum.IsInt64() || sum.Int64() != told.Span || told.Packets != int64(packets) || told.Span < 0 {
			t.Fatalf("gaps are %v; %+v", sum, told)
		}
		if packets > 0 && told.Start != got[0].Nanos || packets > 1 && told.Mean != told.Span/int64(packets-1) {
			t.Fatalf("%+v", told)
		}
		for _, ts := range times {
			before = before || slices.ContainsFunc(ts, func(t int64) bool { return t < 0 })
		}
		clean := told.Back.Records == 0 && told.Capped.Gaps == 0 && told.Untimed == 0
		if alone := merge && !before || len(times) == 1; clean && alone && !own {
			t.Fatalf("other times, but nothing is told: %v, %+v", got, told)
		}
	})
}

// Lent data is not copied, and nothing is allocated.
func TestNextDoesNotAllocate(t *testing.T) {
	times := make([]int64, 3000)
	for i := range times {
		times[i] = int64(i) + 1
	}
	for _, merge := range []bool{false, true} {
		r, err := timeline.New(files(times, times), timeline.Options{Merge: merge}).Open()
		if err != nil {
			t.Fatal(err)
		}
		var to packet.Record
		if n := testing.AllocsPerRun(2000, func() {
			if err := r.Next(&to); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("merge %t: %v allocations a record", merge, n)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	times := make([]int64, 1e6)
	for i := range times {
		times[i] = int64(i) + 1
	}
	all := files(times, times, times)
	for _, merge := range []bool{false, true} {
		b.Run(map[bool]string{false: "sequence", true: "merge"}[merge], func(b *testing.B) {
			n := 0
			for b.Loop() {
				r, err := timeline.New(all, timeline.Options{Merge: merge}).Open()
				var to packet.Record
				for ; err == nil; n++ {
					err = r.Next(&to)
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mpps")
		})
	}
}
