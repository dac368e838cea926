package match

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The window agrees with a map that never forgets, for reordering within its reach.
func TestWindowAgainstMap(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var w Window
		w.Reset()
		w.Limit = math.MaxInt64
		seen := map[int64]bool{}
		var received, again, reordered, top int64
		for i := range int64(30000) {
			seq := i*3 + rng.Int64N(5000) - 2500
			if rng.IntN(2000) == 0 {
				seq += rng.Int64N(100000)
			}
			if seq < 0 {
				continue
			}
			got := w.See(uint32(seq))
			if seen[seq] {
				again++
			} else {
				received++
				if seq < top {
					reordered++
				}
			}
			if want := map[bool]int{false: New, true: Again}[seen[seq]]; got != want {
				t.Fatalf("seed %d: sequence %d: %d, want %d", seed, seq, got, want)
			}
			seen[seq] = true
			top = max(top, seq+1)
			if i%5000 == 0 {
				var missing int64
				for s := range top - Horizon {
					if !seen[s] {
						missing++
					}
				}
				if w.Missing != missing {
					t.Fatalf("seed %d: %d missing behind the horizon, want %d", seed, w.Missing, missing)
				}
			}
		}
		if w.Received != received || w.Duplicated != again || w.Reordered != reordered || w.TooOld != 0 {
			t.Errorf("seed %d: received %d, duplicated %d, reordered %d, too old %d; want %d, %d, %d, 0",
				seed, w.Received, w.Duplicated, w.Reordered, w.TooOld, received, again, reordered)
		}
	}
}

func TestWindowPastFourBillion(t *testing.T) {
	var w Window
	w.Reset()
	w.Limit = math.MaxInt64
	for seq := int64(0); seq < 1<<33; seq += 1 << 19 {
		if got := w.See(uint32(seq)); got != New {
			t.Fatalf("sequence %d: %d, want New", seq, got)
		}
		if got := w.See(uint32(seq)); got != Again {
			t.Fatalf("sequence %d once more: %d, want Again", seq, got)
		}
	}
	if w.Received != 1<<14 || w.Duplicated != 1<<14 || w.Missing < 1<<33-1<<21 {
		t.Errorf("received %d, duplicated %d, missing %d", w.Received, w.Duplicated, w.Missing)
	}
	if got := w.See(0); got != Old && got != New {
		t.Errorf("far behind: %d", got)
	}
}

func TestWindowForgetsNothingItClaimsToKnow(t *testing.T) {
	var w Window
	w.Reset()
	w.Limit = math.MaxInt64
	for seq := range uint32(3 * windowBits) {
		w.See(seq)
	}
	for seq := uint32(0); seq < 3*windowBits; seq += 61 {
		if got := w.See(seq); got == New {
			t.Fatalf("sequence %d came twice and was taken as new", seq)
		}
	}
	if w.Missing != 0 {
		t.Errorf("%d missing, want 0", w.Missing)
	}
	w.Reset()
	w.Limit = math.MaxInt64
	if w.See(5) != New || w.Received != 1 || w.Missing != 0 {
		t.Error("a window that was reset remembers")
	}
}

func BenchmarkWindow(b *testing.B) {
	var w Window
	w.Reset()
	w.Limit = math.MaxInt64
	b.ReportAllocs()
	for i := uint32(0); b.Loop(); i++ {
		w.See(i)
	}
}

// Nobody can make the window believe in packets that were never sent.
func TestWindowKnowsWhatWasSent(t *testing.T) {
	var w Window
	w.Reset()
	w.Limit = 10
	for _, tt := range []struct {
		seq  uint32
		want int
	}{{3, New}, {10, Ahead}, {1 << 20, Ahead}, {3, Again}, {9, New}} {
		if got := w.See(tt.seq); got != tt.want {
			t.Errorf("sequence %d of 10: %d, want %d", tt.seq, got, tt.want)
		}
	}
	if w.Received != 2 || w.Missing != 0 {
		t.Errorf("received %d, missing %d; want 2 and 0", w.Received, w.Missing)
	}
}
