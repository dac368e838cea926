package replay

import (
	"cmp"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"loadtest/internal/clock"
	"loadtest/packet"
	"loadtest/trial"
	"loadtest/units"
)

// randomSpec has exact numbers: integral loads, slopes of whole slices, shares that are powers of two.
func randomSpec(rng *rand.Rand, streams []Stream, preroll bool) trial.Spec {
	const slice = 10 * time.Millisecond
	s := trial.Spec{Unit: []trial.Unit{trial.WireBits, trial.Packets, trial.Factor}[rng.IntN(3)], Share: map[string]float64{}}
	scale := map[trial.Unit]int64{trial.WireBits: 40e6, trial.Packets: 30e3, trial.Factor: 1}[s.Unit]
	load := func() int64 { return (1 + rng.Int64N(8)) * scale }
	if s.Unit == trial.WireBits && rng.IntN(2) == 0 {
		load = func() int64 { return 1e7 + rng.Int64N(3e8) }
	}
	at, l := time.Duration(0), load()
	s.Load = []trial.Point{{Load: float64(l)}}
	for range rng.IntN(4) {
		n := 1 + rng.Int64N(3)
		switch rng.IntN(4) {
		case 0: // a step
			s.Load = append(s.Load, trial.Point{At: at, Load: float64(load())})
		case 1: // silence
			s.Load = append(s.Load, trial.Point{At: at, Load: 0}, trial.Point{At: at + time.Duration(rng.Int64N(2e7)), Load: 0})
			at = s.Load[len(s.Load)-1].At
			s.Load = append(s.Load, trial.Point{At: at, Load: float64(load())})
		}
		l = int64(s.Load[len(s.Load)-1].Load)
		l = max(0, l+n*(rng.Int64N(2*scale)-scale)/8*8)
		if last := int64(s.Load[len(s.Load)-1].Load); (l-last)%n != 0 {
			l = last
		}
		at += time.Duration(n) * slice
		s.Load = append(s.Load, trial.Point{At: at, Load: float64(l)})
	}
	for _, st := range streams {
		if rng.IntN(3) == 0 {
			s.Share[st.Name] = []float64{0, 0.25, 0.5, 2}[rng.IntN(4)]
		}
	}
	s.Duration = at + time.Duration(1+rng.IntN(3))*slice
	if rng.IntN(3) == 0 {
		s.Loops = 1 + rng.Int64N(30)
	}
	if preroll && rng.IntN(2) == 0 {
		s.Preroll = time.Duration(rng.Int64N(2e7))
	}
	if rng.IntN(6) == 0 {
		s.StopAt = 1 + rng.Int64N(200)
	}
	return s
}

// area is what a load is worth until t, pre-roll before it: in its unit, or ns of the capture. t counts from the trial's start.
func area(s trial.Spec, share float64, t time.Duration) *big.Rat {
	sum := new(big.Rat)
	piece := func(from, to time.Duration, a, b float64) { // the middle times the length
		if to > from {
			m := new(big.Rat).Add(new(big.Rat).SetFloat64(a), new(big.Rat).SetFloat64(b))
			sum.Add(sum, m.Mul(m, big.NewRat(int64(to-from), 2)))
		}
	}
	piece(-s.Preroll, min(0, t), s.Load[0].Load, s.Load[0].Load)
	for i := 1; i < len(s.Load); i++ {
		p, q := s.Load[i-1], s.Load[i]
		if t < q.At {
			panic("only whole pieces")
		}
		piece(p.At, q.At, p.Load, q.Load)
	}
	last := s.Load[len(s.Load)-1]
	piece(last.At, t, last.Load, last.Load)
	sum.Mul(sum, new(big.Rat).SetFloat64(share))
	if s.Unit != trial.Factor {
		sum.Mul(sum, big.NewRat(1, 1e9))
	}
	return sum
}

// intended is how many packets are due within a trial: those whose predecessors cost less than the load is worth, without
// those of the pre-roll.
func intended(l *lane, s trial.Spec) (n int64) {
	share, ok := s.Share[l.name]
	if !ok {
		share = 1
	}
	pre := new(big.Rat).Mul(new(big.Rat).SetFloat64(s.Load[0].Load*share), big.NewRat(int64(s.Preroll), 1))
	if s.Unit != trial.Factor {
		pre.Mul(pre, big.NewRat(1, 1e9))
	}
	whole, before := area(s, share, s.Duration), new(big.Rat)
	for i := int64(0); (s.Loops == 0 || i < s.Loops*l.pass) && before.Cmp(whole) < 0; i++ {
		if before.Cmp(pre) >= 0 {
			n++
		}
		cost := int64(1)
		switch s.Unit {
		case trial.WireBits:
			cost = units.WireBits(l.cur.store.Size(int(i % l.pass)))
		case trial.Factor:
			if cost = l.wrap; i%l.pass < l.pass-1 {
				cost = l.cur.gap(int(i % l.pass))
			}
		}
		before.Add(before, new(big.Rat).SetInt64(cost))
	}
	return n
}

// Whatever a device does, each count is what really happened.
func TestEveryCountIsTheTruth(t *testing.T) {
	var seen trial.Stream // and everything happens
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { truth(t, seed, &seen) })
	}
	for name, n := range map[string]int64{"lost": seen.Lost(), "untagged": seen.Untagged, "duplicated": seen.Duplicated, "reordered": seen.Reordered,
		"late": seen.Late, "corrupt": seen.Corrupt, "surplus": seen.Surplus, "in the second half": seen.Half.Packets, "timed": seen.Latency.Count,
		"compared": seen.Variation.Compared, "between two": seen.Variation.Between.Count()} {
		if n == 0 {
			t.Errorf("no packet was %s", name)
		}
	}
}

func TestSoakTruth(t *testing.T) {
	if os.Getenv("LOADTEST_SOAK") == "" {
		t.Skip("LOADTEST_SOAK is not set")
	}
	for seed := range uint64(5000) {
		t.Run(fmt.Sprint("seed ", 1000+seed), func(t *testing.T) { truth(t, 1000+seed, &trial.Stream{}) })
	}
}

func truth(t *testing.T, seed uint64, seen *trial.Stream) {
	rng := rand.New(rand.NewPCG(seed, 77))
	d := deviceWith(rng)
	o := Options{Ports: d.devices(), Clock: clock.NewVirtual(d), Seed: seed, Drain: 5 * time.Millisecond,
		Tag: []packet.TagMode{packet.TagAuto, packet.TagAuto, packet.TagAlways, packet.TagNever}[rng.IntN(4)], Burst: []int{0, 1, 7, 64}[rng.IntN(4)]}
	for lane := range 1 + rng.IntN(4) {
		store, facts := packets(rng, lane, o.Tag)
		names := []string{"a", "b", "c", ""}
		st := Stream{Name: fmt.Sprint("s", lane), Packets: store, TX: names[rng.IntN(3)], RX: names[rng.IntN(4)]}
		o.Streams = append(o.Streams, st)
		d.made, d.to = append(d.made, facts), append(d.to, st.RX)
	}
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if rng.IntN(2) == 0 {
		r.trial = 252 // numbers begin again
	}
	tagged := !slices.ContainsFunc(r.lanes, func(l *lane) bool { return l.untagged > 0 })
	for range 4 {
		s := randomSpec(rng, o.Streams, tagged)
		d.begin(o.Clock.Now() + int64(s.Preroll))
		res, err := r.Run(t.Context(), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		check(t, d, r, s, res)
		if t.Failed() {
			t.Fatalf("spec %+v", s)
		}
		for i := range res.Streams {
			seen.Add(&res.Streams[i])
		}
	}
}

func check(t *testing.T, d *device, r *Runner, s trial.Spec, res trial.Result) {
	t.Helper()
	if res.Start != d.count {
		t.Errorf("start %d, want %d", res.Start, d.count)
	}
	want, kinds := d.books(r, s, res.Start+int64(res.Elapsed))
	var lost, unsent int64
	for i := range want {
		w, got := &want[i], res.Streams[i]
		w.Intended = intended(r.lanes[i], s)
		if res.Stopped {
			w.Intended = got.Intended
		}
		same := gocmp.Comparer(func(a, b trial.Histogram) bool {
			pa, _ := a.Percentile(50)
			pb, _ := b.Percentile(50)
			return a.Count == b.Count && a.Min == b.Min && a.Max == b.Max && pa == pb
		})
		alike := gocmp.Transformer("differences", func(d trial.Differences) [4]int64 {
			least, most, _ := d.Range()
			middle, _ := d.Median()
			return [4]int64{d.Count(), least, middle, most}
		})
		w.Lateness = got.Lateness
		if got.Lateness.Count != got.Sent {
			t.Errorf("%s: lateness of %d of %d packets", got.Name, got.Lateness.Count, got.Sent)
		}
		if diff := gocmp.Diff(*w, got, same, alike); diff != "" {
			t.Errorf("trial %d: -want +got\n%s", d.trial, diff)
		}
		if got.Unsent() < 0 || got.Lost() < 0 {
			t.Errorf("%s: lost %d, unsent %d", got.Name, got.Lost(), got.Unsent())
		}
		if d.to[i] != "" {
			lost += got.Lost()
		}
		unsent += got.Unsent()
	}
	if res.Stopped && lost+unsent < s.StopAt {
		t.Errorf("stopped with %d lost and %d unsent, before %d", lost, unsent, s.StopAt)
	}
	if !res.Stopped && s.Loops == 0 && res.Elapsed < s.Duration {
		t.Errorf("elapsed %v of %v", res.Elapsed, s.Duration)
	}
	for _, p := range res.Ports {
		var w []trial.Foreign
		for kind, n := range kinds[p.Name] {
			w = append(w, trial.Foreign{Kind: kind, Packets: n})
		}
		got := slices.Clone(p.Foreign)
		for i := range got {
			if got[i].Example == "" {
				t.Errorf("port %s: %d %s without an example", p.Name, got[i].Packets, got[i].Kind)
			}
			got[i].Example = "" // a frame of chance
		}
		by := func(a, b trial.Foreign) int { return cmp.Compare(a.Kind, b.Kind) }
		slices.SortFunc(w, by)
		slices.SortFunc(got, by)
		if !slices.Equal(w, got) {
			t.Errorf("port %s: foreign %v, want %v", p.Name, got, w)
		}
	}
}
