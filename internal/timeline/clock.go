package timeline

import (
	"math"
	"time"
)

// reordered is the largest step back that is taken for records out of order, which several queues or interfaces write: time stands
// still until it is caught up with. After a larger one the clock was set back: gaps count on from there.
const reordered = 1e9

// A clock makes times of one file that never go back. It shows the file's own as long as these do not.
type clock struct {
	now     int64 // what it shows
	high    int64 // latest of the file's times since it was set back
	peak    int64 // latest of all
	ticking bool  // it has seen a time
	zeros   int64 // records before that
}

// FromZero says whether a capture's first times are times although they are 0, which else is none, by the first time that is not:
// what generators write begins in 1970 and is short.
func FromZero(t int64) bool { return t > 0 && t < int64(365*24*time.Hour) }

// tick takes the next time of the file; 0 is none. back is how far the time went back.
func (c *clock) tick(t int64) (back uint64) {
	switch {
	case t == 0 && !c.ticking:
		c.zeros++
	case t == 0:
	case !c.ticking:
		*c = clock{now: t, high: t, peak: t, ticking: true, zeros: c.zeros}
	case t >= c.peak: // also behind a few wrong records
		c.run(span(c.peak, t))
		c.high, c.peak = t, t
	case t >= c.high:
		c.run(span(c.high, t))
		c.high = t
	default:
		if back = span(t, c.high); back > reordered {
			c.high = t
		}
	}
	return back
}

func (c *clock) run(gap uint64) { c.now += int64(min(gap, span(c.now, math.MaxInt64))) }

// span is the time from a to b, which is not before it.
func span(a, b int64) uint64 { return uint64(b) - uint64(a) }
