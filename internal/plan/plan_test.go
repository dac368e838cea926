package plan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadtest/dut"
	"loadtest/search"
	"loadtest/trial"
	"loadtest/units"
)

func TestParseTests(t *testing.T) {
	for _, tt := range []struct {
		in, err string
		want    []Test
	}{
		{"soak,Loss", "", []Test{Throughput, Loss, Soak}},
		{"throughput", "", []Test{Throughput}},
		{"latency,reset", `"reset": want some of throughput, latency, loss, back-to-back, recovery, soak, with commas`, nil},
		{"", `"": want some of`, nil},
	} {
		t.Run(tt.in, func(t *testing.T) {
			got, err := ParseTests(tt.in)
			if d := cmp.Diff(tt.want, got); d != "" || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q (-want +got):\n%s", err, tt.err, d)
			}
		})
	}
}

// The curve is of tenths of the maximum, and ends behind two trials in a row without loss.
func TestCurve(t *testing.T) {
	const size = 84 * 8
	for _, tt := range []struct {
		name     string
		capacity float64 // of 10 000 packets/s
		want     int     // trials
	}{
		{"line", 10001, 2}, {"half", 5000, 7}, {"a tenth", 1000, 10}, {"nothing is free of loss", 900, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &dut.Model{Capacity: units.BitRate(tt.capacity * size)}
			c := &curve{max: 10000 * size, trial: time.Second}
			var losses []string
			_, err := search.Run(t.Context(), m, c, search.Options{See: func(e search.Event) {
				if e.Kind == search.TrialEnded {
					s := &e.Result.Streams[0]
					losses = append(losses, fmt.Sprintf("%d of %d", s.Lost(), s.Sent))
				}
			}})
			if err != nil || len(losses) != tt.want || !c.Answer().Complete {
				t.Fatalf("%d trials, error %v; want %d: %v", len(losses), err, tt.want, losses)
			}
			for i, got := range losses {
				sent := 10000 - 1000*int64(i)
				lost := max(0, sent-int64(tt.capacity))
				// a model's queue holds two packets
				if want := fmt.Sprintf("%d of %d", max(0, lost-2), sent); got != want {
					t.Errorf("trial %d: lost %s, want %s", i+1, got, want)
				}
			}
		})
	}
}

// Each search for the longest burst finds it, wherever it begins.
func TestBursts(t *testing.T) {
	for _, tt := range []struct {
		name  string
		holds []int64 // what the device holds at each search
		want  Lengths
		most  int // trials
	}{
		{"steady", []int64{1000, 1000, 1000}, Lengths{1000, 1000, 1000}, 22 + 4},
		{"moves", []int64{1000, 1003, 996, 400}, Lengths{1000, 1003, 996, 400}, 21 + 60},
		{"one", []int64{1, 1}, Lengths{1, 1}, 25},
		{"none", []int64{0, 0}, Lengths{0, 0}, 25},
		{"all", []int64{5e6, 5e6}, Lengths{2e6, 2e6}, 2},
		{"all, then fewer, then all", []int64{5e6, 10, 5e6}, Lengths{2e6, 10, 2e6}, 120},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBursts(1e6, 1, 2*time.Second, len(tt.want))
			trials := 0
			for ; trials <= tt.most; trials++ {
				s, more := b.Next()
				if !more {
					break
				}
				n := int64(math.Ceil(s.Duration.Seconds() * 1e6)) // as packets fall due
				o := search.Outcome{Step: s, Verdict: search.Fail}
				if n <= tt.holds[len(b.found)] {
					o.Verdict = search.Pass
				}
				b.Report(o)
			}
			if d := cmp.Diff(tt.want, LengthsOf(b)); d != "" || trials > tt.most || !b.Answer().Complete {
				t.Errorf("%d trials, want at most %d (-want +got):\n%s", trials, tt.most, d)
			}
		})
	}
}

func TestBurstStats(t *testing.T) {
	mean, least, most, sd := Lengths{2, 4, 4, 4, 5, 5, 7, 9}.Stats()
	if mean != 5 || least != 2 || most != 9 || math.Abs(sd-math.Sqrt(32.0/7)) > 1e-12 {
		t.Errorf("mean %v, %v..%v, sd %v; want 5, 2..9, 2.138", mean, least, most, sd)
	}
	if implied, corrected := Buffer(26000, 14880952, 11e6); implied.Round(time.Microsecond) != 1747*time.Microsecond || corrected.Round(time.Microsecond) != 456*time.Microsecond {
		t.Errorf("implied %v, corrected %v; want 1.747ms, 456µs", implied, corrected)
	}
}

// Samples of a device with a queue show between which times it lost the last frame.
func TestRecover(t *testing.T) {
	sample := func(at int, sent, received int64) trial.Sample {
		return trial.Sample{At: time.Duration(at) * time.Millisecond, Streams: []trial.Progress{{Sent: sent, Received: received}}}
	}
	result := func(lost int64) *trial.Result {
		return &trial.Result{Elapsed: time.Second, Streams: []trial.Stream{{Sent: 1000, Received: 1000 - lost}}}
	}
	var samples []trial.Sample
	for i := range 100 { // from 500 ms on half the load; until 550 ms more is lost, until 600 ms a queue is left
		sent, lost, queue := int64(20*i), int64(10*i), int64(100)
		if i >= 50 {
			sent, lost, queue = int64(1000+5*(i-50)), 500+2*int64(min(i-50, 5)), int64(max(0, 100-10*(i-50)))
		}
		samples = append(samples, sample(10*i, sent, sent-lost-queue))
	}
	low, high, ok := Recover(samples, 500*time.Millisecond, result(510))
	if !ok || low > 50*time.Millisecond || high < 50*time.Millisecond || high > 110*time.Millisecond {
		t.Errorf("last lost between %v and %v (%v), want around 50 ms, at most 110", low, high, ok)
	}
	if low, high, ok := Recover(nil, 500*time.Millisecond, result(0)); low != 0 || high != 0 || !ok {
		t.Errorf("without a loss: %v, %v, %v", low, high, ok)
	}
	if _, _, ok := Recover(samples[:55], 500*time.Millisecond, result(510)); ok {
		t.Error("5 samples after the overload tell something")
	}
}

// A plan leaves out what the throughput forbids, and says why.
func TestPlan(t *testing.T) {
	all, _ := ParseTests("latency,loss,back-to-back,recovery,soak")
	o := Options{Tests: all, Sizes: []Size{{Label: "64 B", Bits: 672}, {Label: "imix", Bits: 3000, Mixed: true}, {Label: "1518 B", Bits: 12304}}, Max: 1e9,
		Search: func() search.Strategy { return search.Bisect(search.BisectOptions{Max: 1e9}) }, Trials: [2]float64{11, 12},
		Trial: time.Minute, Latency: 2 * time.Minute, Soak: time.Hour, Burst: 2 * time.Second, Repeats: 50, Rest: 5 * time.Second, Drain: 2 * time.Second}
	p := New(o)
	var got []string
	for i := 0; ; i++ {
		it, s, why, more := p.Next()
		if !more {
			break
		}
		if (s == nil) == (why == "") {
			t.Fatalf("%s: want trials or a reason", it.Test)
		}
		if why != "" {
			got = append(got, fmt.Sprintf("%s of %s: %s", it.Test, o.Sizes[it.Size].Label, why))
		}
		load := 0.0
		if it.Test == Throughput {
			load = []float64{1e9, 5e8, 0}[it.Size]
		}
		p.Report(load)
	}
	want := []string{"back-to-back of 64 B: the throughput is the line's maximum: no burst is too long (RFC 9004)", "back-to-back of imix: a burst of a mix has no one length",
		"latency of 1518 B: no throughput was found", "back-to-back of 1518 B: no throughput was found", "recovery of 1518 B: no throughput was found", "soak of 1518 B: no throughput was found"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("left out (-want +got):\n%s", d)
	}
	expect, most := p.Total()
	sum := time.Duration(0)
	for _, it := range p.Items() {
		if it.Expect > it.Most {
			t.Errorf("%s: expected %v, at most %v", it.Test, it.Expect, it.Most)
		}
		sum += it.Expect
	}
	if sum != expect || expect >= most || expect < 3*(time.Hour+8*time.Minute) {
		t.Errorf("total %v, at most %v; its items %v", expect, most, sum)
	}
}

// A book gives out what was made, then makes new trials; of another plan it says so.
func TestBook(t *testing.T) {
	m := &dut.Model{Capacity: 1e9}
	rests := 0
	old := trial.Result{Streams: []trial.Stream{{Name: "old"}}}
	b := &Book{Live: m, Done: []Done{{trial.Flat(5e8, time.Second), old}}, Rest: func(context.Context) error { rests++; return nil }}
	r, err := b.Run(t.Context(), trial.Flat(5e8, time.Second), nil)
	if i, before := b.Taken(); err != nil || r.Streams[0].Name != "old" || i != 0 || !before || rests != 0 {
		t.Errorf("first: %v, %v, taken %d %v, %d rests", r, err, i, before, rests)
	}
	r, err = b.Run(t.Context(), trial.Flat(4e8, time.Second), nil)
	if _, before := b.Taken(); err != nil || r.Streams[0].Name == "old" || before || rests != 1 {
		t.Errorf("second: %v, %v, taken %v, %d rests", r, err, before, rests)
	}
	b = &Book{Live: m, Done: b.Done}
	var other *OtherPlan
	if _, err = b.Run(t.Context(), trial.Flat(4e8, time.Second), nil); !errors.As(err, &other) ||
		!strings.Contains(err.Error(), "saved trial 1 is of 5e+08 for 1s, the plan wants 4e+08 for 1s: other flags or another line") {
		t.Errorf("of another plan: %v", err)
	}
}
