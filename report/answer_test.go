package report_test

import (
	"strings"
	"testing"
	"time"

	"loadtest/report"
	"loadtest/trial"
	"loadtest/units"
)

// A search ends with a bare number only if it has an answer; else it says what is known, and nothing of what is not.
func TestSearchEnd(t *testing.T) {
	rate := report.Number
	at := func(n int, load units.BitRate, verdict string, lost int64) *report.Trial {
		return tried(n, n, report.Search, load, time.Second, report.About{Verdict: verdict}, []trial.Stream{books(ab, load, time.Second, lost)})
	}
	pass, fail := at(1, 500*units.Mbps, report.Pass, 0), at(2, 625*units.Mbps, report.Fail, 9)
	low := at(1, units.Mbps, report.Fail, 149)
	starved := books(ab, 20.2*units.Gbps, 900*time.Millisecond, 0)
	starved.Intended += starved.Sent / 249
	limited := tried(2, 2, report.Search, 20.2*units.Gbps, 900*time.Millisecond, report.About{Verdict: report.Invalid}, []trial.Stream{starved})
	limited.Stopped = true
	found := func(limit string) *report.Verdict {
		return &report.Verdict{RateWireBps: rate(500e6), AboveBps: rate(625e6), Trials: 7, Trial: new(1), AboveTrial: new(2), Limit: limit}
	}
	packets := found(report.ByDevice)
	packets.AboveBps = nil
	none := &report.Verdict{Trials: 3, AboveBps: rate(1e6), AboveTrial: new(1), Limit: report.ByDevice}
	for _, tt := range []struct {
		name    string
		records []report.Record
		end     report.End
		last    string // all that a quiet run prints
		with    string // is in the text
		without string // "|" between what is not
	}{
		{"interrupted", []report.Record{pass, fail, found(report.ByDevice)}, report.End{ExitCode: 130, Interrupted: true},
			"interrupted: between 0.500 and 0.625 Gbps after 7 trials\n", "0.500 Gbps  0.744", "limited by|complete"},
		{"interrupted, packets", []report.Record{pass, fail, packets}, report.End{ExitCode: 143},
			"interrupted: between 0.500 and 0.625 Gbps after 7 trials\n", "", "limited by"},
		{"interrupted, nothing above", []report.Record{pass, &report.Verdict{RateWireBps: rate(500e6), Trials: 1, Trial: new(1)}}, report.End{ExitCode: 143},
			"interrupted: 0.500 Gbps passed after 1 trial\n", "", "limited by"},
		{"interrupted, nothing passed", []report.Record{low, none}, report.End{ExitCode: 130}, "interrupted: nothing passed yet after 3 trials\n", "", "limited by|goal|\n0\n"},
		{"interrupted, no verdict", []report.Record{fail, pass}, report.End{ExitCode: 130}, "interrupted: between 0.500 and 0.625 Gbps after 2 trials\n", "", "limited by|goal"},
		{"interrupted at once", nil, report.End{ExitCode: 130}, "interrupted: nothing passed yet after 0 trials\n", "", "goal|Foreign"},
		{"not measured", []report.Record{low, none}, report.End{ExitCode: 3, Reason: "nothing came back"}, "", "Foreign 0", "limited by|goal|\n0\n|finished"},
		{"not measured, no verdict", nil, report.End{ExitCode: 3, Reason: "nothing came back"}, "", "", "limited by|goal|Foreign|finished"},
		{"broken", []report.Record{pass, fail, found("")}, report.End{ExitCode: 3, Reason: "eth3: link is down"},
			"not finished: between 0.500 and 0.625 Gbps after 7 trials\n", "goal", "limited by"},
		{"lower bound", []report.Record{pass, limited, found(report.ByTester)}, report.End{ExitCode: 3, Reason: "no limit of the device found"},
			"0.5\n", "  20.200 unsent 0.4 %  ", "stopped early  "},
		{"lower bound", []report.Record{pass, limited, found(report.ByTester)}, report.End{ExitCode: 3}, "0.5\n", "limited by: the tester (a lower bound). Foreign", "lost 0"},
		{"failed", []report.Record{low, none}, report.End{ExitCode: 1}, "0\n", "  none without loss     –        –  lowest tried 0.001 Gbps lost 10 %  ", "limited by"},
		{"failed, trial unknown", []report.Record{&report.Verdict{AboveBps: rate(1e6)}}, report.End{ExitCode: 1}, "0\n", "lowest tried 0.001 Gbps failed", "limited by"},
		{"limit unknown", []report.Record{pass, fail, found("")}, report.End{}, "0.5\n", "0.625 lost 0.000968 %", "limited by"},
		{"found", []report.Record{pass, fail, found(report.ByDevice)}, report.End{}, "0.5\n", "limited by: device. Foreign", "interrupted|finished"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := run("find-limit")
			r.Settings.Search = "bisect"
			records := append(append([]report.Record{r}, tt.records...), &tt.end)
			if out, _ := tell(t, report.TextOptions{Quiet: true}, records...); out != tt.last {
				t.Errorf("quiet:\n%swant %q", out, tt.last)
			}
			out, talk := tell(t, report.TextOptions{}, records...)
			if !strings.HasSuffix(out, tt.last) || !strings.Contains(out, tt.with) {
				t.Errorf("prints\n%swant %q in it, and %q last", out, tt.with, tt.last)
			}
			for _, bad := range strings.Split(tt.without, "|") {
				if bad != "" && strings.Contains(out+talk, bad) {
					t.Errorf("prints\n%s%swant no %q", out, talk, bad)
				}
			}
		})
	}
}

// A warm-up has the number of the trial after it; a table never shows the warm-up.
func TestWarmupNumber(t *testing.T) {
	warm := func(n int) *report.Trial {
		return tried(n, 1, report.Warmup, units.Gbps, time.Second, report.About{}, []trial.Stream{books(ab, units.Gbps, time.Second, 77)})
	}
	one := tried(1, 2, report.Search, units.Gbps, time.Second, report.About{Verdict: report.Fail}, []trial.Stream{books(ab, units.Gbps, time.Second, 1488)})
	v := &report.Verdict{RateWireBps: report.Number(5e8), Trials: 1, Trial: new(2), AboveTrial: new(1), Limit: report.ByDevice}
	out, _ := tell(t, report.TextOptions{}, run("find-limit"), warm(1), one, warm(1), warm(2), v, &report.End{})
	if want := " 0.500 Gbps     –        –  1.000 lost 0.1 %    –    –    –\n"; !strings.Contains(out, want) {
		t.Errorf("prints\n%swant %q: trial 1, and nothing of the warm-up 2", out, want)
	}
}

// Streams that a user named are called so in titles.
func TestTitle(t *testing.T) {
	stream := func(name, tx, rx string) report.Stream { return report.Stream{Name: name, TX: tx, RX: rx} }
	for _, tt := range []struct {
		want    string
		streams []report.Stream
	}{
		{"node1 ⇄ node2, both directions at once; load per direction", []report.Stream{stream("node1", "sim:v/node1", "sim:v/node2"), stream("node2", "sim:v/node2", "sim:v/node1")}},
		{"eth2 ⇄ eth3, both directions at once; load per direction", []report.Stream{stream(ab, "eth2", "eth3"), stream(ba, "eth3", "eth2")}},
		{"eth2 → eth3", []report.Stream{stream(ab, "eth2", "eth3")}},
		{"node1: eth2 → eth3", []report.Stream{stream("node1", "eth2", "eth3")}},
		{"eth2 → eth2", []report.Stream{stream("eth2", "eth2", "eth2")}},
		{"eth2, sent only", []report.Stream{stream("eth2", "eth2", "")}},
		{"2 streams at once; load per stream", []report.Stream{stream("a", "eth2", "eth3"), stream("b", "eth4", "eth3")}},
	} {
		t.Run(tt.want, func(t *testing.T) {
			r := run("find-limit")
			r.Name, r.Streams = "", tt.streams
			out, _ := tell(t, report.TextOptions{}, r, &report.Verdict{}, &report.End{})
			if got, _, _ := strings.Cut(out, "\n"); got != tt.want {
				t.Errorf("title %q; want %q", got, tt.want)
			}
		})
	}
}
