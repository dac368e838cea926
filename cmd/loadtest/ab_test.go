package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"loadtest/report"
)

// The quantiles are those of any table of Student's t.
func TestStudent95(t *testing.T) {
	for n, want := range map[int]float64{1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764, 9: 2.2622, 10: 2.2281, 19: 2.0930, 30: 2.0423, 100: 1.9840, 1000: 1.9623} {
		if got := student95(n); math.Abs(got-want) > 1e-4 {
			t.Errorf("student95(%d) = %.5f, want %.4f", n, got, want)
		}
	}
}

func TestCompared(t *testing.T) {
	for _, tt := range []struct {
		name  string
		pairs []float64
		grid  float64
		want  string
	}{
		{"nothing", nil, 0.5, "no pair measured"},
		{"one pair", []float64{3}, 0.5, "+3.00 % (one pair: no interval)"},
		{"clear", []float64{3.0, 3.4, 2.6, 3.3, 2.7, 3.2}, 0.1, "+3.03 % ± 0.34 (95 %, 6 pairs)"}, // s = 0.3204, t = 2.5706
		{"down", []float64{-8, -12}, 0.1, "no difference seen: -10.0 % ± 25.4 (95 %, 2 pairs)"},   // s = 2.828, t = 12.706
		{"none", []float64{1, -1, 1.5, -1.5}, 0.1, "no difference seen: +0.0 % ± 2.3 (95 %, 4 pairs)"},
		{"all the same, two steps", []float64{1, 1, 1, 1}, 0.5, "+1.00 % ± 0.50 (95 %, 4 pairs)"},
		{"all the same, one step", []float64{0.5, 0.5, 0.5, 0.5}, 0.5, "no difference seen: +0.50 % ± 0.50 (95 %, 4 pairs)"},
		{"no difference at all", []float64{0, 0, 0}, 0.25, "no difference seen: +0.00 % ± 0.25 (95 %, 3 pairs)"},
		{"an exact search", []float64{0, 0, 0}, 0, "no difference seen: +0.0 % ± 0.0 (95 %, 3 pairs)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := compared(tt.pairs, tt.grid).String(); got != tt.want {
				t.Errorf("says %q, want %q", got, tt.want)
			}
		})
	}
}

// A rate that falls from measurement to measurement is no difference of the settings, if the turns are A B B A.
func TestDriftFallsOut(t *testing.T) {
	var pairs []float64
	rate := 1000.0
	next := func() float64 { rate--; return rate }
	for i := range 10 {
		a, b := next(), next()
		if i%2 == 1 {
			a, b = b, a
		}
		pairs = append(pairs, 100*(1.02*b-a)/a)
	}
	if d := compared(pairs, 0.01); math.Abs(d.Mean-2) > 0.001 || !d.Seen {
		t.Errorf("%v, want 2 %%", d)
	}
}

// Twenty measurements of noisy settings: the interval holds the truth about as often as it says.
func TestCoverage(t *testing.T) {
	held, seed := 0, uint64(1)
	noise := func() float64 { // of a sum of uniform numbers
		sum := -6.0
		for range 12 {
			seed = seed*6364136223846793005 + 1442695040888963407
			sum += float64(seed>>11) / (1 << 53)
		}
		return sum
	}
	const all = 2000
	for range all {
		var pairs []float64
		for range 10 {
			pairs = append(pairs, 1+noise())
		}
		if d := compared(pairs, 0.1); math.Abs(d.Mean-1) <= *d.Half {
			held++
		}
	}
	if share := float64(held) / all; share < 0.935 || share > 0.965 {
		t.Errorf("the interval holds the truth in %.3f of the cases, want 0.95", share)
	}
}

func TestPrecisionOfAnswers(t *testing.T) {
	number := report.Number
	wide := &report.Run{Settings: report.Settings{Goals: []report.Goal{{Width: 0.005}}}}
	for _, tt := range []struct {
		name string
		run  *report.Run
		v    report.Verdict
		want float64
	}{
		{"bits", &report.Run{}, report.Verdict{RateWireBps: number(1e9), PrecisionBps: number(1e6)}, 1e-3},
		{"a factor", &report.Run{}, report.Verdict{RateWireBps: number(1e9), LoadFactor: number(4), PrecisionFactor: number(0.1)}, 0.025},
		{"packets", &report.Run{Settings: report.Settings{PrecisionPps: number(500)}}, report.Verdict{RateWireBps: number(1e9), RatePps: number(1e6)}, 5e-4},
		{"the goal's", wide, report.Verdict{RateWireBps: number(1e9)}, 0.005},
		{"not known", &report.Run{}, report.Verdict{RateWireBps: number(1e9)}, 0},
	} {
		if got := precision(tt.run, &tt.v); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestReasonAndIndent(t *testing.T) {
	if got := reason("a  10G\nloadtest: a warning\nloadtest: nothing came back\n   heard nothing\n"); got != "nothing came back\n   heard nothing" {
		t.Errorf("reason = %q", got)
	}
	if got := reason("all is well\n"); got != "" {
		t.Errorf("reason = %q, want none", got)
	}
	var b strings.Builder
	w := &indent{to: &b, fresh: true}
	fmt.Fprint(w, "a\nb")
	fmt.Fprint(w, "c\n\nd\n")
	if got, want := b.String(), "       a\n       bc\n\n       d\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
