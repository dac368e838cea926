package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadtest/report"
	"loadtest/trial"
	"loadtest/units"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares text with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

var start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

const zero = 1_000_000_000 // the clock at the run's start

// run is a find-limit in both directions over 10G.
func run(verb string) *report.Run {
	mean := 64.0
	return &report.Run{
		Time: start, Tool: "1.0", Verb: verb, Command: []string{"loadtest", verb, "gen", "eth2", "eth3", "--both"}, Folder: "/srv/tests", Name: "R740", Seed: 7,
		Labels: map[string]string{"rack": "b4"},
		Settings: report.Settings{
			RateWireBps: report.Number(10e9), PrecisionWireBps: report.Number(10e6), DurationNs: new(int64(time.Second)),
			Retries: new(int64(3)), GoalLossRatios: []float64{0}, MaxUnsentRatio: report.Number(0.002),
		},
		Host: report.Host{Name: "tester", OS: "linux", Arch: "amd64", Kernel: "6.12", CPU: "EPYC", CPUs: 2, Memory: 8 << 30, Go: "go1.26"},
		Ports: []report.Port{
			{Name: "eth2", Backend: "afxdp", Driver: "mlx5_core", Mode: "zero-copy", MAC: "00:1b:21:00:00:02", LineBps: report.Number(10e9), MTU: 1500, NUMA: new(0)},
			{Name: "eth3", Backend: "afpacket", MAC: "00:1b:21:00:00:03", LineBps: report.Number(10e9), MTU: 1500},
		},
		Streams: []report.Stream{
			{Name: "eth2→eth3", Source: "gen", TX: "eth2", RX: "eth3", Packets: 256, MeanBytes: &mean, TaggedRatio: report.Number(1)},
			{Name: "eth3→eth2", Source: "gen", TX: "eth3", RX: "eth2", Packets: 256, MeanBytes: &mean, TaggedRatio: report.Number(1)},
		},
	}
}

// books are a stream's counts after d at a load of 60-byte frames; lost packets are missing.
func books(name string, load units.BitRate, d time.Duration, lost int64) trial.Stream {
	bits := units.WireBits(60)
	n := int64(float64(load) * d.Seconds() / float64(bits))
	s := trial.Stream{
		Name: name, Intended: n, Sent: n, Received: n - lost, SentBytes: n * 60, ReceivedBytes: (n - lost) * 60,
		SentWireBits: n * bits, RecvWireBits: (n - lost) * bits,
		Half: trial.Arrivals{Packets: n / 2, Bytes: n / 2 * 60, WireBits: n / 2 * bits, During: d / 2},
	}
	s.Variation.Jitter, s.Variation.Compared = 180, 100
	s.Stamps = trial.Stamps{Sent: trial.Software, Arrived: trial.Kernel}
	for i := range int64(100) {
		s.Latency.Record(20_000+i*i, 1)
		s.Variation.Between.Record(2*i - 99)
		s.Lateness.Record(i*10, 1)
	}
	return s
}

// tried is a trial of the given load that began at second at.
func tried(number, at int, purpose string, load units.BitRate, d time.Duration, a report.About, s []trial.Stream, ports ...trial.Port) *report.Trial {
	a.Number, a.Purpose, a.Start, a.Zero = number, purpose, start, zero
	r := trial.Result{Start: zero + int64(at)*1e9, Elapsed: d, Stolen: 70 * time.Microsecond, Streams: s, Ports: ports}
	r.Stopped = a.Verdict == report.Fail && d < time.Second
	return report.TrialOf(trial.Flat(float64(load), time.Second), &r, a)
}

const ab, ba = "eth2→eth3", "eth3→eth2"

// search is a whole find-limit.
func search() []report.Record {
	odd := books(ba, 6.2*units.Gbps, time.Second, 0)
	odd.Duplicated, odd.Reordered, odd.Late, odd.Corrupt, odd.Surplus, odd.Skipped = 1, 2, 3, 4, 5, 6
	odd.Untagged = 1000
	late := books(ab, 9*units.Gbps, time.Second, 0)
	late.Intended += 4_000_000
	short := books(ab, 6.2*units.Gbps, time.Second, 0)
	short.Intended += 7
	short.Lateness.Record(4_000_000, 1)
	fail, pass := report.About{Verdict: report.Fail, Reason: "lost 5618190 (37.8 %) eth2→eth3", Retries: new(int64(2))}, report.About{Verdict: report.Pass}
	return []report.Record{
		run("find-limit"),
		&report.Event{AtNs: 5e8, Event: "hello", Text: "eth2→eth3 256 of 256 back, eth3→eth2 256 of 256 back"},
		&report.Event{AtNs: 6e8, Event: "warning", Port: "eth3", Text: "GRO is on"},
		tried(1, 1, report.Warmup, 1*units.Gbps, 2*time.Second, report.About{}, []trial.Stream{books(ab, 1*units.Gbps, time.Second, 0)}),
		tried(2, 4, report.Search, 10*units.Gbps, time.Second, fail,
			[]trial.Stream{books(ab, 10*units.Gbps, time.Second, 5618190), books(ba, 10*units.Gbps, time.Second, 5610107)}),
		&report.Sample{Trial: 3, AtNs: 61e8, Streams: []report.SampleStream{{Name: ab, Intended: 5, Sent: 5, Received: new(int64(4)), SentWire: 420, ReceivedWire: new(int64(336))}}},
		tried(3, 6, report.Search, 9*units.Gbps, time.Second, report.About{Verdict: report.Invalid, Reason: "unsent 4000000 (23 %) eth2→eth3: tester limited"},
			[]trial.Stream{late, books(ba, 9*units.Gbps, time.Second, 0)}, trial.Port{Name: "eth3", Missed: 12, TxError: 2, Down: true, Line: trial.Line{Told: true, Pauses: 431, Broken: 7}}),
		tried(4, 8, report.Search, 6.25*units.Gbps, 10*time.Millisecond, report.About{Verdict: report.Fail, Retries: new(int64(1))},
			[]trial.Stream{books(ab, 6.25*units.Gbps, 10*time.Millisecond, 9), books(ba, 6.25*units.Gbps, 10*time.Millisecond, 0)}),
		tried(5, 9, report.Search, 6.21*units.Gbps, time.Second, report.About{Verdict: report.Fail},
			[]trial.Stream{books(ab, 6.21*units.Gbps, time.Second, 8871), books(ba, 6.21*units.Gbps, time.Second, 0)}),
		tried(6, 11, report.Search, 6.2*units.Gbps, time.Second, pass,
			[]trial.Stream{short, odd},
			trial.Port{Name: "eth2", Foreign: []trial.Foreign{{Kind: "ARP", Packets: 37}, {Kind: "LLDP", Packets: 4}}}, trial.Port{Name: "eth3"}),
		&report.Verdict{
			RateWireBps: report.Number(6.2e9), PrecisionBps: report.Number(10e6), AboveBps: report.Number(6.21e9),
			Trials: 5, Trial: new(6), AboveTrial: new(5), Limit: report.ByDevice, TesterBps: report.Number(10e9),
		},
		&report.End{Time: start.Add(13 * time.Second), AtNs: 13e9},
	}
}

// tell is what Text writes about records.
func tell(t *testing.T, o report.TextOptions, records ...report.Record) (out, talk string) {
	t.Helper()
	var a, b bytes.Buffer
	o.Out, o.Err = &a, &b
	text := report.NewText(o)
	for _, r := range records {
		if err := text.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	return a.String(), b.String()
}
