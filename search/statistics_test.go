package search

import (
	"math"
	"testing"
	"time"
)

// Garwood's bounds, as tables have them.
func TestPoissonBounds(t *testing.T) {
	for _, tt := range []struct {
		k         int64
		low, high float64
	}{{0, 0, 3.689}, {1, 0.0253, 5.572}, {2, 0.2422, 7.225}, {5, 1.6235, 11.668}, {10, 4.795, 18.390}, {100, 81.364, 121.627}, {10000, 9805.0, 10197.9}} {
		if low, high := poissonBounds(tt.k); math.Abs(low-tt.low) > 0.0006*(1+tt.low) || math.Abs(high-tt.high) > 0.0006*(1+tt.high) {
			t.Errorf("%d events: %.4f..%.4f, want %v..%v", tt.k, low, high, tt.low, tt.high)
		}
	}
}

// Of n events none in a share s of the exposure has the chance (1-s)^n.
func TestFewer(t *testing.T) {
	for _, tt := range []struct {
		events, all int64
		share, want float64
	}{{0, 10, 0.5, 1. / 1024}, {0, 3, 0.25, 27. / 64}, {1, 2, 0.5, 0.75}, {2, 2, 0.5, 1}, {0, 5, 0, 1}, {0, 5, 1, 0}, {5, 5, 1, 1}, {3, 10, 0.3, 0.6496}} {
		if got := fewer(tt.events, tt.all, tt.share); math.Abs(got-tt.want) > 1e-4 {
			t.Errorf("%d of %d in %v: %v, want %v", tt.events, tt.all, tt.share, got, tt.want)
		}
	}
}

func TestLoadMatters(t *testing.T) {
	const packets = 1_000_000
	trials := func(loads, lossy []float64) (e evidence) {
		for _, load := range loads {
			e = append(e, lossy1(load, packets, 0))
		}
		for _, load := range lossy {
			e = append(e, lossy1(load, packets/10, 1))
		}
		return e
	}
	for _, tt := range []struct {
		name  string
		e     evidence
		least float64
		most  float64
	}{
		{"nothing lost", trials([]float64{1, 2, 3}, nil), 0, 0},
		{"a cliff", trials([]float64{1, 1, 1, 1, 1}, []float64{2, 2, 2, 2, 2}), 11, 14}, // 5·ln(5/0.5 · 5.5/5)
		{"more lost below", trials([]float64{2, 2, 2}, []float64{1, 1, 1}), 0, 0},
		{"the same everywhere", trials([]float64{1, 2, 3, 4}, []float64{1, 2, 3, 4}), -1e-9, 1e-9},
		{"above the bound", trials([]float64{1, 1, 1}, []float64{10, 10, 10, 10}), 0, 0},
	} {
		if got := tt.e.loadMatters(5); !(got >= tt.least && got <= tt.most) {
			t.Errorf("%s: %v, want %v to %v", tt.name, got, tt.least, tt.most)
		}
	}
}

func lossy1(load float64, sent, lost int64) lossy {
	return lossy{load: load, sent: sent, lost: lost, during: time.Duration(sent) * time.Microsecond}
}

func TestBursts(t *testing.T) {
	for _, tt := range []struct {
		name string
		e    evidence
		want bool
	}{
		{"nothing", nil, false},
		{"one by one", evidence{lossy1(1, 1e6, 1), lossy1(1, 5e5, 2)}, false},
		{"a queue that overflows now and then", evidence{lossy1(1, 3e6, 5000), lossy1(1, 2e6, 900)}, true},
		{"many, as it goes on", evidence{lossy1(1, 1e5, 100), lossy1(1, 1e5, 120)}, false},
	} {
		if got := tt.e.sum(0, 2).bursts(); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// below is the load of the grid at or below a load; the loads rise, and max is the last one.
func FuzzGrid(f *testing.F) {
	f.Add(1e10, 0.0, 0.005, 0.61)
	f.Add(1e9, 1e6, 0.0, 0.6095)
	f.Add(0.3, 0.1, 0.0, 0.99)
	f.Fuzz(func(t *testing.T, most, step, width, share float64) {
		if gridError(most, step, width) != nil || most > 1e15 || most < 1e-3 || step > most || step != 0 && most/step > 1e9 || step == 0 && (width < 1e-4 || most < 1e5) || !(share >= 0 && share <= 1) {
			return
		}
		g := multiples(most, step)
		if step == 0 {
			g = geometric(most, most/1e4, width, 0)
		}
		if g.load(g.top) != most {
			t.Fatalf("the highest load is %v, want %v", g.load(g.top), most)
		}
		x := share * most
		i := g.below(x)
		if i < 0 || i > g.top || i > 0 && g.load(i) > x || i < g.top && g.load(i+1) <= x {
			t.Fatalf("%v: load %d of %d is %v, the next %v", x, i, g.top, g.load(i), g.load(min(g.top, i+1)))
		}
		for k := max(0, i-3); k < min(g.top, i+3); k++ {
			if !(g.load(k) < g.load(k+1)) || g.load(k) < 0 {
				t.Fatalf("loads %d and %d: %v and %v", k, k+1, g.load(k), g.load(k+1))
			}
		}
	})
}
