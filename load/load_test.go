package load_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"loadtest/load"
)

func TestSteps(t *testing.T) {
	for _, tt := range []struct {
		program   string
		max, step float64
		want      string
	}{
		{"ramp_up", 10, 2.5, "[2.5 5 7.5 10]"},
		{"ramp_up", 10, 4, "[4 8 10]"},
		{"ramp_up", 10, 10, "[10]"},
		{"ramp_up", 10, 99, "[10]"},
		{"ramp_up", 1e9, 0, "[1e+08 2e+08 3e+08 4e+08 5e+08 6e+08 7e+08 8e+08 9e+08 1e+09]"},
		{"ramp_up", 0.3, 0.1, "[0.1 0.2 0.3]"},
		{"ramp_up", 0.9, 0.1, "[0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9]"},
		{"ramp_up", 2, 0.3, "[0.3 0.6 0.9 1.2 1.5 1.8 2]"},
		{"ramp_down", 10, 4, "[10 8 4]"},
		{"ramp_up_down", 10, 4, "[4 8 10 10 8 4]"},
		{"ramp_up_down", 10, 20, "[10 10]"},
	} {
		seq, err := load.Steps(tt.program, tt.max, tt.step)
		if err != nil {
			t.Errorf("%s %v %v: %v", tt.program, tt.max, tt.step, err)
			continue
		}
		if got := fmt.Sprint(slices.Collect(seq)); got != tt.want {
			t.Errorf("%s to %v by %v: got %s, want %s", tt.program, tt.max, tt.step, got, tt.want)
		}
	}
}

// Tenths, sevenths and so on of any maximum are as many steps as they say, whatever floats make of the division.
func TestStepsAreBlindToNoise(t *testing.T) {
	for _, max := range []float64{0.7, 1.1, 3.3, 1e9, 9.4e9, 100e9 / 3} {
		for n := 1; n <= 200; n++ {
			seq, err := load.Steps("ramp_up", max, max/float64(n))
			if err != nil {
				t.Fatal(err)
			}
			loads := slices.Collect(seq)
			if len(loads) != n || loads[n-1] != max || !slices.IsSorted(loads) {
				t.Fatalf("%v by %v: %d steps up to %v, want %d", max, max/float64(n), len(loads), loads[len(loads)-1], n)
			}
		}
	}
}

func TestConstantNeverEnds(t *testing.T) {
	for _, max := range []float64{5, math.Inf(1)} {
		seq, err := load.Steps("constant", max, 0)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for l := range seq {
			if l != max {
				t.Fatalf("step %d: %v, want %v", n, l, max)
			}
			if n++; n == 10000 {
				break
			}
		}
		if n != 10000 {
			t.Errorf("ended after %d steps", n)
		}
	}
}

func TestProgramsEnd(t *testing.T) {
	for _, p := range []load.Program{load.RampUp, load.RampDown, load.RampUpDown} {
		for _, i := range []int{-1, 6, 7, math.MaxInt32} {
			if l, more := p(i, 3, 1); more {
				t.Errorf("step %d of a ramp of 3 or 6 is %v", i, l)
			}
		}
	}
}

func TestStepsRefuses(t *testing.T) {
	for _, tt := range []struct {
		program   string
		max, step float64
		want      string
	}{
		{"ramp", 1, 1, `unknown load program "ramp": want one of ramp_up, ramp_down, ramp_up_down, constant`},
		{"ramp_up", 0, 1, "load program ramp_up: maximum 0: want a finite number above 0"},
		{"ramp_up", math.Inf(1), 1, "maximum +Inf"},
		{"constant", math.NaN(), 1, "maximum NaN"},
		{"ramp_down", 1, -1, "load program ramp_down: step -1: want a finite number above 0"},
		{"ramp_up", 1e9, 1e-9, "1e+18 steps up to 1e+09 are too many"},
	} {
		if _, err := load.Steps(tt.program, tt.max, tt.step); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s to %v by %v: got %v, want ...%s...", tt.program, tt.max, tt.step, err, tt.want)
		}
	}
}

func ExampleSteps() {
	steps, err := load.Steps("ramp_up_down", 10e9, 4e9)
	if err != nil {
		fmt.Println(err)
		return
	}
	for l := range steps {
		fmt.Printf("%.0f ", l/1e9)
	}
	// Output: 4 8 10 10 8 4
}
