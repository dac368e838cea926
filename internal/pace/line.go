package pace

import (
	"math"
	"time"

	"loadtest/trial"
)

// Slope is the longest line that a slope is cut into.
const Slope = int64(10 * time.Millisecond)

// A Line is a stretch of constant load, until End in ns since the start.
type Line struct {
	End  int64
	Load float64
}

// Never is the end of a load without one, and when a packet behind the end of a load is due.
const Never = math.MaxInt64

// LineAt is the line that begins at t ns: the points' own, or a piece of at most Slope of a slope with its mean load.
// end is where the load as a whole ends.
func LineAt(points []trial.Point, t, end int64) Line {
	for i, p := range points {
		at := int64(p.At)
		if t >= at {
			continue
		}
		if i == 0 {
			return Line{min(at, end), p.Load}
		}
		q := points[i-1]
		if q.Load == p.Load {
			return Line{min(at, end), p.Load}
		}
		l := Line{End: min(at, t+Slope, end)}
		middle := float64(t-int64(q.At)) + float64(l.End-t)/2
		l.Load = q.Load + (p.Load-q.Load)*middle/float64(p.At-q.At)
		return l
	}
	if len(points) == 0 {
		return Line{End: end}
	}
	return Line{end, points[len(points)-1].Load}
}
