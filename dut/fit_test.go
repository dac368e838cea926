package dut_test

import (
	"math"
	"testing"
	"time"

	"loadtest/dut"
	"loadtest/units"
)

// trialsOf are trials of 64-byte packets at some loads of a device, at all lengths: a path for each of the numbers.
func trialsOf(loads []float64, lengths []time.Duration, lossless func(load float64, t time.Duration) []int64) (all []dut.FitTrial) {
	for _, length := range lengths {
		for _, load := range loads {
			sent := int64(load * length.Seconds())
			trial := dut.FitTrial{Number: len(all) + 1, Duration: length}
			for _, got := range lossless(float64(sent), length) {
				got = min(got, sent)
				trial.Paths = append(trial.Paths, dut.FitCounts{Sent: sent, Lost: sent - got, WireBits: sent * units.WireBits(60), Least: -1, High: -1})
			}
			all = append(all, trial)
		}
	}
	return all
}

func near(got, want, share float64) bool { return math.Abs(got-want) <= share*want }

// What a device of known numbers loses gives these numbers back.
func TestFitOfArithmetic(t *testing.T) {
	loads := []float64{100e3, 400e3, 700e3, 850e3, 990e3, 1010e3, 1100e3, 1500e3, 3000e3}
	lengths := []time.Duration{10 * time.Millisecond, 100 * time.Millisecond, time.Second}
	for _, tt := range []struct {
		name     string
		capacity float64
		queue    int64
		loss     float64
	}{
		{"capacity only", 1e6, 0, 0},
		{"queue", 1e6, 512, 0},
		{"long queue", 750e3, 5000, 0},
		{"background loss", 1e6, 0, 1e-4},
		{"all", 900e3, 300, 1e-3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trials := trialsOf(loads, lengths, func(sent float64, length time.Duration) []int64 {
				come := math.Round(sent * (1 - tt.loss))
				return []int64{int64(min(come, tt.capacity*length.Seconds()+float64(tt.queue)))}
			})
			f, r, err := dut.FitTrials(trials)
			if err != nil {
				t.Fatal(err)
			}
			p := f.Paths[0]
			if !near(p.Capacity, tt.capacity, 0.001) || math.Abs(float64(p.Queue-tt.queue)) > 0.02*float64(tt.queue)+3 || math.Abs(p.Loss-tt.loss) > 0.05*tt.loss {
				t.Errorf("fitted %+v, want %v, %v, %v", p, tt.capacity, tt.queue, tt.loss)
			}
			if r.RMS > 1e-4 || r.Worst > 5e-4 || r.Worst < r.RMS || len(r.Trials) != len(trials) {
				t.Errorf("residual %v, worst %v of %d trials", r.RMS, r.Worst, len(r.Trials))
			}
		})
	}
}

// Latencies tell the queue where all trials are of one length.
func TestFitOfLatency(t *testing.T) {
	trials := trialsOf([]float64{500e3, 900e3, 1200e3, 2000e3}, []time.Duration{time.Second}, func(float64, time.Duration) []int64 { return []int64{1000512} })
	for i := range trials {
		c := &trials[i].Paths[0]
		c.Least, c.High = 20*time.Microsecond, 21*time.Microsecond
		if c.Lost > 0 {
			c.High = 532 * time.Microsecond
		}
	}
	f, r, err := dut.FitTrials(trials)
	if err != nil {
		t.Fatal(err)
	}
	if p := f.Paths[0]; !near(p.Capacity, 1e6, 0.0005) || !near(float64(p.Queue), 512, 0.01) || p.Delay != 20*time.Microsecond {
		t.Errorf("fitted %+v with %v, want 1 Mpps, 512 packets, 20 µs", p, r.RMS)
	}
}

// One capacity for all is seen where loads are not in one proportion; else each path has its own.
func TestFitOfPaths(t *testing.T) {
	trial := func(number int, a, b, total float64) dut.FitTrial {
		keep := min(1, total/(a+b))
		count := func(n float64) dut.FitCounts {
			return dut.FitCounts{Sent: int64(n), Lost: int64(n - n*keep), WireBits: int64(n) * 672, Least: -1, High: -1}
		}
		return dut.FitTrial{Number: number, Duration: time.Second, Paths: []dut.FitCounts{count(a), count(b)}}
	}
	common := []dut.FitTrial{trial(1, 200e3, 200e3, 1e6), trial(2, 900e3, 50e3, 1e6), trial(3, 50e3, 900e3, 1e6), trial(4, 900e3, 300e3, 1e6),
		trial(5, 300e3, 900e3, 1e6), trial(6, 800e3, 800e3, 1e6)}
	f, _, err := dut.FitTrials(common)
	if err != nil || !f.Common || !near(f.Paths[0].Capacity, 1e6, 0.001) {
		t.Errorf("one for all: %+v, %v", f, err)
	}
	alike := []dut.FitTrial{trial(1, 200e3, 200e3, 1e6), trial(2, 490e3, 490e3, 1e6), trial(3, 600e3, 600e3, 1e6), trial(4, 900e3, 900e3, 1e6)}
	f, _, err = dut.FitTrials(alike)
	if err != nil || f.Common || len(f.Paths) != 2 || !near(f.Paths[0].Capacity, 500e3, 0.001) || !near(f.Paths[1].Capacity, 500e3, 0.001) {
		t.Errorf("in one proportion: %+v, %v", f, err)
	}
}

// Of packets of several sizes, bits or packets a second are the limit, whichever explains them.
func TestFitOfSizes(t *testing.T) {
	for _, tt := range []struct {
		name string
		bits bool
		most func(frame int) float64 // packets/s
		want float64
	}{
		{"packets", false, func(int) float64 { return 500e3 }, 500e3},
		{"bits", true, func(frame int) float64 { return 1e9 / float64(units.WireBits(frame)) }, 1e9},
	} {
		var trials []dut.FitTrial
		for _, frame := range []int{60, 508} {
			for _, of := range []float64{0.3, 0.9, 0.99, 1.1, 2} {
				sent := of * tt.most(frame)
				trials = append(trials, dut.FitTrial{Number: len(trials) + 1, Duration: time.Second, Paths: []dut.FitCounts{{Sent: int64(sent),
					Lost: int64(max(0, sent-tt.most(frame))), WireBits: int64(sent) * units.WireBits(frame), Least: -1, High: -1}}})
			}
		}
		f, _, err := dut.FitTrials(trials)
		if err != nil || f.Bits != tt.bits || !near(f.Paths[0].Capacity, tt.want, 0.001) {
			t.Errorf("%s: %+v, %v; want %v", tt.name, f, err, tt.want)
		}
	}
}

func TestFitErrors(t *testing.T) {
	second := []time.Duration{time.Second}
	limit := func(float64, time.Duration) []int64 { return []int64{1e6} }
	for _, tt := range []struct {
		name   string
		trials []dut.FitTrial
		want   string
	}{
		{"none", nil, "no trial that counts: want a run with trials below and above the device's limit, as find-limit makes them"},
		{"no limit", trialsOf([]float64{1e5, 2e5, 3e5}, second, limit),
			"no trial above the device's limit, so its capacity is not known: want a run that tried more, as by a higher -b"},
		{"loss at every load", trialsOf([]float64{1e5, 2e5, 4e5}, second, func(sent float64, _ time.Duration) []int64 { return []int64{int64(sent * 0.999)} }),
			"no trial above the device's limit, so its capacity is not known: want a run that tried more, as by a higher -b"},
		{"only above", trialsOf([]float64{2e6, 3e6}, second, limit),
			"no trial below the device's limit, so what it loses at every load is not known: want a run with lower loads, as find-limit makes them"},
	} {
		if _, _, err := dut.FitTrials(tt.trials); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

// A device that lets bursts through at once is no queue: losses say one thing, latencies another.
func TestFitOfBurst(t *testing.T) {
	lengths := []time.Duration{50 * time.Millisecond, 200 * time.Millisecond, time.Second}
	trials := trialsOf([]float64{10e3, 19e3, 21e3, 25e3, 40e3, 90e3}, lengths, func(sent float64, length time.Duration) []int64 {
		return []int64{int64(min(sent, 20e3*length.Seconds()+400))}
	})
	for i := range trials {
		trials[i].Paths[0].Least, trials[i].Paths[0].High = 11*time.Microsecond, 40*time.Microsecond
	}
	f, r, err := dut.FitTrials(trials)
	if err != nil {
		t.Fatal(err)
	}
	p := f.Paths[0]
	if !p.Burst || !near(p.Capacity, 20e3, 0.001) || !near(float64(p.Queue), 400, 0.02) || r.Worst > 1e-3 {
		t.Errorf("fitted %+v, off by %v; want 20 kpps with a burst of 400", p, r.Worst)
	}
	if got, want := f.String(), "20kpps, queue of 400 packets that do not wait, delay 11µs"; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
}

// What is sent through a fitted network comes out of the port that its way leads to, whatever its addresses, as late and as often as
// the numbers say.
func TestFitNetwork(t *testing.T) {
	ports := []dut.FitPort{{Name: "eth2", Line: 10 * units.Gbps}, {Name: "22:00.0"}}
	ways := [][2]string{{"eth2", "22:00.0"}, {"22:00.0", "22:00.0"}}
	for _, tt := range []struct {
		name       string
		path       dut.FitPath
		back       int64 // of 20 frames that are sent at once, within two services
		last, wait int64 // ns, of the last one's arrival
	}{
		{"capacity and queue", dut.FitPath{Capacity: 1e6, Queue: 9, Delay: 20 * time.Microsecond}, 11, 30_000, 10},
		{"a burst", dut.FitPath{Capacity: 1e6, Queue: 9, Burst: true, Delay: 20 * time.Microsecond}, 11, 21_000, 70},
		{"delay only", dut.FitPath{Delay: 20 * time.Microsecond}, 20, 20_000 + 67*19, 20},
		{"loss", dut.FitPath{Loss: 0.999999}, 0, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := dut.Fit{Paths: []dut.FitPath{tt.path, {}}}
			n, err := f.Network("run", "model of run, fitted", ports, ways, 60)
			if err != nil {
				t.Fatal(err)
			}
			d, err := n.Port("22:00.0")
			if err != nil || d.Info.Mode != "model of run, fitted" {
				t.Fatalf("%+v, %v", d.Info, err)
			}
			s := &sender{port: open(t, n, "eth2"), frames: [][]byte{ipv4(60, "1.2.3.4", "5.6.7.8")}, due: func(int64) int64 { return 1 }, count: 20, burst: 20}
			r := &receiver{port: d.Queues[0]}
			run(n, 1e9, s, r)
			if r.count != tt.back || math.Abs(float64(r.last-tt.last)) > float64(tt.wait) {
				t.Errorf("%d came, the last after %d ns; want %d, %d", r.count, r.last, tt.back, tt.last)
			}
		})
	}
	f := dut.Fit{Paths: make([]dut.FitPath, 2)}
	_, err := f.Network("run", "", append(ports, dut.FitPort{Name: "c"}), [][2]string{{"eth2", "c"}, {"eth2", "22:00.0"}}, 60)
	if want := "port eth2 sends to several ports: a model knows by its port alone where a packet goes"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
