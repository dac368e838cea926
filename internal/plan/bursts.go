package plan

import (
	"fmt"
	"math"
	"time"

	"loadtest/search"
	"loadtest/trial"
)

// Lengths are the longest bursts without loss that each of several searches found, in frames.
type Lengths []int64

// Stats are the average, least, greatest and standard deviation of the lengths (RFC 9004, 6).
func (l Lengths) Stats() (mean, least, most, sd float64) {
	least = math.Inf(1)
	for _, n := range l {
		mean += float64(n)
		least, most = min(least, float64(n)), max(most, float64(n))
	}
	mean /= float64(len(l))
	for _, n := range l {
		sd += (float64(n) - mean) * (float64(n) - mean)
	}
	if len(l) > 1 {
		sd = math.Sqrt(sd / float64(len(l)-1))
	}
	return mean, least, most, sd
}

// Buffer is the time that bursts of n frames imply that the device buffers, and the same without what it forwards meanwhile:
// implied · (1 - throughput / maximum) (RFC 9004, 5.4). Rates are frames per second.
func Buffer(n, maxPps, throughputPps float64) (implied, corrected time.Duration) {
	seconds := n / maxPps
	return time.Duration(seconds * 1e9), time.Duration(seconds * (1 - throughputPps/maxPps) * 1e9)
}

// bursts looks for the longest burst without loss, again and again. The first search halves from the longest burst; each
// further one begins at the answer before it, and goes away from there in steps that double, so that its answer is its own.
type bursts struct {
	max, bits float64
	top       int64 // longest burst to try
	repeats   int
	found     Lengths
	lo, hi    int64 // passed, did not pass; -1: not known
	from      int64 // where the search began
	step      int64
}

func newBursts(most, bits float64, longest time.Duration, repeats int) *bursts {
	top := max(1, int64(longest.Seconds()*most/bits))
	return &bursts{max: most, bits: bits, top: top, repeats: repeats, lo: 0, hi: -1, from: top, step: 1}
}

// length is the burst to try next.
func (b *bursts) length() int64 {
	switch {
	case b.lo >= 0 && b.hi >= 0:
		return (b.lo + b.hi) / 2
	case b.lo <= 0 && b.hi < 0:
		return b.from
	case b.hi < 0:
		return min(b.lo+b.step, b.top)
	default:
		return max(b.hi-b.step, 1)
	}
}

// Duration is how long so many frames take at the maximum; half a frame less, so that no further one is due.
func (b *bursts) duration(n int64) time.Duration {
	return time.Duration((float64(n) - 0.5) * b.bits / b.max * 1e9)
}

func (b *bursts) Next() (search.Step, bool) {
	if len(b.found) == b.repeats {
		return search.Step{}, false
	}
	n := b.length()
	return search.Step{Spec: trial.Flat(b.max, b.duration(n)), Why: fmt.Sprintf("burst of %d frames, search %d of %d", n, len(b.found)+1, b.repeats)}, true
}

func (b *bursts) Report(o search.Outcome) {
	n := b.length()
	known := b.lo > 0 || b.hi >= 0
	if o.Verdict == search.Pass {
		b.lo = n
	} else {
		b.hi = n
	}
	if known && (b.lo < 0 || b.hi < 0) {
		b.step *= 2
	}
	switch {
	case b.hi == 1:
		b.lo = 0
	case b.lo == b.top:
		b.hi = b.top + 1
	}
	if b.lo >= 0 && b.hi == b.lo+1 {
		b.found = append(b.found, b.lo)
		b.from, b.step = max(b.lo, 1), 1
		b.lo, b.hi = -1, -1
	}
}

func (b *bursts) Answer() search.Answer {
	return search.Answer{Complete: len(b.found) == b.repeats}
}

// LengthsOf are the answers of a strategy for bursts so far; nil of another.
func LengthsOf(s search.Strategy) Lengths {
	if b, ok := s.(*bursts); ok {
		return b.found
	}
	return nil
}
