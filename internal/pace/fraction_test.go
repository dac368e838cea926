package pace

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"loadtest/trial"
)

func TestFraction(t *testing.T) {
	for _, tt := range []struct {
		name     string
		unit     trial.Unit
		load     float64
		most     int64
		num, den uint64
		ok       bool
	}{
		{"nothing", trial.Packets, 0, 1, 1, 0, true},
		{"all at once", trial.WireBits, math.Inf(1), 12304, 0, 1, true},
		{"whole packets", trial.Packets, 100e3, 1, 1e9, 100e3, true},
		{"whole bits", trial.WireBits, 10e9, 12304, 1e9, 10e9, true},
		{"half a packet", trial.Packets, 0.5, 1, 2e9, 1, true},
		{"captured pace", trial.Factor, 1, 1 << 40, 1, 1, true},
		{"one and a half of it", trial.Factor, 1.5, 1 << 40, 2, 3, true},
		{"a third of it, with a gap of a day", trial.Factor, 1.0 / 3, 86400e9, 0, 0, false},
		{"more than there is", trial.WireBits, 1e19, 672, 0, 0, false},
		{"a cost that is too large", trial.WireBits, 1e9, 1 << 40, 0, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			num, den, ok := Fraction(tt.unit, tt.load, tt.most)
			if ok != tt.ok || ok && (num != tt.num || den != tt.den) {
				t.Errorf("%d/%d, %v; want %d/%d, %v", num, den, ok, tt.num, tt.den, tt.ok)
			}
		})
	}
}

// Any fraction that is given is within 1e-8 of the load and leaves room for the sum.
func TestFractionIsNear(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	given := 0
	for range 100000 {
		unit, most := trial.WireBits, int64(480+r.IntN(600000))
		base := 1e9
		switch r.IntN(3) {
		case 0:
			unit, most = trial.Packets, 1
		case 1:
			unit, most, base = trial.Factor, r.Int64()>>r.IntN(62), 1
		}
		load := math.Exp2(r.Float64()*60 - 12)
		num, den, ok := Fraction(unit, load, most)
		if !ok {
			continue
		}
		given++
		top := new(big.Int).Mul(new(big.Int).SetUint64(num), big.NewInt(max(most, 1)))
		if top.Add(top, new(big.Int).SetUint64(den)).BitLen() > 62 {
			t.Fatalf("unit %d, load %g, cost %d: %d/%d overflows", unit, load, most, num, den)
		}
		if got := float64(den) / float64(num) * base; math.Abs(got/load-1) > 1.0001e-8 {
			t.Fatalf("unit %d, load %g, cost %d: %d/%d is %g", unit, load, most, num, den, got)
		}
	}
	if given < 50000 {
		t.Errorf("only %d of 100000 have a fraction", given)
	}
}
