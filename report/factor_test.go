package report_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"loadtest/report"
	"loadtest/trial"
	"loadtest/units"
)

// monday is a run that searches how much faster than captured a capture may be replayed.
func monday() *report.Run {
	r := run("find-limit")
	r.Streams = []report.Stream{{Name: ab, Source: "monday.pcap", TX: "eth2", RX: "eth3", Packets: 90158, MeanBytes: report.Number(612.3),
		CapturePackets: new(int64(90210)), CaptureBytes: new(int64(55_123_456)), PeakBps: report.Number(987e6),
		Rewritten: map[string]int64{"vlan": 90158, "mac": 90158, "mapped": 0}, Skipped: map[string]int64{"snapped": 12, "oversize": 40}}}
	r.Settings = report.Settings{RateFactor: report.Number(20), PrecisionFactor: report.Number(0.1), Loops: new(int64(1)), Search: "bisect",
		Retries: new(int64(3)), GoalLossRatios: []float64{0}, MaxUnsentRatio: report.Number(0.002)}
	return r
}

// paced is a trial at a multiple of the captured pace, which is 577 Mbit/s.
func paced(number int, purpose string, factor float64, lost int64, a report.About, streams ...string) *report.Trial {
	a.Number, a.Purpose, a.Start, a.Zero = number, purpose, start, zero
	res := trial.Result{Start: zero + int64(number)*1e9, Elapsed: time.Duration(1e9 / factor)}
	for i, name := range streams {
		res.Streams = append(res.Streams, books(name, units.BitRate(factor*577e6/float64(i+1)), res.Elapsed, lost))
	}
	return report.TrialOf(trial.Spec{Unit: trial.Factor, Load: []trial.Point{{Load: factor}}, Loops: 1}, &res, a)
}

// factors is a whole search for a factor.
func factors(limit string) []report.Record {
	fail, pass := report.About{Verdict: report.Fail, Reason: "lost 5 (0.0291 %) eth2→eth3"}, report.About{Verdict: report.Pass}
	waited := paced(2, report.Search, 10, 0, report.About{Verdict: report.Invalid, Reason: "packets waited 35 ms for the disk: tester limited by disk"}, ab)
	waited.DiskWaitNs = 35e6
	return []report.Record{
		monday(),
		paced(1, report.Warmup, 20, 0, report.About{}, ab),
		paced(1, report.Search, 20, 5, fail, ab),
		waited,
		paced(3, report.Search, 7.3, 0, pass, ab),
		paced(4, report.Search, 7.4, 5, fail, ab),
		&report.Verdict{LoadFactor: report.Number(7.3), PrecisionFactor: report.Number(0.1), AboveFactor: report.Number(7.4), RateWireBps: report.Number(7.3 * 577e6),
			Trials: 4, Trial: new(3), AboveTrial: new(4), Limit: limit},
		&report.End{Time: start},
	}
}

// split is one of both sides of a capture.
func split() []report.Record {
	r := monday()
	r.Name, r.Streams[0].Rewritten, r.Streams[0].Skipped = "", nil, nil
	r.Streams = append(r.Streams, report.Stream{Name: ba, Source: "monday.pcap", TX: "eth3", RX: "eth2", Packets: 45000, MeanBytes: report.Number(98)})
	return []report.Record{
		r,
		paced(1, report.Search, 20, 5, report.About{Verdict: report.Fail}, ab, ba),
		paced(2, report.Search, 10, 0, report.About{Verdict: report.Pass}, ab, ba),
		&report.Verdict{LoadFactor: report.Number(10), PrecisionFactor: report.Number(10), AboveFactor: report.Number(20), RateWireBps: report.Number(10 * 577e6 / 2),
			Trials: 2, Trial: new(2), AboveTrial: new(1), Limit: report.ByDevice},
		&report.End{Time: start},
	}
}

// ramp are steps of factors of a slow capture.
func ramp() []report.Record {
	r := monday()
	r.Verb, r.Settings = "transient", report.Settings{RateFactor: report.Number(0.9), StepFactor: report.Number(0.3), Program: "ramp_up"}
	waited := paced(3, report.Ramp, 0.9, 0, report.About{}, ab)
	waited.DiskWaitNs = 35e6
	return []report.Record{r, paced(1, report.Ramp, 0.3, 2, report.About{}, ab), paced(2, report.Ramp, 0.6, 0, report.About{}, ab), waited, &report.End{Time: start}}
}

// A factor is claimed as far as its packets were sent; in other units there is none.
func TestLoadFactor(t *testing.T) {
	full, short := books(ab, units.Gbps, time.Second, 0), books(ba, units.Gbps, time.Second, 3)
	short.Intended = short.Sent * 4
	for _, tt := range []struct {
		name    string
		unit    trial.Unit
		streams []trial.Stream
		want    *float64
	}{
		{"all sent", trial.Factor, []trial.Stream{full}, report.Number(7.3)},
		{"a quarter of one", trial.Factor, []trial.Stream{full, short}, report.Number(7.3 / 4)},
		{"a quarter of the first", trial.Factor, []trial.Stream{short, full}, report.Number(7.3 / 4)},
		{"one had nothing to send", trial.Factor, []trial.Stream{{Name: "c"}, full}, report.Number(7.3)},
		{"nothing was due", trial.Factor, []trial.Stream{{Name: "c"}}, nil},
		{"bits", trial.WireBits, []trial.Stream{full}, nil},
		{"packets", trial.Packets, []trial.Stream{full}, nil},
	} {
		r := report.TrialOf(trial.Spec{Unit: tt.unit, Load: []trial.Point{{Load: 7.3}}}, &trial.Result{Elapsed: time.Second, Starved: 7, Streams: tt.streams}, report.About{})
		if got := r.LoadFactor; (got == nil) != (tt.want == nil) || got != nil && *got != *tt.want {
			t.Errorf("%s: load factor %v, want %v", tt.name, number(got), number(tt.want))
		}
		if r.DiskWaitNs != 7 {
			t.Errorf("%s: disk wait %d ns, want 7", tt.name, r.DiskWaitNs)
		}
	}
}

func number(x *float64) any {
	if x == nil {
		return "none"
	}
	return *x
}

// The last line is the factor; the words before it say what limits it, and whether it may be more.
func TestFactorEnd(t *testing.T) {
	known := factors("")
	for _, tt := range []struct {
		name    string
		records []report.Record
		end     report.End
		last    string
		with    string
	}{
		{"device", factors(report.ByDevice), report.End{}, "7.3\n", "limited by: device. R740 carries x7.3 of the capture's own pace. Foreign"},
		{"asked", factors(report.ByAsked), report.End{}, "7.3\n", "limited by: the highest load asked for. R740 carries at least x7.3 of the capture's own pace. "},
		{"tester", factors(report.ByTester), report.End{ExitCode: 3}, "7.3\n", "R740 carries at least x7.3 of the capture's own pace. "},
		{"interrupted", known, report.End{ExitCode: 130}, "interrupted: between x7.300 and x7.400 after 4 trials\n", "x7.300 = 4.212 Gbps mean, peak 7.205 Gbps"},
		{"interrupted before", known[:5], report.End{ExitCode: 130}, "interrupted: between x7.300 and x20.000 after 2 trials\n", ""},
		{"interrupted at once", known[:3], report.End{ExitCode: 130}, "interrupted: nothing passed yet after 1 trial\n", ""},
		{"broken", known, report.End{ExitCode: 3}, "not finished: between x7.300 and x7.400 after 4 trials\n", ""},
		{"none", []report.Record{monday(), &report.Verdict{AboveFactor: report.Number(0.1), Trials: 3, Limit: report.ByDevice}}, report.End{ExitCode: 1}, "0\n", "lowest tried x0.100 failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			records := slices.DeleteFunc(slices.Clone(tt.records), func(r report.Record) bool { _, end := r.(*report.End); return end })
			records = append(records, &tt.end)
			if out, _ := tell(t, report.TextOptions{Quiet: true}, records...); out != tt.last {
				t.Errorf("quiet: %q, want %q", out, tt.last)
			}
			if out, _ := tell(t, report.TextOptions{}, records...); !strings.Contains(out, tt.with) || !strings.HasSuffix(out, tt.last) {
				t.Errorf("prints\n%swant %q in it, and %q last", out, tt.with, tt.last)
			}
		})
	}
}

// The rows of steps of factors are in bits, of what was sent, and stay apart.
func TestFactorCSV(t *testing.T) {
	slow := ramp()
	for i, r := range slow {
		if r, ok := r.(*report.Trial); ok {
			s := &r.Streams[0]
			s.SentBps, r.RateWireBps = report.Number(*s.SentBps/1e4), report.Number(*r.RateWireBps/1e4)
			slow[i] = r
		}
	}
	for _, tt := range []struct {
		name    string
		records []report.Record
		hydra   bool
		want    string // "|" between what is there
	}{
		{"rows", ramp(), false, "\n0.173100,eth2→eth3,|\n0.346200,eth2→eth3,|\n0.519299,eth2→eth3,"},
		{"ids", ramp(), true, ",load 0.173,|,load 0.346,|,load 0.519,"},
		{"ids of a slow capture", slow, true, ",load 0.00002,|,load 0.00003,|,load 0.00005,"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			sink := report.NewCSV(&b)
			if tt.hydra {
				sink = report.NewHydra(&b)
			}
			for _, r := range tt.records {
				if err := sink.Write(r); err != nil {
					t.Fatal(err)
				}
			}
			for want := range strings.SplitSeq(tt.want, "|") {
				if !strings.Contains(b.String(), want) {
					t.Errorf("writes\n%swant %q", b.String(), want)
				}
			}
		})
	}
}
