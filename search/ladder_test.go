package search_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"loadtest/dut"
	"loadtest/search"
	"loadtest/trial"
)

// top is 10 Gbit/s of 64-byte frames, packets/s.
const top = 14_880_952

func usual() search.Goal {
	return search.Goal{Trial: time.Second, Rule: search.Sure(21), Width: 0.005}
}

// climbed searches a device with the ladder, strictly.
func climbed(t *testing.T, r trial.Runner, o search.LadderOptions) search.Answer {
	t.Helper()
	if o.Rule == nil {
		o.Goal = usual()
	}
	if o.Max == 0 {
		o.Max, o.Unit = top, trial.Packets
	}
	a, err := search.Run(context.Background(), r, search.Ladder(o), search.Options{Loss: o.Loss, Invalid: -1})
	var none *search.NotMeasured
	if err != nil && !errors.As(err, &none) {
		t.Fatal(err)
	}
	if !a.Complete {
		t.Fatalf("not complete: %+v, %v", a, err)
	}
	return a
}

// Of sharp devices the ladder and bisection find the same within two precisions, whatever the grid, and never more than there is.
func TestLadderAndBisectAgree(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		d := dut.ModelParams{Streams: 1 + rnd.IntN(2), Cap0: int64(2e4 * math.Pow(600, rnd.Float64())), Queue: []int64{0, 64, 4096}[rnd.IntN(3)], ColdPermille: 1000}
		limit := d.Cap0
		if d.Streams == 2 {
			d.Cap1 = int64(float64(d.Cap0) * (0.3 + 0.7*rnd.Float64()))
			limit = d.Cap1
		}
		if rnd.IntN(3) == 0 {
			d.Gen = int64(float64(limit) * (0.5 + rnd.Float64()))
			limit = min(limit, d.Gen)
		}
		if limit > top {
			limit = top
		}
		step := float64(top / 1000)
		o := search.LadderOptions{Max: top, Precision: step, Unit: trial.Packets, Goal: usual()}
		a := climbed(t, &dut.Model{ModelParams: d}, o)
		b, err := search.Run(context.Background(), &dut.Model{ModelParams: d}, search.Bisect(search.BisectOptions{Max: top, Precision: step, Unit: trial.Packets, Rule: search.Retry(3)}),
			search.Options{Invalid: -1})
		if err != nil && b.Load > 0 || math.Abs(a.Load-b.Load) > 2*step {
			t.Errorf("%+v: ladder %v, bisection %v, %v", d, a.Load, b.Load, err)
		}
		o.Precision = 0
		a = climbed(t, &dut.Model{ModelParams: d}, o)
		truth := float64(limit) + float64(d.Queue)
		if a.Load > truth+10 || a.Load < 0.994*float64(limit) {
			t.Errorf("%+v: ladder %v, the limit is %d with a queue of %d", d, a.Load, limit, d.Queue)
		}
	}
}

// A device that is slow at first is measured warm, however short its slow start or slight, and the answer says so.
func TestSlowStart(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		d := dut.ModelParams{Cap0: int64(5e4 * math.Pow(250, rnd.Float64())), ColdUS: 20_000 + rnd.Int64N(1_480_000), ColdPermille: 300 + rnd.Int64N(690)}
		a := climbed(t, &dut.Model{ModelParams: d}, search.LadderOptions{})
		if a.Load < 0.994*float64(d.Cap0) || a.Load > float64(d.Cap0+2) {
			t.Errorf("%+v: found %v", d, a.Load)
		}
		if d.ColdPermille < 900 && d.ColdUS > 60_000 && a.SlowStart == 0 {
			t.Errorf("%+v: nothing is said of its slow start", d)
		}
	}
	a := climbed(t, &dut.Model{ModelParams: dut.ModelParams{Cap0: 1e6, ColdPermille: 1000}}, search.LadderOptions{})
	if a.SlowStart != 0 || a.Drifted || a.Low != 0 || a.Background != nil {
		t.Errorf("an ideal device: %+v", a)
	}
}

// The second goal takes less than a search of its own, as what comes back of the highest load is known.
func TestLadderOfTwoGoals(t *testing.T) {
	d := dut.ModelParams{Cap0: 1_000_000, ColdPermille: 1000}
	partial := usual()
	partial.Loss = 0.005
	known := &search.Known{}
	m := &dut.Model{ModelParams: d}
	first := climbed(t, m, search.LadderOptions{Goal: usual(), Max: top, Unit: trial.Packets, Known: known})
	second := climbed(t, m, search.LadderOptions{Goal: partial, Max: top, Unit: trial.Packets, Known: known})
	alone := climbed(t, &dut.Model{ModelParams: d}, search.LadderOptions{Goal: partial, Max: top, Unit: trial.Packets})
	if first.Load > 1e6+2 || second.Load <= first.Load || second.Load > 1e6/0.995*1.001 || second.Load < 1e6/0.995*0.994 {
		t.Errorf("without loss %v, with half a percent %v; the device takes 1 Mpps", first.Load, second.Load)
	}
	if second.Traffic >= alone.Traffic {
		t.Errorf("the second goal took %v, alone %v", second.Traffic, alone.Traffic)
	}
}

// What a search ends with at the ends of its range.
func TestLadderEnds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		d     dut.ModelParams
		load  float64
		limit string
	}{
		{"all passes", dut.ModelParams{Cap0: 2 * top}, top, search.LimitMaximum},
		{"nothing passes", dut.ModelParams{Cap0: 1}, 0, search.LimitDevice},
	} {
		a := climbed(t, &dut.Model{ModelParams: tt.d}, search.LadderOptions{})
		if a.Load != tt.load || a.Limit != tt.limit {
			t.Errorf("%s: %v, limited by %s", tt.name, a.Load, a.Limit)
		}
	}
}

// changing is a device whose capacity changes at a trial.
type changing struct {
	*dut.Model
	n, at int
	to    int64
}

func (c *changing) Run(ctx context.Context, s trial.Spec, see func(trial.Sample)) (trial.Result, error) {
	if c.n++; c.n == c.at {
		c.Cap0 = c.to
	}
	return c.Model.Run(ctx, s, see)
}

// A device that drifts while it is searched is told; one that does not is not, however noisy.
func TestDrift(t *testing.T) {
	for _, to := range []int64{970_000, 1_030_000} {
		for at := 10; at <= 18; at += 4 {
			c := &changing{Model: &dut.Model{ModelParams: dut.ModelParams{Cap0: 1_000_000, ColdPermille: 1000}}, at: at, to: to}
			if a := climbed(t, c, search.LadderOptions{}); !a.Drifted {
				t.Errorf("to %d at trial %d: found %v, and nothing is said", to, at, a.Load)
			}
		}
	}
	told := 0
	for seed := range uint64(200) {
		a := climbed(t, &dut.Model{ModelParams: dut.ModelParams{Cap0: 1_000_000, SigmaPPM: 10_000, Queue: 512, ColdPermille: 1000}, RunSeed: seed}, search.LadderOptions{})
		if a.Drifted {
			told++
		}
	}
	if told > 10 {
		t.Errorf("%d of 200 searches of a noisy device say that it drifted; want 10 at most", told)
	}
}

// Where packets carry no tag, what is sent before a trial is a trial of its own.
func TestLadderUntagged(t *testing.T) {
	m := &dut.Model{ModelParams: dut.ModelParams{Cap0: 654_321, ColdUS: 400_000, ColdPermille: 500}}
	prerolls, before := 0, 0
	r := runnerFunc(func(ctx context.Context, s trial.Spec, see func(trial.Sample)) (trial.Result, error) {
		if s.Preroll > 0 {
			prerolls++
		}
		return m.Run(ctx, s, see)
	})
	o := search.Options{Invalid: -1, Untagged: true, See: func(e search.Event) {
		if e.Kind == search.WarmupEnded {
			before++
		}
	}}
	a, err := search.Run(context.Background(), r, search.Ladder(search.LadderOptions{Goal: usual(), Max: top, Unit: trial.Packets}), o)
	if err != nil || prerolls > 0 || before == 0 || a.Load < 0.994*654_321 || a.Load > 654_323 {
		t.Errorf("found %v, %v, with %d pre-rolls and %d trials before others", a.Load, err, prerolls, before)
	}
}

type runnerFunc func(context.Context, trial.Spec, func(trial.Sample)) (trial.Result, error)

func (f runnerFunc) Run(ctx context.Context, s trial.Spec, see func(trial.Sample)) (trial.Result, error) {
	return f(ctx, s, see)
}

// Whatever a device does, a search ends, sends no load outside of its range, and claims none that failed.
func FuzzLadder(f *testing.F) {
	f.Add(uint64(1), uint8(0))
	f.Add(uint64(77), uint8(3))
	f.Fuzz(func(t *testing.T, seed uint64, kind uint8) {
		rnd := rand.New(rand.NewPCG(seed, uint64(kind)))
		trials := 0
		r := runnerFunc(func(_ context.Context, s trial.Spec, _ func(trial.Sample)) (trial.Result, error) {
			if trials++; trials > 5000 {
				t.Fatal("no end after 5000 trials")
			}
			if load := s.At(0); !(load > 0 && load <= 1e6) {
				t.Fatalf("load %v", load)
			}
			n := int64(s.At(0)*s.Duration.Seconds()) + 1
			lost := int64(0)
			switch kind % 4 {
			case 0: // no rule at all
				lost = rnd.Int64N(3) * rnd.Int64N(n)
			case 1: // less is lost of more
				lost = max(0, 100-int64(s.At(0)/1e4))
			case 2:
				lost = n / (1 + rnd.Int64N(10))
			case 3:
				if rnd.IntN(20) == 0 {
					lost = n
				}
			}
			res := books(n, n, n-min(lost, n))
			res.Elapsed = s.Duration
			return res, nil
		})
		s := search.Ladder(search.LadderOptions{Goal: usual(), Max: 1e6, Unit: trial.Packets})
		a, err := search.Run(context.Background(), r, s, search.Options{})
		var none *search.NotMeasured
		if err != nil && !errors.As(err, &none) {
			t.Fatal(err)
		}
		if a.Load > 0 && a.Best.Sum((*trial.Stream).Lost) > 0 {
			t.Errorf("%v is claimed, of which %d were lost", a.Load, a.Best.Sum((*trial.Stream).Lost))
		}
	})
}

// A search that is left in the middle leaves nothing behind.
func TestLadderIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for n := range 50 {
		ctx, cancel := context.WithCancelCause(context.Background())
		m := &dut.Model{ModelParams: dut.ModelParams{Cap0: 1e6, ColdPermille: 1000}}
		made := 0
		r := runnerFunc(func(ctx context.Context, s trial.Spec, see func(trial.Sample)) (trial.Result, error) {
			if made++; made > n%20 {
				cancel(errors.New("enough"))
			}
			return m.Run(ctx, s, see)
		})
		if _, err := search.Run(ctx, r, search.Ladder(search.LadderOptions{Goal: usual(), Max: top, Unit: trial.Packets}), search.Options{Invalid: -1}); err == nil {
			t.Error("no error of a search that was left")
		}
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

func TestLadderRefuses(t *testing.T) {
	for _, tt := range []struct {
		change func(*search.LadderOptions)
		want   string
	}{
		{func(o *search.LadderOptions) { o.Max = math.NaN() }, "lowest load NaN"},
		{func(o *search.LadderOptions) { o.Max, o.Precision = 0, 1 }, "maximum load 0: want a finite number above 0"},
		{func(o *search.LadderOptions) { o.Width = 0 }, "relative width 0: want a share of the load"},
		{func(o *search.LadderOptions) { o.Precision = -1 }, "precision -1"},
		{func(o *search.LadderOptions) { o.Min = 2 * top }, "lowest load 2.9761904e+07: want one above 0, and not above the highest"},
		{func(o *search.LadderOptions) { o.Loss = 1 }, "acceptable loss 1: want a ratio from 0 to below 1"},
		{func(o *search.LadderOptions) { o.Trial = 0 }, "trials without an end: want a duration or loops"},
		{func(o *search.LadderOptions) { o.Trial = -1 }, "duration -1ns"},
		{func(o *search.LadderOptions) { o.Loops = -1 }, "-1 loops"},
		{func(o *search.LadderOptions) { o.Rule = nil }, "no rule"},
	} {
		o := search.LadderOptions{Goal: usual(), Max: top, Unit: trial.Packets}
		tt.change(&o)
		_, err := search.Run(context.Background(), &dut.Model{Capacity: 1e9}, search.Ladder(o), search.Options{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v; want ...%s...", err, tt.want)
		}
	}
}

// Each trial says why it is made, and loads are of the grid.
func TestLadderSaysWhy(t *testing.T) {
	m := &dut.Model{ModelParams: dut.ModelParams{Cap0: 1e6, SigmaPPM: 10_000, ColdPermille: 1000}}
	var whys []string
	o := search.Options{Invalid: -1, See: func(e search.Event) {
		if e.Kind == search.TrialBegan {
			whys = append(whys, e.Why)
			if load := e.Spec.At(0); math.Mod(load, 1000) != 0 {
				t.Errorf("load %v is no multiple of 1000", load)
			}
		}
	}}
	if _, err := search.Run(context.Background(), m, search.Ladder(search.LadderOptions{Goal: usual(), Max: 14e6, Precision: 1000, Unit: trial.Packets}), o); err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprint(whys)
	for _, want := range []string{"what comes back of the highest load?", "the upper bound so far", "at most: ", "is it slow only at first? Behind 2s of traffic"} {
		if !strings.Contains(all, want) {
			t.Errorf("no trial says %q: %v", want, whys)
		}
	}
	for i, why := range whys {
		if why == "" {
			t.Errorf("trial %d does not say why", i+1)
		}
	}
}
