package search

import (
	"cmp"
	"math"
	"slices"
)

// loadMatters is how much better the trials are explained by losses that grow with the load than by losses that do not care about
// it: the logarithm of the ratio of both likelihoods, at the best of all rates that only grow (pool adjacent violators). A trial
// with a loss is one event, as it mostly ended with it.
func (e evidence) loadMatters(below float64) float64 {
	trials := slices.DeleteFunc(slices.Clone(e), func(t lossy) bool { return t.load >= below })
	slices.SortStableFunc(trials, func(a, b lossy) int { return cmp.Compare(a.load, b.load) })
	type pool struct{ events, sent float64 }
	var pools []pool
	var all pool
	for i, t := range trials {
		p := pool{sent: float64(t.sent)}
		if t.lost > 0 {
			p.events = 1
		}
		all.events, all.sent = all.events+p.events, all.sent+p.sent
		if i > 0 && t.load == trials[i-1].load { // one load has one rate
			last := &pools[len(pools)-1]
			last.events, last.sent = last.events+p.events, last.sent+p.sent
		} else {
			pools = append(pools, p)
		}
		for n := len(pools); n > 1 && pools[n-2].events*pools[n-1].sent >= pools[n-1].events*pools[n-2].sent; n-- {
			pools[n-2].events += pools[n-1].events
			pools[n-2].sent += pools[n-1].sent
			pools = pools[:n-1]
		}
	}
	sum := 0.0
	for _, p := range pools {
		if p.events > 0 {
			sum += p.events * math.Log(p.events/p.sent*all.sent/all.events)
		}
	}
	return sum
}
