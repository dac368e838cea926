package dut_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"loadtest/dut"
	"loadtest/trial"
	"loadtest/units"
)

// goldenModels reads the device descriptions by name.
func goldenModels(t *testing.T) map[string]*dut.Model {
	t.Helper()
	b, err := os.ReadFile(goldenFile(t, "instances.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []dut.ModelParams
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 80 {
		t.Fatalf("instances.json holds %d devices, want 80", len(list))
	}
	models := map[string]*dut.Model{}
	for _, p := range list {
		models[p.ID] = &dut.Model{ModelParams: p}
	}
	return models
}

func goldenFile(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("LOADTEST_GOLDEN")
	if dir == "" {
		t.Skip("LOADTEST_GOLDEN is not set: no vectors to compare with")
	}
	return filepath.Join(dir, "search", name)
}

func TestModelVectors(t *testing.T) {
	models := goldenModels(t)
	f, err := os.Open(goldenFile(t, "vectors.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 401 {
		t.Fatalf("vectors.csv holds %d lines, want 401", len(rows))
	}
	for n, row := range rows[1:] {
		var v [16]int64
		for i := 1; i < 16; i++ {
			if v[i], err = strconv.ParseInt(row[i], 10, 64); err != nil {
				t.Fatalf("vectors.csv line %d: %v", n+2, err)
			}
		}
		m := models[row[0]]
		in := dut.ModelTrial{Load: [2]int64{v[4], v[4]}, RunSeed: uint64(v[1]), Index: v[2], WarmUS: v[3],
			TotalUS: v[5], PrerollUS: v[6], AbortLimit: v[7]}
		got := m.Trial(in)
		text := fmt.Sprint(got.Intended[0], got.Sent[0], got.Lost[0], got.Intended[1], got.Sent[1], got.Lost[1],
			got.ElapsedUS, got.FirstLossUS)
		if want := strings.Join(row[8:], " "); text != want {
			t.Errorf("vectors.csv line %d: %s %+v\n got %s\nwant %s", n+2, row[0], in, text, want)
		}
	}
}

// Run is the same arithmetic: what a search sees equals single trials whose memory is kept by hand.
func TestModelRunRemembers(t *testing.T) {
	p := dut.ModelParams{Seed: 7, Cap0: 100000, SigmaPPM: 10000, ColdUS: 1500000, ColdPermille: 500}
	m := &dut.Model{ModelParams: p, RunSeed: 3}
	warm := int64(0)
	for i, load := range []float64{60000, 60000, 60000, 90000, 60000.4, 60000} {
		if i == 3 || i == 4 {
			warm = 0
		}
		want := m.Trial(dut.ModelTrial{Load: [2]int64{int64(load), int64(load)}, TotalUS: 1200000, PrerollUS: 200000,
			AbortLimit: -1, WarmUS: warm, RunSeed: 3, Index: int64(i)})
		s := trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: load}}, Duration: time.Second, Preroll: 195 * time.Millisecond}
		got, err := m.Run(context.Background(), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		if lost := got.Streams[0].Lost(); lost != want.Lost[0] || got.Elapsed != time.Second {
			t.Errorf("trial %d: lost %d in %v, want %d in 1s", i, lost, got.Elapsed, want.Lost[0])
		}
		if cold := warm < 1500000; cold != (want.Lost[0] > 0) {
			t.Errorf("trial %d: warm for %d µs and lost %d", i, warm, want.Lost[0])
		}
		if wantStart := int64(i)*1.2e9 + 2e8; got.Start != wantStart {
			t.Errorf("trial %d starts at %d, want %d", i, got.Start, wantStart)
		}
		warm += want.ElapsedUS
	}
}

func TestModelBooks(t *testing.T) {
	m := &dut.Model{Capacity: 672 * 1000 * units.Kbps, ModelParams: dut.ModelParams{Streams: 2}, Names: []string{"a"}}
	s := trial.Flat(672e6*1.1, time.Second)
	s.Share = map[string]float64{"a": 0.5}
	s.Interval = 250 * time.Millisecond
	var at []time.Duration
	r, err := m.Run(context.Background(), s, func(p trial.Sample) { at = append(at, p.At) })
	if err != nil {
		t.Fatal(err)
	}
	a, b := &r.Streams[0], &r.Streams[1]
	if a.Name != "a" || a.Sent != 550000 || a.Lost() != 0 || a.SentWireBits != 550000*672 || a.ReceivedBytes != 550000*60 {
		t.Errorf("stream a: %+v", a)
	}
	if b.Name != "stream2" || b.Intended != 1100000 || b.Sent != 1100000 || b.Received != 1000002 {
		t.Errorf("stream2: intended %d sent %d received %d, want 1100000, 1100000 and the capacity plus 2", b.Intended, b.Sent, b.Received)
	}
	if b.Half.Packets != 500000 || b.Half.During != 500*time.Millisecond {
		t.Errorf("second half: %+v, want 500000 in 500ms", b.Half)
	}
	if want := "[250ms 500ms 750ms]"; fmt.Sprint(at) != want {
		t.Errorf("samples at %v, want %s", at, want)
	}
}

func TestModelStops(t *testing.T) {
	spec := trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 200000}}, Duration: time.Second}
	for _, tt := range []struct {
		name          string
		gen           int64
		stopAt, spare int64
		elapsed       time.Duration
		lost, unsent  int64
	}{
		{"whole", 0, 0, 0, time.Second, 99998, 0},
		{"first loss", 0, 1, 0, 10 * time.Millisecond, 998, 0},
		{"exactly reached", 0, 998, 0, 10 * time.Millisecond, 998, 0},
		{"one more", 0, 999, 0, 20 * time.Millisecond, 1998, 0},
		{"unsent counts", 100000, 1, 0, 10 * time.Millisecond, 0, 998},
		{"unsent to spare", 100000, 1, 998, 20 * time.Millisecond, 0, 1998},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &dut.Model{ModelParams: dut.ModelParams{Cap0: 100000, Gen: tt.gen}}
			s := spec
			s.StopAt, s.Spare = tt.stopAt, tt.spare
			r, err := m.Run(context.Background(), s, nil)
			if err != nil {
				t.Fatal(err)
			}
			st := &r.Streams[0]
			if r.Elapsed != tt.elapsed || st.Lost() != tt.lost || st.Unsent() != tt.unsent || r.Stopped != (tt.elapsed < time.Second) {
				t.Errorf("%v stopped %v lost %d unsent %d, want %v, %d, %d", r.Elapsed, r.Stopped, st.Lost(), st.Unsent(), tt.elapsed, tt.lost, tt.unsent)
			}
		})
	}
}

func TestModelCut(t *testing.T) {
	for _, cause := range []error{trial.ErrStop, errors.New("power")} {
		ctx, cancel := context.WithCancelCause(context.Background())
		m := &dut.Model{Capacity: units.Gbps}
		s := trial.Flat(1e6, time.Hour)
		s.Interval = time.Second
		r, err := m.Run(ctx, s, func(p trial.Sample) {
			if p.At == 3*time.Second {
				cancel(cause)
			}
		})
		want := cause
		if cause == trial.ErrStop {
			want = nil
		}
		if err != want || !r.Cut || r.Elapsed != 3*time.Second || r.Streams[0].Sent != 4464 {
			t.Errorf("cut by %v: error %v, cut %v, after %v, sent %d", cause, err, r.Cut, r.Elapsed, r.Streams[0].Sent)
		}
	}
}

func TestModelRefuses(t *testing.T) {
	good := dut.Model{Capacity: units.Gbps}
	flat := trial.Flat(1e9, time.Second)
	with := func(f func(*trial.Spec)) trial.Spec { s := flat; f(&s); return s }
	for _, tt := range []struct {
		m    dut.Model
		s    trial.Spec
		want string
	}{
		{dut.Model{}, flat, "no capacity"},
		{dut.Model{Capacity: 1e9, ModelParams: dut.ModelParams{Streams: 3, ID: "x9"}}, flat, "model x9: 3 streams: want 1 or 2"},
		{good, trial.Flat(1e9, 0), "want 1µs or more"},
		{good, with(func(s *trial.Spec) { s.Loops = 2 }), "loops"},
		{good, with(func(s *trial.Spec) { s.Load = nil }), "no load"},
		{good, with(func(s *trial.Spec) { s.Load = append(s.Load, trial.Point{At: 1, Load: 2e9}) }), "load changes from 1e+09 to 2e+09"},
		{good, with(func(s *trial.Spec) { s.Unit = trial.Sessions }), "packets or wire bits"},
		{good, trial.Flat(-1, time.Second), "want a finite load"},
		{good, trial.Flat(1e300, time.Second), "want a finite load"},
	} {
		if _, err := tt.m.Run(context.Background(), tt.s, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want ...%s...", err, tt.want)
		}
	}
	var p dut.ModelParams
	if err := json.Unmarshal([]byte(`{"seed":"five"}`), &p); err == nil || !strings.Contains(err.Error(), `seed "five": want a number such as`) {
		t.Errorf("seed: %v", err)
	}
}

func FuzzModelBooks(f *testing.F) {
	f.Add(uint64(1), int64(5e5), int64(6e5), int64(0), uint16(3000), uint16(100), uint16(40), int64(1000))
	f.Fuzz(func(t *testing.T, seed uint64, cap, load, gen int64, sigma, queue, stall uint16, cold int64) {
		bound := func(v, to int64) int64 { return max(v, -v, 0) % to }
		m := &dut.Model{ModelParams: dut.ModelParams{Seed: dut.ModelSeed(seed), Streams: 2, Cap0: 1 + bound(cap, 15e6), Cap1: 9001,
			Gen: bound(gen, 15e6), SigmaPPM: int64(sigma), Queue: int64(queue), StallMeanMS: int64(stall), StallUS: 7000,
			FloorPPT: 1e6, ColdUS: bound(cold, 1e6), ColdPermille: 500, TrialSigmaPPM: int64(sigma) / 2}}
		l := bound(load, 15e6)
		c := m.Trial(dut.ModelTrial{Load: [2]int64{l, l}, TotalUS: 300000, PrerollUS: 50000, AbortLimit: -1})
		for i := range 2 {
			if c.Lost[i] < 0 || c.Lost[i] > c.Sent[i]+2 || c.Sent[i] > c.Intended[i] || c.Sent[i] < 0 {
				t.Fatalf("stream %d: %+v: want 0 <= lost <= sent <= intended", i, c)
			}
		}
	})
}
