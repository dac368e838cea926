package pace

import (
	"math"
	"math/big"
	"testing"
	"time"

	"loadtest/trial"
)

func flat(load float64) []trial.Point { return []trial.Point{{Load: load}} }

func TestDueIsExact(t *testing.T) {
	for _, tt := range []struct {
		name string
		load float64
		cost func(i int64) (Cost, int64) // and the same as a whole number of load units
	}{
		{"wire bits", 1e9, func(i int64) (Cost, int64) { n := []int64{672, 12304, 4912}[i%3]; return Bits(n), n }},
		{"odd wire bits", 608695652, func(int64) (Cost, int64) { return Bits(672), 672 }},
		{"packets", 185000, func(int64) (Cost, int64) { return OnePacket, 1 }},
		{"slow", 0.25, func(int64) (Cost, int64) { return OnePacket, 1 }},
		{"jumbo at 400G", 400e9, func(int64) (Cost, int64) { return Bits(65560 * 8), 65560 * 8 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := New(flat(tt.load), Never, 1)
			sum := new(big.Int)
			rate := new(big.Rat).SetFloat64(tt.load)
			for i := range int64(20000) {
				// floor(sum · 1e9 / load)
				due := new(big.Rat).Quo(new(big.Rat).SetInt(new(big.Int).Mul(sum, big.NewInt(1e9))), rate)
				want := new(big.Int).Quo(due.Num(), due.Denom()).Int64()
				if p.Due() != want {
					t.Fatalf("packet %d is due at %d ns, want %d", i, p.Due(), want)
				}
				c, n := tt.cost(i)
				sum.Add(sum, big.NewInt(n))
				p.Next(c)
			}
		})
	}
}

func TestSlopeKeepsItsArea(t *testing.T) {
	p := New([]trial.Point{{At: 0, Load: 0}, {At: time.Second, Load: 1e6}, {At: 2 * time.Second, Load: 1e6}}, int64(2*time.Second), 0.5)
	n, first := 0, int64(0)
	for ; p.Due() != Never; p.Next(OnePacket) {
		if p.Due() >= int64(time.Second) {
			if first == 0 {
				first = int64(n)
			}
		}
		n++
	}
	if first < 249999 || first > 250001 || n < 749999 || n > 750001 {
		t.Errorf("%d packets on the slope, %d in all; want 250000 and 750000", first, n)
	}
}

func TestSilence(t *testing.T) {
	p := New([]trial.Point{{Load: 0}, {At: time.Second - 1, Load: 0}, {At: time.Second, Load: 1000}}, int64(2*time.Second), 1)
	if p.Due() < int64(time.Second)-1 || p.Due() > int64(time.Second)+1e6 {
		t.Errorf("first packet is due at %d, want it when the silence ends at 1 s", p.Due())
	}
	if q := New(flat(0), int64(time.Second), 1); q.Due() != Never {
		t.Errorf("load 0: first packet is due at %d, want never", q.Due())
	}
}

func TestUnpaced(t *testing.T) {
	p := New(flat(math.Inf(1)), int64(time.Second), 1)
	p.Catch(5)
	if !p.Unpaced() || p.Due() != 5 {
		t.Errorf("due at %d, want now (5)", p.Due())
	}
	p.Next(OnePacket)
	p.Catch(6)
	if p.Due() != 6 {
		t.Errorf("due at %d, want now (6)", p.Due())
	}
	p.Catch(int64(time.Second))
	if p.Due() != Never {
		t.Errorf("due at %d after the end, want never", p.Due())
	}
}

func BenchmarkNext(b *testing.B) {
	p := New(flat(1e9), Never, 1)
	b.ReportAllocs()
	for b.Loop() {
		p.Next(Bits(672))
	}
}
