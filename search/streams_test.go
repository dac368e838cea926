package search_test

import (
	"context"
	"testing"
	"time"

	"loadtest/dut"
	"loadtest/search"
	"loadtest/trial"
)

// Each stream gets what its own path takes; the one with less does not hold the other back.
func TestPerStream(t *testing.T) {
	goal := search.Goal{Trial: time.Second, Rule: search.Sure(21), Width: 0.005}
	for _, tt := range []struct {
		name       string
		cap0, cap1 int64
		order      []string
	}{
		{"first is slower", 300_000, 700_000, []string{"stream1", "stream2"}},
		{"second is slower", 700_000, 300_000, []string{"stream2", "stream1"}},
		{"alike", 500_000, 500_000, []string{"stream1", "stream2"}},
		{"one takes all there is", 2_000_000, 300_000, []string{"stream2", "stream1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &dut.Model{ModelParams: dut.ModelParams{Streams: 2, Cap0: tt.cap0, Cap1: tt.cap1, ColdPermille: 1000}}
			s := search.PerStream([]string{"stream1", "stream2"}, 0, func() search.Strategy {
				return search.Ladder(search.LadderOptions{Goal: goal, Max: 1_000_000, Unit: trial.Packets})
			})
			if _, err := search.Run(context.Background(), m, s, search.Options{Invalid: -1}); err != nil {
				t.Fatal(err)
			}
			limits := s.Limits()
			if len(limits) != 2 {
				t.Fatalf("%d limits, want 2", len(limits))
			}
			for i, l := range limits {
				truth := float64(min(1_000_000, map[string]int64{"stream1": tt.cap0, "stream2": tt.cap1}[l.Stream]))
				if l.Stream != tt.order[i] || l.Answer.Load > truth*1.0001 || l.Answer.Load < truth*0.994 {
					t.Errorf("limit %d: %s %v, want %s %v", i, l.Stream, l.Answer.Load, tt.order[i], truth)
				}
			}
		})
	}
}
