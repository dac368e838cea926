package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadtest/dut"
)

// own is a small set of our own. Its sharp devices' limits are those of their parameters.
func own(t *testing.T) *set {
	t.Helper()
	s, err := read("testdata/own")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// golden is the set with the recorded runs of others.
func golden(t *testing.T) *set {
	t.Helper()
	dir := os.Getenv("LOADTEST_GOLDEN")
	if dir == "" {
		t.Skip("set LOADTEST_GOLDEN to the folder of golden files")
	}
	s, err := read(filepath.Join(dir, "search"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func algorithmOf(t *testing.T, name string) algorithm {
	t.Helper()
	for _, a := range algorithms() {
		if a.name == name {
			return a
		}
	}
	t.Fatalf("no algorithm %s", name)
	return algorithm{}
}

func measured(t *testing.T, s *set, name string) result {
	t.Helper()
	r, err := measure(context.Background(), s, algorithmOf(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The files have the columns that others read, a row for each class, and the numbers of the devices.
func TestResults(t *testing.T) {
	out := t.TempDir()
	if err := bench(context.Background(), "testdata/own", out, "ladder_lead5"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(out, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || strings.Join(rows[0], ",") != "algorithm,class,seconds_median,seconds_mean,ratio_median,ratio_sum,error_median,error_worst" {
		t.Fatalf("%v, columns %v", err, rows[0])
	}
	var classes []string
	for _, r := range rows[1:] {
		classes = append(classes, r[1])
		if r[0] != "ladder_lead5" || r[2] == "" || r[4] != "" {
			t.Errorf("row %v: want seconds, and no ratio where nothing is recorded", r)
		}
	}
	if got := strings.Join(classes, " "); got != "all sharp a b d e f g" {
		t.Errorf("classes %s", got)
	}
	if err := bench(context.Background(), "testdata/own", out, "luck"); err == nil || err.Error() != `no algorithm "luck"` {
		t.Errorf("an unknown algorithm: %v", err)
	}
}

// On a sharp device the ladder ends within a width below the limit; two runs are the same.
func TestOwnDevices(t *testing.T) {
	s := own(t)
	for _, name := range []string{"ladder_lead5", "ladder_m21", "ladder_lead5_ndrpdr"} {
		r, again := measured(t, s, name), measured(t, s, name)
		for i, f := range r.runs {
			if f.load != again.runs[i].load || f.trials != again.runs[i].trials {
				t.Errorf("%s on %s: %v, and %v the second time", name, f.device.ID, f.load, again.runs[i].load)
			}
			limit := sharpLimit(f.device)
			if limit > 0 && (f.load > limit*1.0001 || f.load < limit*0.994) {
				t.Errorf("%s on %s found %v, the limit is %v", name, f.device.ID, f.load, limit)
			}
		}
	}
}

// sharpLimit is a limit that the parameters say; 0: chance has a part in it.
func sharpLimit(d *dut.ModelParams) float64 {
	if d.SigmaPPM > 0 || d.FloorPPT > 0 {
		return 0
	}
	limit := d.Cap0
	for _, other := range []int64{d.Cap1, d.Gen} {
		if other > 0 {
			limit = min(limit, other)
		}
	}
	return float64(limit)
}

// Bisection with retries finds what Snabb's find_limit was recorded to find, in the same time.
func TestSnabbAsRecorded(t *testing.T) {
	s := golden(t)
	r := measured(t, s, "snabb")
	same := 0
	for _, f := range r.runs {
		for _, p := range s.peers["snabb_find_limit"][f.device.ID] {
			if uint64(p.seed) != f.seed {
				continue
			}
			same++
			if math.Abs(p.found-f.load) > 1e6/frame+1 || p.traffic != f.traffic {
				t.Errorf("%s, seed %d: %v in %v s; recorded %v in %v s", f.device.ID, f.seed, f.load, f.traffic, p.found, p.traffic)
			}
		}
	}
	if same < 500 {
		t.Errorf("compared %d searches, want those recorded", same)
	}
}

// What the ladder is to be, beside MLRsearch on the same devices, both charged 20 ms a trial.
func TestTargets(t *testing.T) {
	s := golden(t)
	every := groups(s)
	for _, tt := range []struct {
		name        string
		median, sum float64
		worst, half float64 // errors on sharp devices: every search, the median
	}{
		{"ladder_lead5", 0.30, 0.55, 0.010, 0.0025},
		{"ladder_m21", 0.55, 0.75, 0.010, 0.0025},
		{"ladder_lead5_ndrpdr", 0.55, 0.55, 0.010, 0.0025},
	} {
		r := measured(t, s, tt.name)
		all, sharp := summarize(s, &r, every[0].belongs), summarize(s, &r, every[1].belongs)
		if m, sum := median(all.ratios), all.own/all.peer; !(m <= tt.median && sum <= tt.sum) {
			t.Errorf("%s takes %.3f of the peer's time by the median, %.3f in all; want %v and %v", tt.name, m, sum, tt.median, tt.sum)
		}
		if worst, half := math.Abs(sharp.worst), median(sharp.errors); !(worst <= tt.worst && half <= tt.half) {
			t.Errorf("%s is %.4f off at worst, %.4f by the median; want %v and %v", tt.name, worst, half, tt.worst, tt.half)
		}
	}
}

// The seeds are those of the recorded searches.
func TestSeeds(t *testing.T) {
	s := own(t)
	noisy := &s.devices[2]
	if n := len(s.seeds(noisy)); noisy.ID != "b50" || n != 20 {
		t.Errorf("%s: %d seeds, want 20 of a device with chance", noisy.ID, n)
	}
	s.peers["mlr"] = map[string][]peerRun{"b50": {{seed: 7}, {seed: 9}}}
	if seeds := s.seeds(noisy); len(seeds) != 2 || seeds[0] != 7 || seeds[1] != 9 {
		t.Errorf("seeds %v, want those recorded, 7 and 9", seeds)
	}
}

// A set that is not whole is refused where it is not, and one that lacks what it may lack is read.
func TestReadSet(t *testing.T) {
	one := `[{"id":"x","cls":"a","seed":"0x1","nstreams":1,"cap0":50000}]`
	for _, tt := range []struct{ name, instances, truth, runs, want string }{
		{"no devices", "[]", "", "", "instances.json: no devices"},
		{"no JSON", "x", "", "", "instances.json:1: invalid character"},
		{"no truth", one, "", "", "truth.csv"},
		{"a bad truth", one, "id,ndr_1s\nx,much\n", "", "truth.csv:2: ndr_1s of x: "},
		{"a bad run", one, "id,ndr_1s\nx,50000\n", "alg,id,seed,trials,ndr,traffic_s\nmlr,x,1,two,3,4\n", "runs.csv:2: trials: "},
		{"runs with fewer columns", one, "id,ndr_1s\nx,50000\n", "alg,id,trials,traffic_s\nmlr,x,2,4\n", ""},
		{"no runs", one, "id,ndr_1s\nx,50000\n", "", ""},
		{"fewer columns", one, "id\nx\n", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{"instances.json": tt.instances, "truth.csv": tt.truth, "runs.csv": tt.runs} {
				if text != "" {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
			_, err := read(dir)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
