package report_test

import (
	"strings"
	"testing"
	"time"

	"loadtest/report"
	"loadtest/trial"
	"loadtest/units"
)

func TestText(t *testing.T) {
	for _, tt := range []struct {
		name    string
		o       report.TextOptions
		records []report.Record
	}{
		{"find-limit", report.TextOptions{}, search()},
		{"find-limit-verbose", report.TextOptions{Verbose: true}, search()},
		{"find-limit-quiet", report.TextOptions{Quiet: true}, search()},
		{"find-limit-color", report.TextOptions{Color: true}, search()},
		{"find-limit-unlike", report.TextOptions{}, unlike()},
		{"find-limit-sizes", report.TextOptions{}, sizes()},
		{"find-limit-none", report.TextOptions{}, none()},
		{"replay", report.TextOptions{}, replayed()},
		{"replay-quiet", report.TextOptions{Quiet: true}, replayed()},
		{"transient", report.TextOptions{}, transient()},
		{"transient-quiet", report.TextOptions{Quiet: true}, transient()},
		{"transient-verbose", report.TextOptions{Verbose: true}, transient()},
		{"nothing", report.TextOptions{Verbose: true}, nothing()},
		{"find-limit-factor", report.TextOptions{}, factors(report.ByDevice)},
		{"find-limit-factor-verbose", report.TextOptions{Verbose: true}, factors(report.ByDevice)},
		{"find-limit-factor-quiet", report.TextOptions{Quiet: true}, factors(report.ByDevice)},
		{"find-limit-factor-split", report.TextOptions{}, split()},
		{"transient-factor", report.TextOptions{}, ramp()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, talk := tell(t, tt.o, tt.records...)
			for _, bad := range []string{"NaN", "Inf", "%!", " \n"} {
				if strings.Contains(out+talk, bad) {
					t.Errorf("%q in the text", bad)
				}
			}
			golden(t, tt.name+".txt", "--- stdout\n"+out+"--- stderr\n"+talk)
		})
	}
}

// unlike are two streams of different packets, answered by one load.
func unlike() []report.Record {
	r := run("find-limit")
	r.Name = ""
	r.Streams[1] = report.Stream{Name: "big", Source: "big.pcap", TX: "eth2", RX: "eth3", Packets: 9, MeanBytes: report.Number(1024.5), Share: 0.5}
	s := trial.Spec{Load: []trial.Point{{Load: 4e9}}, Share: map[string]float64{"big": 0.5}, Duration: time.Second}
	res := trial.Result{Start: zero, Elapsed: time.Second, Streams: []trial.Stream{books(ab, 4*units.Gbps, time.Second, 0), books("big", 2*units.Gbps, time.Second, 0)}}
	above := trial.Result{Start: zero + 3e9, Elapsed: time.Second, Streams: []trial.Stream{books(ab, 5*units.Gbps, time.Second, 0), books("big", 2.5*units.Gbps, time.Second, 11)}}
	s2 := s
	s2.Load = []trial.Point{{Load: 5e9}}
	return []report.Record{
		r,
		report.TrialOf(s, &res, report.About{Number: 1, Purpose: report.Search, Start: start, Zero: zero, Verdict: report.Pass}),
		report.TrialOf(s2, &above, report.About{Number: 2, Purpose: report.Search, Start: start, Zero: zero, Verdict: report.Fail}),
		&report.Verdict{RateWireBps: report.Number(4e9), Trials: 2, Trial: new(1), AboveTrial: new(2), Limit: report.ByDevice},
		&report.End{Time: start},
	}
}

// sizes are two sizes and two goals, so there is no one number.
func sizes() []report.Record {
	r := run("find-limit")
	r.Settings.Sizes = []string{"64 B", "imix"}
	r.Settings.GoalLossRatios = []float64{0, 0.005}
	pass := tried(1, 1, report.Search, 6.2*units.Gbps, time.Second, report.About{Size: "64 B", Verdict: report.Pass}, []trial.Stream{books(ab, 6.2*units.Gbps, time.Second, 0)})
	top := tried(2, 3, report.Search, 10*units.Gbps, time.Second, report.About{Size: "imix", Verdict: report.Pass}, []trial.Stream{books(ab, 10*units.Gbps, time.Second, 0)})
	return []report.Record{
		r, pass, top,
		&report.Verdict{Size: "64 B", RateWireBps: report.Number(6.2e9), Trials: 1, Trial: new(1), AboveBps: report.Number(6.3e9), Limit: report.ByDevice},
		&report.Verdict{Size: "64 B", GoalLossRatio: 0.005, RateWireBps: report.Number(6.2e9), Trials: 1, Trial: new(1), Limit: report.ByTester},
		&report.Verdict{Size: "imix", RateWireBps: report.Number(10e9), Trials: 1, Trial: new(2), Limit: report.ByLine},
		&report.Verdict{Size: "imix", GoalLossRatio: 0.005, RateWireBps: report.Number(10e9), Trials: 1, Trial: new(2), Limit: report.ByAsked},
		&report.End{Time: start},
	}
}

// none is a search that found nothing, and was interrupted.
func none() []report.Record {
	return []report.Record{
		run("find-limit"),
		tried(1, 1, report.Search, units.Gbps, time.Second, report.About{Verdict: report.Fail, Reason: "exec said no (exit status 1)"}, []trial.Stream{books(ab, units.Gbps, time.Second, 0)}),
		&report.Verdict{Trials: 1, AboveTrial: new(1), AboveBps: report.Number(1e9), Limit: report.ByDevice},
		&report.End{Time: start, ExitCode: 130, Interrupted: true},
	}
}

func replayed() []report.Record {
	r := run("replay")
	r.Settings = report.Settings{}
	r.Ports[0].LineBps, r.Ports[1].LineBps = report.Number(100e6), report.Number(2.5e9)
	r.Streams[1].RX = ""
	s := books(ab, 30*units.Mbps, 2*time.Second, 17)
	s.Intended += 3
	res := trial.Result{Start: zero, Elapsed: 2 * time.Second, Streams: []trial.Stream{s, books(ba, 30*units.Mbps, 2*time.Second, 0)}, Cut: true}
	return []report.Record{
		r,
		report.TrialOf(trial.Spec{Unit: trial.Factor, Load: []trial.Point{{Load: 10}}}, &res,
			report.About{Number: 1, Purpose: report.Replay, Start: start, Zero: zero, Verdict: report.Fail, SentOnly: []string{ba}}),
		&report.End{Time: start, ExitCode: 3, Reason: "eth3: link is down"},
	}
}

// transient are Snabb's node1 and node2 at two steps and a half.
func transient() []report.Record {
	r := run("transient")
	r.Settings = report.Settings{RateWireBps: report.Number(609e6), StepWireBps: report.Number(300e6), Program: "ramp_up"}
	r.Streams[0].Name, r.Streams[1].Name = "node1", `node "2", b`
	var out []report.Record
	for i, load := range []units.BitRate{300 * units.Mbps, 609 * units.Mbps} {
		out = append(out, tried(i+1, i, report.Ramp, load, time.Second, report.About{},
			[]trial.Stream{books("node1", load, time.Second, 100), books(`node "2", b`, load, time.Second, 0)}, trial.Port{Name: "eth3", Missed: 30}))
	}
	warm := tried(3, 9, report.Warmup, units.Gbps, time.Second, report.About{}, nil)
	return append(append([]report.Record{r, warm}, out...), &report.End{Time: start})
}

// Many steps have their lines, and no table that repeats them.
func TestManySteps(t *testing.T) {
	records := []report.Record{run("transient")}
	for i := range 51 {
		records = append(records, tried(i+1, i, report.Ramp, units.Gbps, time.Second, report.About{}, []trial.Stream{books(ab, units.Gbps, time.Second, 0)}))
	}
	out, _ := tell(t, report.TextOptions{}, append(records, &report.End{})...)
	if n := strings.Count(out, "\n"); n != 53 || !strings.HasSuffix(out, "load per direction\nForeign 0, duplicated 0, late 0\n") {
		t.Errorf("%d lines, the last of them %q; want 51 lines, the title and the totals", n, out[len(out)-100:])
	}
}

// A trial that is made again, as the tester stood still, has its line, but no row in the table; the last one always has.
func TestMadeAgain(t *testing.T) {
	step := func(n int, purpose, verdict string, stolen time.Duration, ports ...trial.Port) report.Record {
		res := trial.Result{Elapsed: time.Second, Stolen: stolen, Streams: []trial.Stream{books(ab, units.Gbps, time.Second, 0)}, Ports: ports}
		return report.TrialOf(trial.Flat(1e9, time.Second), &res, report.About{Number: n, Purpose: purpose, Verdict: verdict, Start: start, Zero: zero})
	}
	const stall = 250 * time.Millisecond
	for _, tt := range []struct {
		name  string
		steps []report.Record
		rows  int // of the table
		csv   int
	}{
		{"replay", []report.Record{step(1, report.Replay, report.Invalid, stall), step(2, report.Replay, report.Pass, 0)}, 1, 1},
		{"replay, never better", []report.Record{step(1, report.Replay, report.Invalid, stall), step(2, report.Replay, report.Invalid, stall)}, 1, 0},
		{"steps", []report.Record{step(1, report.Ramp, report.None, 0), step(2, report.Ramp, report.Invalid, stall), step(3, report.Ramp, report.None, 0)}, 2, 2},
		{"steps, not judged", []report.Record{step(1, report.Ramp, report.None, stall), step(2, report.Ramp, report.None, 0)}, 2, 2},
		{"link down", []report.Record{step(1, report.Ramp, report.Invalid, stall, trial.Port{Name: "eth3", Down: true}), step(2, report.Ramp, report.None, 0)}, 2, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			records := append(append([]report.Record{run("replay")}, tt.steps...), &report.End{})
			out, _ := tell(t, report.TextOptions{}, records...)
			lines, table, _ := strings.Cut(out, "both directions at once")
			if n := strings.Count(lines, "Gbps  1.00 s"); n != len(tt.steps) || strings.Count(table, "\n") != 3+tt.rows {
				t.Errorf("%d lines of trials, and\n%s\nwant %d, and %d rows", n, table, len(tt.steps), tt.rows)
			}
			var b strings.Builder
			c := report.NewCSV(&b)
			for _, r := range records {
				if err := c.Write(r); err != nil {
					t.Fatal(err)
				}
			}
			if rows := strings.Count(b.String(), "\n") - 1; rows != tt.csv {
				t.Errorf("%d rows in\n%s\nwant %d", rows, b.String(), tt.csv)
			}
		})
	}
}

// nothing are results in which there is nothing to divide by.
func nothing() []report.Record {
	one := books("one", 672, time.Second, 0)
	many := trial.Result{Start: zero, Streams: []trial.Stream{{Name: "empty"}, one}}
	records := []report.Record{run("find-limit")}
	for i, s := range []trial.Spec{{}, trial.Flat(1e9, time.Second), {Load: []trial.Point{{Load: inf}}}, {Unit: trial.Packets, Load: []trial.Point{{Load: 1}}}} {
		records = append(records, report.TrialOf(s, &many, report.About{Number: i + 1, Purpose: report.Replay, Start: start, Zero: zero}))
	}
	timed := many
	timed.Elapsed = time.Second
	return append(records,
		report.TrialOf(trial.Flat(672, time.Second), &timed, report.About{Number: 9, Purpose: report.Ramp, Start: start, Zero: zero}),
		report.TrialOf(trial.Spec{}, &trial.Result{}, report.About{Number: 10, Purpose: report.Ramp, Start: start, Verdict: report.Invalid, Reason: "nothing to send"}),
		&report.Verdict{Trial: new(77)}, &report.End{Time: start})
}

// A reason that says what the counts say is not said twice; any other is said.
func TestReason(t *testing.T) {
	for _, tt := range []struct{ name, verdict, reason, line, block string }{
		{"none", report.Fail, "", "fail  lost 9 a; stopped early", "Failed."},
		{"the counts'", report.Fail, "lost 9 a; stopped early", "fail  lost 9 a; stopped early", "Failed."},
		{"a command's", report.Fail, "exec: exit status 1", "fail  lost 9 a; stopped early; exec: exit status 1", "Failed: exec: exit status 1."},
		{"an early end's", report.Invalid, "stopped early, yet within the goal", "invalid  lost 9 a; stopped early, yet within the goal",
			"Invalid: stopped early, yet within the goal."},
		{"another count's", report.Invalid, "unsent 3 a", "invalid  lost 9 a; stopped early; unsent 3 a", "Invalid: unsent 3 a."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &report.Trial{Number: 1, Purpose: report.Search, Verdict: tt.verdict, Reason: tt.reason, Stopped: true,
				Streams: []report.TrialStream{{Name: "a", Sent: 10, Lost: new(int64(9))}}}
			if out, _ := tell(t, report.TextOptions{}, r); !strings.HasSuffix(out, "0.00 s  "+tt.line+"\n") {
				t.Errorf("line %q; want it to end with %q", out, tt.line)
			}
			if out, _ := tell(t, report.TextOptions{Verbose: true}, r); !strings.HasSuffix(out, "\n"+tt.block+"\n") {
				t.Errorf("block %q; want it to end with %q", out, tt.block)
			}
		})
	}
}

// A tester that stood still is told once, also where nobody judged the trial; what is short is not told.
func TestStall(t *testing.T) {
	const stopped, slept = "the tester was stopped for 250 ms", "the machine slept for 3 s"
	for _, tt := range []struct {
		name              string
		stolen, suspended time.Duration
		verdict, reason   string
		line, block       string
	}{
		{"not long enough", 90 * time.Millisecond, 0, report.Pass, "", "pass", "Success.\n"},
		{"judged", 250 * time.Millisecond, 0, report.Invalid, stopped, "invalid  lost 9 (90 %) a; " + stopped, "Invalid: " + stopped + ".\n"},
		{"not judged", 250 * time.Millisecond, 0, report.None, "", "lost 9 (90 %) a; " + stopped, "  Stalled: " + stopped + ".\n"},
		{"slept", time.Second, 3 * time.Second, report.None, "", "lost 9 (90 %) a; " + slept, "  Stalled: " + slept + ".\n"},
		{"invalid for more", 0, 3 * time.Second, report.Invalid, "link down: eth3", "invalid  lost 9 (90 %) a; " + slept + "; link down: eth3",
			"  Stalled: " + slept + ".\nInvalid: link down: eth3.\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := trial.Stream{Name: "a", Intended: 10, Sent: 10, Received: 1}
			if tt.verdict == report.Pass {
				s.Received = 10
			}
			r := report.TrialOf(trial.Flat(1e6, time.Second), &trial.Result{Stolen: tt.stolen, Suspended: tt.suspended, Streams: []trial.Stream{s}},
				report.About{Purpose: report.Search, Verdict: tt.verdict, Reason: tt.reason})
			if out, _ := tell(t, report.TextOptions{}, r); !strings.HasSuffix(out, "0.00 s  "+tt.line+"\n") {
				t.Errorf("line %q; want it to end with %q", out, tt.line)
			}
			if out, _ := tell(t, report.TextOptions{Verbose: true}, r); !strings.HasSuffix(out, "\n"+tt.block) {
				t.Errorf("block %q; want it to end with %q", out, tt.block)
			}
		})
	}
}
