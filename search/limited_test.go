package search_test

import (
	"context"
	"testing"
	"time"

	"loadtest/dut"
	"loadtest/search"
	"loadtest/trial"
)

// Where the tester cannot send the highest load, the search goes on at what it could, not at what it was asked for.
func TestLookWhereTheTesterIsTheLimit(t *testing.T) {
	m := &dut.Model{ModelParams: dut.ModelParams{Cap0: 3_000_000, Gen: 1_200_000, ColdPermille: 1000}}
	s := search.Ladder(search.LadderOptions{Goal: search.Goal{Trial: time.Second, Rule: search.Sure(21), Width: 0.005}, Max: 14_880_952, Unit: trial.Packets})
	var loads []float64
	o := search.Options{Invalid: -1, See: func(e search.Event) {
		if e.Kind == search.TrialEnded && !e.Probe {
			loads = append(loads, e.Spec.At(0))
		}
	}}
	a, err := search.Run(context.Background(), m, s, o)
	if err != nil || a.Limit != search.LimitTester || a.Load > 1_200_000 || a.Load < 0.994*1_200_000 {
		t.Errorf("found %v, limited by %s, %v; want 1.2 Mpps and the tester", a.Load, a.Limit, err)
	}
	for _, load := range loads {
		if load > 1.02*1_200_000 {
			t.Errorf("tried %v, which the tester is known not to do", load)
		}
	}
}
