package report_test

import (
	"strings"
	"testing"
	"time"

	"loadtest/report"
	"loadtest/trial"
	"loadtest/units"
)

// What to know before a rate is believed stands below the table, a line each.
func TestCaveats(t *testing.T) {
	rate := report.Number
	one := func(n int, load units.BitRate, verdict string, lost int64) *report.Trial {
		return tried(n, n, report.Search, load, time.Second, report.About{Verdict: verdict}, []trial.Stream{books(ab, load, time.Second, lost)})
	}
	pass, fail := one(1, 500*units.Mbps, report.Pass, 0), one(2, 625*units.Mbps, report.Fail, 9)
	found := func(flags ...string) *report.Verdict {
		return &report.Verdict{RateWireBps: rate(500e6), AboveBps: rate(625e6), Trial: new(1), AboveTrial: new(2), Limit: report.ByDevice,
			Rule: "lead 5 of 21", TrialNs: 1e9, Clean: 12, Lossy: 9, Flags: flags}
	}
	soft := found(report.FlagSoft, report.FlagUnstable)
	soft.SoftLowBps, soft.SoftHighBps, soft.LossPps = rate(480e6), rate(560e6), rate(0.71)
	slow := found(report.FlagSlowStart)
	slow.SlowStartNs = new(int64(250 * time.Millisecond))
	none := &report.Verdict{AboveBps: rate(625e6), AboveTrial: new(2), Limit: report.ByDevice, TrialNs: 1e9, Flags: []string{report.FlagBackground},
		Background: &report.Background{Ratio: 1e-6, Low: 0.8e-6, High: 1.2e-6, FromBps: rate(1e8), ToBps: rate(9.4e9), CliffBps: rate(9.4e9), HalfBps: rate(465e6), Goal: 2e-5}}
	whole := *none
	whole.Background = new(*none.Background)
	whole.Background.CliffBps, whole.Background.ToBps = nil, rate(1e10)
	lossy := &report.Verdict{AboveTrial: new(2), Limit: report.ByDevice, GoalLossRatio: 1e-7}
	for _, tt := range []struct {
		name    string
		answers []*report.Verdict
		want    []string
		row     string
	}{
		{"nothing to tell", []*report.Verdict{found()}, nil, "0.500 Gbps"},
		{"soft", []*report.Verdict{soft}, []string{"soft limit: from 0.480 to 0.560 Gbps some trials of 1s are clean and some are not, with 0.71 packets lost a second; " +
			"by the rule (lead 5 of 21) it is 0.500 Gbps"}, "0.48..0.56 Gbps"},
		{"unstable", []*report.Verdict{found(report.FlagUnstable)}, []string{"unstable: 12 of 21 trials at the rate were clean"}, "0.500 Gbps"},
		{"slow start", []*report.Verdict{slow}, []string{"slow start: for about 250ms after a change of load the device forwards less; it was measured warm"}, "0.500 Gbps"},
		{"drifted", []*report.Verdict{found(report.FlagDrifted)}, []string{"drifted: the first bounds of this search were others at its end; measure again"}, "0.500 Gbps"},
		{"background", []*report.Verdict{none}, []string{"no rate without loss; lowest tried 0.625 Gbps had loss 0.000968 %",
			"background loss 1.0e-6 (95 %: 8.0e-7..1.2e-6) at every load from 1.0 % to 94.0 %; cliff at 94.0 %",
			"half of the 1s trials at 0.465 Gbps have no loss, by luck. The cliff is measured by --loss 2e-05"}, "none without loss"},
		{"background, no cliff", []*report.Verdict{&whole}, []string{"no rate without loss; lowest tried 0.625 Gbps had loss 0.000968 %",
			"background loss 1.0e-6 (95 %: 8.0e-7..1.2e-6) at every load from 1.0 % to 100.0 %; no cliff up to there",
			"half of the 1s trials at 0.465 Gbps have no loss, by luck. What passes apart from that is measured by --loss 2e-05"}, "none without loss"},
		{"a goal with loss", []*report.Verdict{lossy}, []string{"no rate with a loss of 0.00001 % at most; lowest tried 0.625 Gbps had loss 0.000968 %"}, "no load passed"},
		{"two goals", []*report.Verdict{found(report.FlagDrifted), found()}, []string{"0: drifted: the first bounds of this search were others at its end; measure again"}, "0.500 Gbps"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			records := []report.Record{run("find-limit"), pass, fail}
			for _, v := range tt.answers {
				records = append(records, v)
			}
			out, _ := tell(t, report.TextOptions{}, append(records, &report.End{})...)
			_, below, _ := strings.Cut(out, "a step higher") // the table
			if !strings.Contains(below, tt.row) {
				below = ""
			}
			if below == "" {
				t.Fatalf("prints\n%swant a row with %q", out, tt.row)
			}
			var got []string
			for _, line := range strings.Split(below, "\n")[1:] {
				if strings.HasPrefix(line, "trials of ") || strings.HasPrefix(line, "limited by") || strings.HasPrefix(line, "Foreign") {
					break
				}
				if !strings.HasPrefix(line, " ") {
					got = append(got, line)
				}
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("tells\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// What an answer rests on stands below it, once where it is the same for all.
func TestEffort(t *testing.T) {
	v := func(loss float64, rule string, trials int) *report.Verdict {
		return &report.Verdict{RateWireBps: report.Number(5e8), GoalLossRatio: loss, Rule: rule, TrialNs: 1e9, Trials: trials, TrafficNs: 11_200_000_000,
			LossRatio: report.Number(loss / 2), Limit: report.ByDevice}
	}
	stream := func(name string) *report.Verdict {
		s := v(0, "single", 9)
		s.Stream = name
		return s
	}
	passes := v(0, "single", 3)
	passes.TrialNs = 0
	for _, tt := range []struct {
		want    string
		answers []*report.Verdict
	}{
		{"trials of 1s, believed by lead 5 of 21; 27 trials, 11.20 s of traffic\nlimited", []*report.Verdict{v(0, "lead 5 of 21", 27)}},
		{"trials of 1s, believed by lead 5 of 21; 40 trials, 22.40 s of traffic; lost at the rate 0.25 % for 0.5 %\nlimited",
			[]*report.Verdict{v(0, "lead 5 of 21", 27), v(0.005, "lead 5 of 21", 13)}},
		{"0: trials of 1s, believed by lead 5 of 21; 27 trials, 11.20 s of traffic\n1 %: trials of 1s, believed by single; 4 trials, 11.20 s of traffic; lost at the rate 0.5 % for 1 %\nlimited",
			[]*report.Verdict{v(0, "lead 5 of 21", 27), v(0.01, "single", 4)}},
		{"trials of 1s, believed by single; 9 trials, 11.20 s of traffic\nlimited", []*report.Verdict{stream("a"), stream("b")}},
		{"one pass, believed by single; 3 trials, 11.20 s of traffic\nlimited", []*report.Verdict{passes}},
	} {
		one := tried(1, 1, report.Search, 500*units.Mbps, time.Second, report.About{Verdict: report.Pass}, []trial.Stream{books(ab, 500*units.Mbps, time.Second, 0)})
		records := []report.Record{run("find-limit"), one}
		for _, v := range tt.answers {
			records = append(records, v)
		}
		if out, _ := tell(t, report.TextOptions{}, append(records, &report.End{})...); !strings.Contains(out, "\n"+tt.want) {
			t.Errorf("prints\n%swant\n%s", out, tt.want)
		}
	}
}
