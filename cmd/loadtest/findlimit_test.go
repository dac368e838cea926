package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadtest/packet"
	"loadtest/report"
	"loadtest/search"
	"loadtest/trial"
)

// kept are the records of a session.
type kept []report.Record

func (k *kept) Write(r report.Record) error { *k = append(*k, r); return nil }

// The verdict has the load in the unit that was searched, and what was really sent.
func TestAnswer(t *testing.T) {
	sent := func(intended, sent int64) trial.Result {
		return trial.Result{Elapsed: time.Second, Streams: []trial.Stream{{Name: "a→b", Intended: intended, Sent: sent, Received: sent, SentWireBits: 672 * sent}}}
	}
	number := report.Number
	factor := search.Answer{Unit: trial.Factor, Load: 7.3, Above: 7.4, Step: 0.1, Complete: true, Limit: search.LimitDevice, Trials: 5, Best: sent(1000, 1000)}
	unsent, tester, disk := factor, factor, factor
	unsent.Best, unsent.Step = sent(1000, 999), 0.001
	tester.Limit, tester.Reason = search.LimitTester, "unsent 9"
	disk.Limit, disk.Reason, disk.Worst = search.LimitTester, "packets waited 35 ms for the disk", trial.Result{Starved: 35e6}
	none := search.Answer{Unit: trial.Factor, Above: 0.1, Step: 0.1, Complete: true, Limit: search.LimitDevice}
	nothing := search.Answer{Unit: trial.Factor, Above: 0.1, Step: 0.1, Complete: true, Limit: search.LimitTester, Worst: sent(1000, 10)}
	nothing.Worst.Starved = 35e6
	bits := search.Answer{Unit: trial.WireBits, Load: 672e3, Above: 673e3, Step: 1e3, Complete: true, Limit: search.LimitDevice, Best: sent(1000, 1000)}
	packets := search.Answer{Unit: trial.Packets, Load: 1000, Above: 1001, Step: 1, Complete: true, Limit: search.LimitDevice, Best: sent(1000, 1000)}
	for _, tt := range []struct {
		name   string
		answer search.Answer
		want   report.Verdict
		err    string
		code   int
	}{
		{"factor", factor, report.Verdict{LoadFactor: number(7.3), PrecisionFactor: number(0.1), AboveFactor: number(7.4), RateWireBps: number(672e3), RatePps: number(1000),
			Trials: 5, Limit: report.ByDevice}, "", 0},
		{"not all was sent", unsent, report.Verdict{LoadFactor: number(7.3 * 0.999), PrecisionFactor: number(0.001), AboveFactor: number(7.4), RateWireBps: number(672 * 999),
			RatePps: number(999), Trials: 5, Limit: report.ByDevice}, "", 0},
		{"tester", tester, report.Verdict{LoadFactor: number(7.3), PrecisionFactor: number(0.1), AboveFactor: number(7.4), RateWireBps: number(672e3), RatePps: number(1000),
			Trials: 5, Limit: report.ByTester}, "no limit of the device found: above x7.3 the tester is at its own; unsent 9. Up to there: -b x7.3; beyond: a faster port", 3},
		{"disk", disk, report.Verdict{LoadFactor: number(7.3), PrecisionFactor: number(0.1), AboveFactor: number(7.4), RateWireBps: number(672e3), RatePps: number(1000),
			Trials: 5, Limit: report.ByTester}, "no limit of the device found: above x7.3 the tester is at its own; packets waited 35 ms for the disk. Up to there: -b x7.3; " +
			"beyond: a faster disk, or --memory", 3},
		{"none", none, report.Verdict{PrecisionFactor: number(0.1), AboveFactor: number(0.1), Limit: report.ByDevice}, "no rate without loss", 1},
		{"nothing but disk", nothing, report.Verdict{PrecisionFactor: number(0.1), AboveFactor: number(0.1), Limit: report.ByTester},
			"no verdict about the device: the tester is limited by disk: packets waited 35 ms for it. Lower: -b x0.00095; or a faster disk, or --memory", 3},
		{"bits", bits, report.Verdict{PrecisionBps: number(1e3), AboveBps: number(673e3), RateWireBps: number(672e3), RatePps: number(1000), Limit: report.ByDevice}, "", 0},
		{"packets", packets, report.Verdict{RateWireBps: number(672e3), RatePps: number(1000), Limit: report.ByDevice}, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := measuring(stream{name: "a→b"})
			var records kept
			s.sinks = append(s.sinks, &records)
			err := (&findLimit{}).answer(s, &watcher{session: s}, search.Goal{Rule: search.Single{}}, "", tt.answer, nil)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tt.err || exitCode(err) != tt.code {
				t.Errorf("error %q, code %d; want %q, code %d", got, exitCode(err), tt.err, tt.code)
			}
			if len(records) != 1 {
				t.Fatalf("wrote %d records, want the verdict", len(records))
			}
			tt.want.Rule = "single"
			tt.want.LossRatio, tt.want.AboveLossRatio = lossOf(&tt.answer.Best), lossOf(&tt.answer.Worst)
			if tt.want.Limit == report.ByTester {
				tt.want.Flags = []string{report.FlagTester}
			}
			if d := cmp.Diff(&tt.want, records[0]); d != "" {
				t.Errorf("verdict (-want +got):\n%s", d)
			}
		})
	}
}

// The words of a plan: how long a search of passes takes depends on where it goes.
func TestPlanOfPasses(t *testing.T) {
	for _, tt := range []struct {
		name     string
		unit     trial.Unit
		duration time.Duration
		loops    int64
		want     string
	}{
		{"a pass each", trial.Factor, 0, 1,
			"loads    up to x4 (2.688 Mbps mean) per stream, in steps of x1; a trial of 1 pass: 250ms at x4, 500ms at x2\ntime     550ms to 6.7s\n"},
		{"a second each", trial.Factor, time.Second, 0, "loads    up to x4 (2.688 Mbps mean) per stream, in steps of x1\ntime     1.3s to 9.2s\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, out := measuring(captured())
			s.command.SetOut(out)
			s.streams[0].packets = &packet.Store{}
			f := &findLimit{strategy: bisect, retries: 1, warmup: 300 * time.Millisecond}
			goal := search.Goal{Trial: tt.duration, Loops: tt.loops, Rule: search.Retry(1)}
			if err := f.plan(s, loadRange{unit: tt.unit, max: 4, step: 1}, []search.Goal{goal}); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); !strings.Contains(got, "\n"+tt.want) {
				t.Errorf("prints\n%swant\n%s", got, tt.want)
			}
		})
	}
}
