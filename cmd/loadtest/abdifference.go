package main

import (
	"fmt"
	"math"
)

// A difference is how much more B is than A, in percent of A, over the pairs so far.
type difference struct {
	Pairs   int      `json:"pairs"`
	Mean    float64  `json:"mean_percent"`
	Half    *float64 `json:"half_width_percent"` // of the 95 % interval around the mean; null: one pair says nothing of it
	Seen    bool     `json:"seen"`               // the interval does not hold 0
	Limited bool     `json:"precision_limited"`  // the interval is as wide as a step of the search, not as the pairs differ
}

// compared is the mean of the pairs' differences with its interval by Student's t. Each rate is known to a step of the search only,
// grid percent: pairs that differ by less than that say nothing of where in the step the truth is, however many they are. From about
// a step of noise on, the steps average out.
func compared(pairs []float64, grid float64) difference {
	n := float64(len(pairs))
	d := difference{Pairs: len(pairs)}
	for _, x := range pairs {
		d.Mean += x / n
	}
	if n < 2 {
		return d
	}
	squares := 0.0
	for _, x := range pairs {
		squares += (x - d.Mean) * (x - d.Mean)
	}
	deviation := math.Sqrt(squares / (n - 1))
	half := student95(len(pairs)-1) * deviation / math.Sqrt(n)
	if deviation < grid*math.Sqrt2/2 && half < grid {
		half, d.Limited = grid, true
	}
	d.Half, d.Seen = &half, math.Abs(d.Mean) > half
	return d
}

// String is "+3.1 % ± 0.4 (95 %, 10 pairs)", or that none was seen.
func (d difference) String() string {
	switch {
	case d.Pairs == 0:
		return "no pair measured"
	case d.Half == nil:
		return fmt.Sprintf("%+.2f %% (one pair: no interval)", d.Mean)
	}
	digits := 1
	if *d.Half > 0 {
		digits = max(1, int(math.Ceil(-math.Log10(*d.Half)))+1)
	}
	digits = min(digits, 4)
	interval := fmt.Sprintf("%+.*f %% ± %.*f (95 %%, %d pairs)", digits, d.Mean, digits, *d.Half, d.Pairs)
	if !d.Seen {
		return "no difference seen: " + interval
	}
	return interval
}

// student95 is how many standard errors of a mean of n+1 values hold 95 % of them: Abramowitz and Stegun 26.7.3 and 26.7.4, turned
// round by halving.
func student95(n int) float64 {
	low, high := 1.9, 13.0
	for range 60 {
		if t := (low + high) / 2; within(t, n) < 0.95 {
			low = t
		} else {
			high = t
		}
	}
	return (low + high) / 2
}

// within is the share of Student's distribution with n degrees of freedom between -t and t.
func within(t float64, n int) float64 {
	angle := math.Atan(t / math.Sqrt(float64(n)))
	sin, cos := math.Sincos(angle)
	sum, term := 0.0, 1.0
	if n%2 == 1 {
		term = cos
	}
	for k := n % 2; k <= n-2; k += 2 { // the powers of cos
		sum += term
		term *= cos * cos * float64(k+1) / float64(k+2)
	}
	if n%2 == 1 {
		return (angle + sin*sum) * 2 / math.Pi
	}
	return sin * sum
}
