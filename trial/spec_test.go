package trial_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"loadtest/trial"
)

func TestSpecAt(t *testing.T) {
	const s = time.Second
	inf := math.Inf(1)
	ramp := []trial.Point{{At: 0, Load: 10}, {At: 10 * s, Load: 20}, {At: 20 * s, Load: 0}}
	step := []trial.Point{{At: 0, Load: 1}, {At: 5 * s, Load: 1}, {At: 5 * s, Load: 9}, {At: 8 * s, Load: 9}}
	for _, tt := range []struct {
		name string
		load []trial.Point
		at   time.Duration
		want float64
	}{
		{"no load", nil, s, 0},
		{"flat", trial.Flat(7, s).Load, 0, 7},
		{"flat, later", trial.Flat(7, s).Load, time.Hour, 7},
		{"before the first point", []trial.Point{{At: s, Load: 5}, {At: 2 * s, Load: 6}}, 0, 5},
		{"in the pre-roll", ramp, -s, 10},
		{"at the start", ramp, 0, 10},
		{"on the way up", ramp, 2500 * time.Millisecond, 12.5},
		{"at the top", ramp, 10 * s, 20},
		{"on the way down", ramp, 15 * s, 10},
		{"at the end", ramp, 20 * s, 0},
		{"after it", ramp, time.Minute, 0},
		{"just before a step", step, 5*s - 1, 1},
		{"on the step", step, 5 * s, 9},
		{"after the step", step, 6 * s, 9},
		{"as fast as possible", []trial.Point{{Load: inf}, {At: 2 * s, Load: inf}}, s, inf},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := (trial.Spec{Load: tt.load}).At(tt.at); got != tt.want {
				t.Errorf("At(%v) of %v = %v, want %v", tt.at, fmt.Sprint(tt.load), got, tt.want)
			}
		})
	}
}
