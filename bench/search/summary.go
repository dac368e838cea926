package main

import (
	"math"
	"slices"
)

// sharp are the classes with a threshold.
const sharp = "abefgh"

// A summary is one row: an algorithm on a class of devices.
type summary struct {
	seconds             []float64 // of traffic, a device each, mean over its seeds
	walls               []float64 // the same with the charge for each trial
	ratios              []float64 // of that to the peer's, a device each
	own, peer           float64   // sums of these times
	errors              []float64 // absolute, a search each
	worst               float64
	trials              float64
	devices, recordings int
}

// summarize adds up the searches of the devices that belong.
func summarize(s *set, r *result, belongs func(class string) bool) (m summary) {
	for i := range s.devices {
		d := &s.devices[i]
		if !belongs(d.Class) {
			continue
		}
		var n, traffic, wall, trials float64
		for k := range r.runs {
			f := &r.runs[k]
			if f.device != d {
				continue
			}
			n, traffic, wall, trials = n+1, traffic+f.traffic, wall+f.wall(), trials+float64(f.trials)
			if e := math.Abs(f.err); !math.IsNaN(e) {
				m.errors = append(m.errors, e)
				if e > math.Abs(m.worst) {
					m.worst = f.err
				}
			}
		}
		m.devices++
		m.seconds, m.walls, m.trials = append(m.seconds, traffic/n), append(m.walls, wall/n), m.trials+trials/n
		if peer := recorded(s.peers[r.peer][d.ID]); peer > 0 {
			m.ratios = append(m.ratios, wall/n/peer)
			m.own, m.peer = m.own+wall/n, m.peer+peer
			m.recordings++
		}
	}
	return m
}

// recorded is the mean time of a device's recorded searches, with waits and the charge.
func recorded(runs []peerRun) (mean float64) {
	for _, p := range runs {
		mean += (p.total + charge*p.trials) / float64(len(runs))
	}
	return mean
}

func median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(x))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

func mean(x []float64) (m float64) {
	for _, v := range x {
		m += v / float64(len(x))
	}
	return m
}

// percentile is the value below which a share of x lies.
func percentile(x []float64, p float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(x))
	return s[min(len(s)-1, int(p*float64(len(s))))]
}
