package clock

import (
	"testing"
	"time"
)

// What was slept is told only as far as it is certain, and for each run by itself.
func TestSuspended(t *testing.T) {
	const s = int64(time.Second)
	type bounds struct{ least, most int64 }
	for _, tt := range []struct {
		name          string
		before, after bounds
		want          time.Duration
	}{
		{"awake", bounds{5*s - 60, 5*s + 60}, bounds{5*s - 80, 5*s + 40}, 0},
		{"slept", bounds{5*s - 60, 5*s + 60}, bounds{8*s + 60, 8*s + 90}, 3 * time.Second},
		{"held up between the clocks", bounds{5 * s, 6 * s}, bounds{4 * s, 5 * s}, 0},
		{"clocks of a namespace", bounds{-9 * s, -9 * s}, bounds{-7 * s, -7 * s}, 2 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := NewReal()
			asked := []bounds{tt.before, tt.after, tt.after, tt.after}
			c.asleep = func() (least, most int64) {
				b := asked[0]
				asked = asked[1:]
				return b.least, b.most
			}
			for _, want := range []time.Duration{tt.want, 0} {
				if err := c.Run(t.Context()); err != nil || c.Lost().Suspended != want {
					t.Errorf("suspended %v (%v), want %v", c.Lost().Suspended, err, want)
				}
			}
		})
	}
}

// The system's own bounds hold, however busy it is.
func TestAsleep(t *testing.T) {
	last, _ := asleep()
	for range 1000 {
		least, most := asleep()
		if least > most || most < last {
			t.Fatalf("slept between %d and %d ns, and at least %d before", least, most, last)
		}
		last = least
	}
}
