package trial_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"loadtest/trial"
)

// Differences know their least, middle and greatest as a sorted list does: the ends exact, the middle to a cell's width.
func TestDifferencesAgainstSort(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 7))
	draw := func(n int, value func() int64) (all []int64) {
		for range n {
			all = append(all, value())
		}
		return all
	}
	for name, values := range map[string][]int64{
		"none":            nil,
		"zero":            {0},
		"one below":       {-5},
		"as many of each": {-7, 7, -7, 7},
		"one more above":  {-7, 7, 7},
		"one more below":  {-7, 7, -7},
		"all below":       draw(101, func() int64 { return -1 - rnd.Int64N(100) }),
		"all above":       draw(100, func() int64 { return rnd.Int64N(1e9) }),
		"both":            draw(999, func() int64 { return rnd.Int64N(2e6) - 1e6 }),
		"mostly below":    draw(1000, func() int64 { return rnd.Int64N(1000) - 900 }),
	} {
		t.Run(name, func(t *testing.T) {
			var d, a, b trial.Differences
			for i, v := range values {
				d.Record(v)
				if i%3 == 0 {
					a.Record(v)
				} else {
					b.Record(v)
				}
			}
			sum := b.Clone()
			sum.Add(&a)
			for how, d := range map[string]*trial.Differences{"at once": &d, "added": &sum} {
				least, most, ok := d.Range()
				middle, known := d.Median()
				if d.Count() != int64(len(values)) || ok != (len(values) > 0) || known != ok {
					t.Fatalf("%s: %d values, range %v, median %v", how, d.Count(), ok, known)
				}
				if !ok {
					continue
				}
				sorted := slices.Sorted(slices.Values(values))
				want := sorted[(len(sorted)+1)/2-1]
				if least != sorted[0] || most != sorted[len(sorted)-1] {
					t.Errorf("%s: range %d..%d, want %d..%d", how, least, most, sorted[0], sorted[len(sorted)-1])
				}
				if off := max(middle-want, want-middle); off > max(want, -want)/64 || middle < least || middle > most {
					t.Errorf("%s: median %d, want %d", how, middle, want)
				}
			}
			if d.Reset(); d.Count() != 0 {
				t.Errorf("after Reset there are %d", d.Count())
			}
		})
	}
}

func TestDifferencesDoNotAllocate(t *testing.T) {
	var d trial.Differences
	d.Grow()
	v := int64(1)
	if n := testing.AllocsPerRun(1000, func() { d.Record(v); v = -(v*7%1000003 + 1) }); n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
}

// Of parts with unlike stamps the least exact one counts: nothing is claimed that holds for some only.
func TestStampsOfTheMerge(t *testing.T) {
	part := func(sent, arrived trial.Stamp) trial.Result {
		return trial.Result{Streams: []trial.Stream{{Name: "a", Stamps: trial.Stamps{Sent: sent, Arrived: arrived}}}}
	}
	got := must(t, must(t, part(0, 0), part(trial.Kernel, trial.Hardware)), part(trial.Software, trial.Kernel)).Streams[0].Stamps
	if got.Sent.String() != "software" || got.Arrived.String() != "kernel" {
		t.Errorf("stamps %v and %v, want software and kernel", got.Sent, got.Arrived)
	}
}
