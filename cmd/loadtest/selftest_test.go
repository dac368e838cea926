package main

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"loadtest/internal/clock"
	"loadtest/nic"
	"loadtest/report"
	"loadtest/trial"
)

// alone are the records of a selftest that found 1 Gbit/s, and then measured latencies of so many ns at 150 and 1500 kpps.
func alone(backend string, at time.Time, low, high int64) []report.Record {
	host, _ := os.Hostname()
	run := &report.Run{Time: at, Verb: "selftest", Host: report.Host{Name: host}, Streams: []report.Stream{{Name: "a→b"}},
		Ports: []report.Port{{Name: "a", Backend: backend}, {Name: "b", Backend: backend}}}
	records := []report.Record{run, &report.Verdict{Size: "64 B", RateWireBps: report.Number(1e9), RatePps: report.Number(1.5e6), Trials: 3}}
	for _, t := range []struct {
		purpose string
		pps     int64
		p50     int64
	}{{report.Search, 1_500_000, 1}, {report.Latency, 150_000, low}, {report.Latency, 1_500_000, high}} {
		s := trial.Stream{Name: "a→b", Intended: t.pps, Sent: t.pps, Received: t.pps}
		s.Latency.Record(t.p50, t.pps)
		r := report.TrialOf(trial.Flat(1e9, time.Second), &trial.Result{Elapsed: time.Second, Streams: []trial.Stream{s}}, report.About{Purpose: t.purpose, Why: strings.Repeat("long ", 2000)})
		records = append(records, r)
	}
	return append(records, &report.End{Time: at.Add(time.Second)})
}

// What the tester does and makes of latencies by itself is known from the last selftest on such ports, however much stands behind its
// answer; a trial's record shows it, and its latency is what it was.
func TestSelftestIsKnown(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	session := func(backend string) *session {
		d := nic.Device{Info: nic.Info{Backend: backend}}
		return &session{common: &common{}, verb: "find-limit", clock: clock.NewReal(), devices: map[string]nic.Device{"x": d, "y": d},
			streams: []stream{{name: "x→y", tx: "x", rx: "y"}}, label: "64 B"}
	}
	runs := t.TempDir()
	t.Setenv("LOADTEST_RUNS", runs)
	if s := session("afpacket"); s.tester() != nil || len(s.delays()) > 0 {
		t.Errorf("without a selftest: %v, %v", s.tester(), s.delays())
	}
	saveRun(t, runs, "20260304-050607-a", alone("afpacket", at, 9000, 90_000)...)
	saveRun(t, runs, "20260304-060607-b", alone("afpacket", at.Add(time.Hour), 8000, 80_000)...)
	saveRun(t, runs, "20260304-070607-c", alone("dpdk", at.Add(2*time.Hour), 7000, 70_000)...)
	s := session("afpacket")
	if want := []report.TesterDelay{{Pps: 150_000, P50Ns: 8000}, {Pps: 1_500_000, P50Ns: 80_000}}; !slices.Equal(s.delays(), want) {
		t.Errorf("delays %v, want %v", s.delays(), want)
	}
	if rate := s.tester(); rate == nil || *rate != 1e9 {
		t.Errorf("the tester alone does %v, want 1e9", rate)
	}
	if len(session("afxdp").delays()) > 0 {
		t.Error("a selftest on other ports is taken")
	}
	for _, tt := range []struct{ p50, want int64 }{{50_000, 8000}, {90_000, 0}} {
		st := trial.Stream{Name: "x→y", Intended: 1e5, Sent: 1e5, Received: 1e5}
		st.Latency.Record(tt.p50, 1e5)
		r := &trial.Result{Elapsed: time.Second, Streams: []trial.Stream{st}}
		got := report.TrialOf(trial.Flat(1e9, time.Second), r, s.about(report.Search, r)).Streams[0]
		if *got.Delay.P50Ns != tt.p50 || (got.TesterP50Ns == nil) != (tt.want == 0) || got.TesterP50Ns != nil && *got.TesterP50Ns != tt.want {
			t.Errorf("p50 of %d: %d, tester's own %v; want %d", tt.p50, *got.Delay.P50Ns, got.TesterP50Ns, tt.want)
		}
	}
}
