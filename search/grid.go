package search

import (
	"fmt"
	"math"

	"loadtest/trial"
)

// A grid is the loads that a search may try, numbered: 0 is the lowest one, top the highest.
type grid struct {
	max, step float64 // multiples of step, or, where it is 0,
	ratio     float64 // each load this factor above the next lower one, in few digits
	whole     bool    // loads are whole numbers
	top       int64
	width     int64 // so many steps are the precision
}

// multiples are those of step up to max, and max itself.
func multiples(max, step float64) grid {
	return grid{max: max, step: step, top: steps(max, step) - 1, width: 1}
}

// geometric is a grid with two steps to the relative width, so that a search that ends one width apart may end in the middle of it.
func geometric(max, min, width float64, unit trial.Unit) grid {
	ratio := math.Sqrt(1 + width)
	return grid{max: max, ratio: ratio, whole: unit != trial.Factor, width: 2, top: int64(math.Log(max/min) / math.Log(ratio))}
}

// load is the ith load.
func (g grid) load(i int64) float64 {
	switch x := g.max * math.Pow(g.ratio, float64(i-g.top)); {
	case i == g.top:
		return g.max
	case g.step > 0:
		return min(decimal(float64(i+1)*g.step), g.max)
	default:
		digit := math.Pow10(int(math.Floor(math.Log10(x * (g.ratio - 1) / 10))))
		if g.whole {
			digit = max(digit, 1)
		}
		return decimal(math.Round(x/digit) * digit)
	}
}

// below is the highest load of the grid that is not above x; 0 if all are.
func (g grid) below(x float64) int64 {
	i := g.top
	switch {
	case x <= 0:
		return 0
	case g.step > 0:
		i = int64(x/g.step) - 1
	case x < g.max:
		i = g.top - int64(math.Ceil(math.Log(g.max/x)/math.Log(g.ratio)))
	}
	i = max(0, min(i, g.top))
	for i < g.top && g.load(i+1) <= x { // what rounding did
		i++
	}
	for i > 0 && g.load(i) > x {
		i--
	}
	return i
}

// gridError says what is wrong with the numbers of a grid.
func gridError(max, step, width float64) error {
	finite := func(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
	switch {
	case !finite(max):
		return fmt.Errorf("search: maximum load %v: want a finite number above 0", max)
	case step == 0 && !(width > 1e-9 && width < 1):
		return fmt.Errorf("search: relative width %v: want a share of the load above 0 and below 1, as 0.005", width)
	case step != 0 && !finite(step):
		return fmt.Errorf("search: precision %v: want a finite number above 0", step)
	case max/step > 1e12 && step != 0:
		return fmt.Errorf("search: precision %v of %v: want at least 1e-12 of it", step, max)
	}
	return nil
}
