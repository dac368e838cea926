package search

import "math"

// The exact statistics of rare events: k of them in an exposure, whose number is Poisson's.

// poissonBounds are the 95 % bounds of the mean of which k events were seen (Garwood 1936).
func poissonBounds(k int64) (low, high float64) {
	const tail = 0.025
	if k > 0 {
		low = solve(float64(k), func(mean float64) bool { return 1-poissonUpTo(k-1, mean) < tail })
	}
	return low, solve(float64(k)+1, func(mean float64) bool { return poissonUpTo(k, mean) > tail })
}

// solve finds where a condition that holds for small means ceases to hold.
func solve(near float64, holds func(mean float64) bool) float64 {
	lo, hi := 0.0, near+10*math.Sqrt(near)+10
	for range 60 {
		if mid := (lo + hi) / 2; holds(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// poissonUpTo is the chance of k events at most.
func poissonUpTo(k int64, mean float64) (p float64) {
	if mean <= 0 {
		return 1
	}
	for i := k; i >= 0; i-- {
		lg, _ := math.Lgamma(float64(i) + 1)
		term := math.Exp(float64(i)*math.Log(mean) - mean - lg)
		if p += term; term < 1e-12*p {
			break
		}
	}
	return min(p, 1)
}

// fewer is the chance that so few of all events, or fewer, fall into a share of the exposure, if they do not care where.
func fewer(events, all int64, share float64) (p float64) {
	if share <= 0 || events >= all {
		return 1
	}
	if share >= 1 {
		return 0
	}
	n, _ := math.Lgamma(float64(all) + 1)
	for i := int64(0); i <= events; i++ {
		a, _ := math.Lgamma(float64(i) + 1)
		b, _ := math.Lgamma(float64(all-i) + 1)
		p += math.Exp(n - a - b + float64(i)*math.Log(share) + float64(all-i)*math.Log1p(-share))
	}
	return min(p, 1)
}
