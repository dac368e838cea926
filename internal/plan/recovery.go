package plan

import (
	"time"

	"loadtest/search"
	"loadtest/trial"
)

// lookEvery is how exact the time of a recovery is.
const lookEvery = 10 * time.Millisecond

// overload is 110 % of the throughput, or the maximum, and then half of that (RFC 2544, 26.5).
func overload(found, top float64, d time.Duration) search.Step {
	high := min(1.1*found, top)
	s := search.Step{Spec: trial.Flat(high, 2*d), Probe: true, Why: "recovery: 110 % of the throughput, or the maximum, then half of that"}
	s.Load = []trial.Point{{Load: high}, {At: d - 1, Load: high}, {At: d, Load: high / 2}}
	s.Interval = lookEvery
	return s
}

// Recover is between which times after drop the last lost frame was sent, as far as counts show it: before low not all of the losses
// had happened, as less was missing than in the end; from high on no more was missing or under way than at rest, so that every queue
// was empty. ok is false without samples that could tell. Without a loss both are 0.
func Recover(samples []trial.Sample, drop time.Duration, r *trial.Result) (low, high time.Duration, ok bool) {
	lost := r.Sum((*trial.Stream).Lost)
	if lost == 0 {
		return 0, 0, r.Elapsed > drop
	}
	var after []trial.Sample
	for _, s := range samples {
		if s.At >= drop {
			after = append(after, s)
		}
	}
	if len(after) < 8 {
		return 0, 0, false
	}
	calm := after[len(after)*3/4:]
	rest, least := missing(calm[0]), missing(calm[0])
	for _, s := range calm {
		rest, least = max(rest, missing(s)), min(least, missing(s))
	}
	rest += rest - least + int64(len(calm[0].Streams)) // a sample may fall anywhere between two packets
	for i, s := range after {
		if missing(s) < lost {
			low = s.At - drop
		}
		if missing(s) > rest {
			if i+1 == len(after) {
				return 0, 0, false
			}
			high = after[i+1].At - drop
		}
	}
	return low, max(low, high, after[0].At-drop), true
}

// missing is what was sent and has not come back.
func missing(s trial.Sample) (n int64) {
	for _, p := range s.Streams {
		n += p.Sent - p.Received
	}
	return n
}
