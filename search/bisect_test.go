package search_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"loadtest/dut"
	"loadtest/search"
	"loadtest/trial"
)

// drive feeds a strategy from a formula and returns the loads in order.
func drive(t testing.TB, s search.Strategy, verdict func(load float64, attempt int) search.Verdict) (loads []float64) {
	t.Helper()
	attempt := 0
	for {
		spec, more := s.Next()
		if !more {
			return loads
		}
		load := spec.At(0)
		if n := len(loads); n == 0 || loads[n-1] != load {
			attempt = 0
		}
		attempt++
		if loads = append(loads, load); len(loads) > 500 {
			t.Fatalf("no end after 500 trials: %v ...", loads[:20])
		}
		s.Report(search.Outcome{Step: spec, Verdict: verdict(load, attempt), Reason: fmt.Sprint("at ", load)})
	}
}

func upTo(truth float64) func(float64, int) search.Verdict {
	return func(load float64, _ int) search.Verdict {
		if load <= truth {
			return search.Pass
		}
		return search.Fail
	}
}

// onGrid is floor(truth/p)·p, where the quotient is meant to be whole.
func onGrid(truth, p float64) float64 {
	k := math.Floor(truth / p)
	if (k+1)*p <= truth {
		k++
	}
	if k*p > truth {
		k--
	}
	return k * p
}

func TestBisectFindsTruth(t *testing.T) {
	for _, max := range []float64{1e9, 10e9, 1e6, 7, 0.3, 1234567.8, 100e9} {
		for _, p := range []float64{max / 1000, max / 10, max / 3, max / 7.3, max, max * 1.5, 2 * max, max / 8192} {
			for i := 0; i <= 100; i++ {
				truth := max * float64(i) / 97
				s := search.Bisect(search.BisectOptions{Max: max, Precision: p})
				loads := drive(t, s, upTo(truth))
				want := onGrid(truth, p)
				if truth >= max {
					want = max
				}
				a := s.Answer()
				if math.Abs(a.Load-want) > 1e-14*want {
					t.Fatalf("max %v precision %v truth %v: got %v, want %v; loads %v", max, p, truth, a.Load, want, loads)
				}
				if most := int(math.Ceil(math.Log2(max/p+1))) + 2; len(loads) > most {
					t.Fatalf("max %v precision %v truth %v: %d trials, want at most %d", max, p, truth, len(loads), most)
				}
			}
		}
	}
}

func TestBisectSteps(t *testing.T) {
	for _, tt := range []struct {
		name  string
		o     search.BisectOptions
		truth float64
		loads string
		load  float64
		above float64
		limit string
	}{
		{"halves", search.BisectOptions{Max: 16, Precision: 1}, 5, "[16 8 4 6 5]", 5, 6, "device"},
		{"odd middles round up", search.BisectOptions{Max: 10, Precision: 1}, 9, "[10 5 8 9]", 9, 10, "device"},
		{"maximum first", search.BisectOptions{Max: 10, Precision: 1}, 10, "[10]", 10, 0, "maximum"},
		{"maximum off the grid", search.BisectOptions{Max: 10.4, Precision: 4}, 10.3, "[10.4 8]", 8, 10.4, "device"},
		{"passes off the grid", search.BisectOptions{Max: 10.4, Precision: 4}, 10.4, "[10.4]", 10.4, 0, "maximum"},
		{"precision is the maximum", search.BisectOptions{Max: 10, Precision: 10}, 9, "[10]", 0, 10, "device"},
		{"precision above it", search.BisectOptions{Max: 10, Precision: 30}, 9, "[10]", 0, 10, "device"},
		{"none", search.BisectOptions{Max: 8, Precision: 1}, 0.5, "[8 4 2 1]", 0, 1, "device"},
		{"noise of floats", search.BisectOptions{Max: 0.3, Precision: 0.1}, 0.29, "[0.3 0.2]", 0.2, 0.3, "device"},
		{"retries", search.BisectOptions{Max: 4, Precision: 1, Rule: search.Retry(2)}, 1.5, "[4 4 4 2 2 2 1]", 1, 2, "device"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := search.Bisect(tt.o)
			loads := drive(t, s, upTo(tt.truth))
			if got := fmt.Sprint(loads); got != tt.loads {
				t.Errorf("loads %s, want %s", got, tt.loads)
			}
			a := s.Answer()
			if a.Load != tt.load || a.Above != tt.above || a.Limit != tt.limit || a.Trials != len(loads) || !a.Complete {
				t.Errorf("answer %v above %v limit %q trials %d complete %v, want %v, %v, %q, %d", a.Load, a.Above, a.Limit, a.Trials,
					a.Complete, tt.load, tt.above, tt.limit, len(loads))
			}
			if want := fmt.Sprint("at ", tt.above); tt.above > 0 && a.Reason != want {
				t.Errorf("reason %q, want %q", a.Reason, want)
			}
		})
	}
}

// Loads are the decimal numbers that one writes, whatever floats make of the products.
func TestBisectLoadsAreDecimal(t *testing.T) {
	for _, tt := range []struct {
		max, p, truth float64
		load, above   string
	}{
		{20, 0.1, 7.3, "7.3", "7.4"}, // 73 times 0.1 is 7.300000000000001 of floats
		{20, 0, 7.3, "7.3", "7.32"},
		{1.7, 0, 0.3, "0.2992", "0.3009"},
		{2.1, 0, 0.3, "0.2982", "0.3003"}, // 2.1 / 1000 is 0.0021000000000000003 of floats
		{0.9, 0.1, 0.35, "0.3", "0.4"},
		{1e9, 1e6, 609e6, "6.09e+08", "6.1e+08"},
		{20, 1.0 / 3, 7, "7", "7.33333333333333"},
	} {
		s := search.Bisect(search.BisectOptions{Max: tt.max, Precision: tt.p, Unit: trial.Factor, Loops: 3})
		loads := drive(t, s, upTo(tt.truth))
		a := s.Answer()
		if load, above := fmt.Sprint(a.Load), fmt.Sprint(a.Above); load != tt.load || above != tt.above {
			t.Errorf("up to %v by %v: %s, above %s of %v; want %s and %s", tt.max, tt.p, load, above, loads, tt.load, tt.above)
		}
		if tt.p == 0 && a.Step != decimal(t, fmt.Sprintf("%ge-3", tt.max)) {
			t.Errorf("up to %v: steps of %v", tt.max, a.Step)
		}
		if a.Duration != 0 || a.Loops != 3 || a.Unit != trial.Factor {
			t.Errorf("duration %v, loops %d, unit %v; want 3 loops of a factor", a.Duration, a.Loops, a.Unit)
		}
	}
}

func decimal(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestBisectOnePassIsEnough(t *testing.T) {
	s := search.Bisect(search.BisectOptions{Max: 4, Precision: 1, Rule: search.Retry(3)})
	loads := drive(t, s, func(load float64, attempt int) search.Verdict {
		if load == 2 && attempt == 4 || load == 3 && attempt == 2 {
			return search.Pass
		}
		return search.Fail
	})
	if got, want := fmt.Sprint(loads), "[4 4 4 4 2 2 2 2 3 3]"; got != want || s.Answer().Load != 3 {
		t.Errorf("loads %s, answer %v; want %s, 3", got, s.Answer().Load, want)
	}
}

func TestBisectTesterLimit(t *testing.T) {
	for _, tt := range []struct {
		limited, truth float64
		loads, limit   string
		load           float64
	}{
		{9, 20, "[16 8 12 10 9]", "tester", 8},  // from 9 on the tester is too slow
		{9, 5, "[16 8 8 4 6 6 5]", "device", 5}, // the device fails below
		{1, 5, "[16 8 4 2 1]", "tester", 0},     // nothing at all; no retries for the tester's fault
		{17, 15, "[16 16 8 12 14 15]", "device", 15},
	} {
		s := search.Bisect(search.BisectOptions{Max: 16, Precision: 1, Rule: search.Retry(1)})
		loads := drive(t, s, func(load float64, _ int) search.Verdict {
			if load >= tt.limited {
				return search.Limited
			}
			return upTo(tt.truth)(load, 0)
		})
		if a := s.Answer(); fmt.Sprint(loads) != tt.loads || a.Limit != tt.limit || a.Load != tt.load {
			t.Errorf("tester to %v, device to %v: loads %v, limit %q, load %v; want %s, %q, %v", tt.limited, tt.truth, loads,
				a.Limit, a.Load, tt.loads, tt.limit, tt.load)
		}
	}
}

func TestBisectAnswersSoFar(t *testing.T) {
	s := search.Bisect(search.BisectOptions{Max: 16, Precision: 1, Unit: trial.Packets})
	if a := s.Answer(); a.Load != 0 || a.Above != 0 || a.Limit != "" || a.Complete || a.Unit != trial.Packets || a.Duration != time.Second {
		t.Errorf("before the first trial: %+v", a)
	}
	for _, v := range []search.Verdict{search.Fail, search.Pass} {
		spec, _ := s.Next()
		s.Report(search.Outcome{Step: spec, Verdict: v})
	}
	if a := s.Answer(); a.Load != 8 || a.Above != 16 || a.Limit != "device" || a.Complete {
		t.Errorf("after two trials: %+v", a)
	}
}

func TestBisectRefuses(t *testing.T) {
	for _, tt := range []struct {
		o    search.BisectOptions
		want string
	}{
		{search.BisectOptions{}, "maximum load 0: want a finite number above 0"},
		{search.BisectOptions{Max: math.Inf(1)}, "maximum load +Inf"},
		{search.BisectOptions{Max: math.NaN()}, "maximum load NaN"},
		{search.BisectOptions{Max: 1, Precision: -1}, "precision -1: want a finite number above 0"},
		{search.BisectOptions{Max: 1e9, Precision: 1e-9}, "want at least 1e-12 of it"},
		{search.BisectOptions{Max: 1, Duration: -1}, "duration -1ns: want a time above 0"},
		{search.BisectOptions{Max: 1, Rule: search.Retry(-1)}, "a rule of 0 trials: want 1 or more"},
		{search.BisectOptions{Max: 1, Loops: -1}, "-1 loops: want 0 or more"},
	} {
		_, err := search.Run(context.Background(), &dut.Model{Capacity: 1e9}, search.Bisect(tt.o), search.Options{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: got %v, want ...%s...", tt.o, err, tt.want)
		}
	}
}

// Any device whose verdict only worsens with the load: the answer is its limit on the grid, and no load leaves (0, Max].
func FuzzBisect(f *testing.F) {
	f.Add(1e9, 1e6, 0.6095, uint8(3))
	f.Add(0.3, 0.1, 0.9999999, uint8(0))
	f.Fuzz(func(t *testing.T, max, p, share float64, retries uint8) {
		if !(max > 1e-12 && max < 1e15 && p > max*1e-7 && p < 1e16 && share >= 0 && share < 2) {
			t.Skip()
		}
		truth := max * share
		s := search.Bisect(search.BisectOptions{Max: max, Precision: p, Rule: search.Retry(retries % 5)})
		loads := drive(t, s, upTo(truth))
		for _, l := range loads {
			if !(l > 0 && l <= max) {
				t.Fatalf("load %v outside of (0, %v]", l, max)
			}
		}
		a := s.Answer()
		if a.Load > truth || truth >= max && a.Load != max {
			t.Fatalf("answer %v of %v, but the truth is %v", a.Load, max, truth)
		}
		if a.Load < max {
			if a.Above <= truth || a.Above-a.Load > p*(1+1e-6) {
				t.Fatalf("answer %v, above %v, truth %v: want neighbours at %v around it", a.Load, a.Above, truth, p)
			}
			if k := a.Load / p; math.Abs(k-math.Round(k)) > 1e-6 {
				t.Fatalf("answer %v is no multiple of %v", a.Load, p)
			}
		}
	})
}

// The devices without chance: ideal, slow to start, of two capacities, and behind a slow generator.
func TestBisectGoldenModels(t *testing.T) {
	dir := os.Getenv("LOADTEST_GOLDEN")
	if dir == "" {
		t.Skip("LOADTEST_GOLDEN is not set: no devices to search")
	}
	dir = filepath.Join(dir, "search")
	b, err := os.ReadFile(filepath.Join(dir, "instances.json"))
	if err != nil {
		t.Fatal(err)
	}
	var params []dut.ModelParams
	if err := json.Unmarshal(b, &params); err != nil {
		t.Fatal(err)
	}
	truths := goldenTruths(t, filepath.Join(dir, "truth.csv"))
	searched := 0
	for _, p := range params {
		if !strings.Contains("aefg", p.Class) {
			continue
		}
		searched++
		const max, step = 14880952, 1000
		truth := truths[p.ID]
		a, err := search.Run(context.Background(), &dut.Model{ModelParams: p},
			search.Bisect(search.BisectOptions{Max: max, Precision: step, Unit: trial.Packets}),
			search.Options{Warmup: 300 * time.Millisecond})
		if err != nil {
			t.Errorf("%s: %v", p.ID, err)
			continue
		}
		if !(a.Load <= truth && truth < a.Load+step) || a.Above != a.Load+step {
			t.Errorf("%s: %v, above %v; the truth is %v", p.ID, a.Load, a.Above, truth)
		}
		limit := search.LimitDevice
		if p.Gen > 0 && p.Gen < p.Cap0 {
			limit = search.LimitTester
		}
		if a.Limit != limit {
			t.Errorf("%s: limited by %s (%s), want %s", p.ID, a.Limit, a.Reason, limit)
		}
	}
	if searched != 40 {
		t.Errorf("searched %d devices, want 40", searched)
	}
}

func goldenTruths(t *testing.T, path string) map[string]float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	truths := map[string]float64{}
	for _, row := range rows[1:] {
		if truths[row[0]], err = strconv.ParseFloat(row[1], 64); err != nil {
			t.Fatal(err)
		}
	}
	return truths
}
