package search_test

import (
	"context"
	"fmt"
	"time"

	"loadtest/dut"
	"loadtest/search"
	"loadtest/units"
)

// The no-drop rate of a device in arithmetic: 3 Gbit/s of the 10 that are tried.
func Example() {
	device := &dut.Model{Capacity: 3 * units.Gbps}
	bisect := search.Bisect(search.BisectOptions{Max: 10e9, Precision: 1e6, Rule: search.Retry(3)})

	answer, err := search.Run(context.Background(), device, bisect, search.Options{
		Warmup: time.Second,
		See: func(e search.Event) {
			if e.Kind == search.TrialEnded && e.Trial <= 5 {
				fmt.Printf("%d  %6.3f Gbps  %s %s\n", e.Trial, e.Spec.At(0)/1e9, e.Verdict, e.Reason)
			}
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f Gbps passed, %.3f did not; limited by the %s\n", answer.Load/1e9, answer.Above/1e9, answer.Limit)

	// Output:
	// 1  10.000 Gbps  fail lost 104165 stream1; stopped early
	// 2  10.000 Gbps  fail lost 104165 stream1; stopped early
	// 3  10.000 Gbps  fail lost 104165 stream1; stopped early
	// 4  10.000 Gbps  fail lost 104165 stream1; stopped early
	// 5   5.000 Gbps  fail lost 29760 stream1; stopped early
	// 3.000 Gbps passed, 3.001 did not; limited by the device
}
