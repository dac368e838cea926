package search_test

import (
	"fmt"
	"testing"

	"loadtest/dut"
	"loadtest/search"
)

// Where packets are lost at every load, no rate below the cliff is called free of loss, with twenty seeds each; the ratio is right, and
// its bounds hold about as often as they say.
func TestBackgroundLoss(t *testing.T) {
	held, all := 0, 0
	for _, ppt := range []int64{1e6, 1e7, 1e9} { // of 1e12: 1 in 10^6, 1 in 10^5, 1 in 1000
		for _, capacity := range []int64{100_000, 500_000, 1_000_000, 3_000_000, 14_000_000, 10 * top} {
			t.Run(fmt.Sprint(ppt, " ", capacity), func(t *testing.T) {
				cliff := float64(min(capacity, top))
				for seed := range uint64(20) {
					m := &dut.Model{ModelParams: dut.ModelParams{Seed: dut.ModelSeed(capacity), Cap0: capacity, FloorPPT: ppt, Queue: 64, ColdPermille: 1000}, RunSeed: seed}
					a := climbed(t, m, search.LadderOptions{})
					b := a.Background
					switch {
					case b == nil && a.Load < 0.99*cliff:
						t.Errorf("seed %d: %v is called free of loss, the cliff is at %v", seed, a.Load, cliff)
					case b == nil:
					case a.Load != 0:
						t.Errorf("seed %d: %v is called free of loss beside a background loss", seed, a.Load)
					default:
						truth := float64(ppt) / 1e12
						if all++; b.Low <= truth && truth <= b.High {
							held++
						}
						if b.Ratio < truth/4 || b.Ratio > 4*truth || b.To < 0.98*cliff || b.To > 1.02*cliff || b.Goal < 2*b.High || b.Half <= 0 || b.Half > 1.02*cliff {
							t.Errorf("seed %d: %+v; the loss is %v, the cliff at %v", seed, *b, truth, cliff)
						}
					}
				}
			})
		}
	}
	if held < all*88/100 {
		t.Errorf("the loss was within its 95 %% bounds in %d of %d searches", held, all)
	}
}

// A device that loses nothing below its limit, is noisy, or stalls now and then has no background loss, nor has one that loses packets
// from a load on.
func TestNoBackgroundLoss(t *testing.T) {
	for _, tt := range []struct {
		name string
		d    dut.ModelParams
		most int // of twenty
	}{
		{"sharp", dut.ModelParams{Cap0: 2_000_000}, 0},
		{"noisy", dut.ModelParams{Cap0: 2_000_000, SigmaPPM: 30_000, Queue: 512}, 0},
		{"noisy and slow", dut.ModelParams{Cap0: 60_000, SigmaPPM: 10_000}, 0},
		{"stalls", dut.ModelParams{Cap0: 2_000_000, StallMeanMS: 5000, StallUS: 2000, Queue: 1024}, 0},
		{"a knee", dut.ModelParams{Cap0: 4_000_000, FloorPPT: 1e7, FloorFrom: 2_000_000}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := 0
			for seed := range uint64(20) {
				tt.d.ColdPermille = 1000
				if a := climbed(t, &dut.Model{ModelParams: tt.d, RunSeed: seed}, search.LadderOptions{}); a.Background != nil {
					found++
				}
			}
			if found > tt.most {
				t.Errorf("%d of 20 searches call it a background loss", found)
			}
		})
	}
}
