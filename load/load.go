// Package load holds the load programs of a transient test: pure functions from a step's number to its load.
//
//	program, maximum, step ─Steps→ load, load, load … ─→ trial.Spec each
//
// A load is a number in the unit of the trial; no program looks at the unit.
package load

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Program gives the load of step i, counted from 0, of a test that goes up to max in steps of by; false after its end.
type Program func(i int, max, by float64) (load float64, more bool)

// Names lists the programs that Steps knows.
func Names() []string { return []string{"ramp_up", "ramp_down", "ramp_up_down", "constant"} }

// Find is the program of a name.
func Find(name string) (Program, error) {
	programs := []Program{RampUp, RampDown, RampUpDown, Constant} // in the order of Names
	if i := slices.Index(Names(), name); i >= 0 {
		return programs[i], nil
	}
	return nil, fmt.Errorf("unknown load program %q: want one of %s", name, strings.Join(Names(), ", "))
}

// Steps yields the loads of a program by name, in order. step 0 is a tenth of max. constant never ends, and takes +Inf, "as
// fast as the port can", as max.
func Steps(program string, max, step float64) (iter.Seq[float64], error) {
	p, err := Find(program)
	if err != nil {
		return nil, err
	}
	if step == 0 {
		step = max / 10
	}
	if !(max > 0) || math.IsInf(max, 1) && program != "constant" {
		return nil, fmt.Errorf("load program %s: maximum %v: want a finite number above 0", program, max)
	}
	if !(step > 0) || math.IsInf(step, 1) && program != "constant" {
		return nil, fmt.Errorf("load program %s: step %v: want a finite number above 0", program, step)
	}
	if program != "constant" && max/step > math.MaxInt32 {
		return nil, fmt.Errorf("load program %s: step %v: %.3g steps up to %v are too many", program, step, max/step, max)
	}
	return func(yield func(float64) bool) {
		for i := 0; ; i++ {
			if l, more := p(i, max, step); !more || !yield(l) {
				return
			}
		}
	}, nil
}

// RampUp goes from by to max; the last step may be shorter.
func RampUp(i int, max, by float64) (float64, bool) {
	n := count(max, by)
	if i < 0 || i >= n {
		return 0, false
	}
	if i == n-1 {
		return max, true
	}
	// 15 digits are the product that was meant, without the noise of its factors: 3 times 0.1 is 0.3.
	l, _ := strconv.ParseFloat(strconv.FormatFloat(by*float64(i+1), 'g', 15, 64), 64)
	return math.Min(max, l), true
}

// RampDown is RampUp backwards.
func RampDown(i int, max, by float64) (float64, bool) {
	return RampUp(count(max, by)-1-i, max, by)
}

// RampUpDown is RampUp, then RampDown: the top comes twice.
func RampUpDown(i int, max, by float64) (float64, bool) {
	n := count(max, by)
	if i < n {
		return RampUp(i, max, by)
	}
	return RampDown(i-n, max, by)
}

// Constant is max for ever.
func Constant(_ int, max, _ float64) (float64, bool) { return max, true }

// count is ceil(max / by), blind to the noise of the division: 1.1 in steps of 0.1 are 11.
func count(max, by float64) int {
	q := max / by
	if near := math.Round(q); near >= 1 && math.Abs(q-near) <= 1e-9*near {
		return int(near)
	}
	return int(math.Ceil(q))
}
