package search_test

import (
	"context"
	"errors"
	"testing"

	"loadtest/search"
	"loadtest/trial"
)

// A device that answered before and then answers nothing at all is asked at next to no load: it went silent, or the load was too high.
func TestAsk(t *testing.T) {
	gone := &search.NotMeasured{Reason: "gone"}
	for _, tt := range []struct {
		name     string
		received func(load int64) int64
		says     error
		asked    int
		load     float64
	}{
		{"it is gone", func(load int64) int64 { return 0 }, gone, 1, 0},
		{"it answers", func(load int64) int64 {
			if load > 5 {
				return 0
			}
			return load
		}, nil, 2, 5},
		{"too slow", func(load int64) int64 { return min(load, 5) }, gone, 0, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &script{answer: func(n int, s trial.Spec) trial.Result {
				load := int64(s.At(0))
				return books(1000*load, 1000*load, 1000*tt.received(load))
			}}
			asked := 0
			o := search.Options{Ask: func(context.Context) error { asked++; return tt.says }}
			a, err := search.Run(context.Background(), r, search.Bisect(search.BisectOptions{Max: 8, Precision: 1}), o)
			if (err != nil) != (tt.asked == 1) || err != nil && !errors.Is(err, gone) || asked != tt.asked || a.Load != tt.load {
				t.Errorf("asked %d times, load %v, %v; want %d, %v", asked, a.Load, err, tt.asked, tt.load)
			}
		})
	}
}
