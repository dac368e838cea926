package report_test

import (
	"strings"
	"testing"
	"time"

	"loadtest/report"
	"loadtest/trial"
	"loadtest/units"
)

// The line and the table of a trial say one rate: the intended one if less than a packet makes it more, else the measured one.
func TestOneRate(t *testing.T) {
	const d = 10 * time.Millisecond
	bits := trial.Flat(10e6, d) // 148.8 packets of 84 bytes
	packets := trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 14_850}}, Duration: d}
	for _, tt := range []struct {
		name   string
		spec   trial.Spec
		sent   int64
		odd    int64 // bytes more: the packets are of several sizes
		rate   string
		mpps   string
		ofLine string
	}{
		{"below", bits, 148, 0, "9.946", "0.0148", "99.5 %"},
		{"a part of a packet", bits, 149, 0, "10.000", "0.0149", "100.0 %"},
		{"more than a packet", bits, 150, 0, "10.080", "0.0150", "100.0 %"}, // a load is not hidden; of a line there is no more than all
		{"the last one longer than the mean", bits, 149, 149 * 5, "10.000", "0.0148", "100.0 %"},
		{"packets: below", packets, 148, 0, "9.946", "0.0148", "99.5 %"},
		{"packets: a part", packets, 149, 0, "9.979", "0.0149", "99.8 %"},
		{"packets: more", packets, 150, 0, "10.080", "0.0150", "100.0 %"},
	} {
		for _, purpose := range []string{report.Replay, report.Ramp} {
			t.Run(tt.name+", "+purpose, func(t *testing.T) {
				wire := tt.sent*units.WireBits(60) + tt.odd*8
				s := trial.Stream{Name: ab, Intended: tt.sent, Sent: tt.sent, Received: tt.sent, SentWireBits: wire, RecvWireBits: wire}
				r := run(purpose)
				r.Settings = report.Settings{}
				r.Ports[0].LineBps = report.Number(10e6)
				r.Streams = r.Streams[:1]
				rec := report.TrialOf(tt.spec, &trial.Result{Elapsed: d, Streams: []trial.Stream{s}}, report.About{Number: 1, Purpose: purpose})
				if got := rec.Streams[0].SentBps; *got != float64(wire)*100 {
					t.Errorf("the record has %v; want the measured rate", *got)
				}
				out, _ := tell(t, report.TextOptions{}, r, rec, &report.End{})
				line := "  1  " + tt.rate + " Mbps  0.01 s"
				row := []string{ab, "64", "B", "(60+FCS)", tt.rate, "Mbps", tt.mpps, tt.ofLine[:len(tt.ofLine)-2], "%", "0", "0", "%"}
				if purpose == report.Ramp {
					line += "  received " + tt.rate + " Mbps\n"
					row = []string{"1", ab, tt.rate, "Mbps", tt.rate, tt.mpps, "0", "0", "%"}
				}
				if words := strings.Join(strings.Fields(out), " "); !strings.HasPrefix(out, line) || !strings.Contains(words, " "+strings.Join(row, " ")+" ") {
					t.Errorf("prints\n%swant the line %q and the row %q", out, line, row)
				}
			})
		}
	}
}

// Rates of neighbouring steps differ, packet rates and shares have three digits that count.
func TestDigits(t *testing.T) {
	for _, tt := range []struct {
		name            string
		top, step, load units.BitRate
		lost            int64 // of 1,000,000
		want, share     string
	}{
		{"usual", units.Gbps, units.Mbps, 609 * units.Mbps, 0, "0.609 Gbps", ""},
		{"coarse", units.Gbps, 12.5 * units.Mbps, 612.5 * units.Mbps, 0, "0.613 Gbps", ""},
		{"250k", units.Gbps, 250 * units.Kbps, 609.25 * units.Mbps, 10_400, "0.60925 Gbps", "(1.04 %)"},
		{"its neighbour", units.Gbps, 250 * units.Kbps, 609.5 * units.Mbps, 9_920, "0.60950 Gbps", "(0.992 %)"},
		{"100k", units.Gbps, 100 * units.Kbps, 609.5 * units.Mbps, 100_000, "0.6095 Gbps", "(10 %)"},
		{"no round step", 999 * units.Mbps, 999 * units.Kbps, 609.39 * units.Mbps, 3, "0.609390 Gbps", "(0.0003 %)"},
		{"a third", units.Gbps, units.Mbps / 3, 609 * units.Mbps, 0, "0.609000 Gbps", ""},
		{"Mbps", 10 * units.Mbps, 10, 5_000_010, 0, "5.00001 Mbps", ""},
		{"one bit", units.Gbps, 1, 609_000_001, 0, "0.609000001 Gbps", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := run("find-limit")
			r.Settings.RateWireBps, r.Settings.PrecisionWireBps = report.Number(float64(tt.top)), report.Number(float64(tt.step))
			s := report.TrialStream{Name: ab, Sent: 1e6, Lost: &tt.lost}
			out, _ := tell(t, report.TextOptions{}, r, &report.Trial{Purpose: report.Search, RateWireBps: report.Number(float64(tt.load)), Streams: []report.TrialStream{s}})
			if !strings.Contains(out, " "+tt.want+" ") || !strings.Contains(out, tt.share) {
				t.Errorf("line %q; want %q and %q", out, tt.want, tt.share)
			}
			out, _ = tell(t, report.TextOptions{Quiet: true}, r, &report.Verdict{RateWireBps: report.Number(float64(tt.load))}, &report.End{})
			if want := units.PlainGbps(tt.load) + "\n"; out != want {
				t.Errorf("bare number %q; want %q", out, want)
			}
		})
	}
	for pps, want := range map[float64]string{0: "0", 1: "0.00000100", 20_400: "0.0204", 99_990: "0.100", 906_250: "0.906", 9_999_900: "10.00", 14_880_952: "14.88", 148.8e6: "148.80"} {
		out, _ := tell(t, report.TextOptions{}, run("find-limit"), &report.Verdict{RateWireBps: report.Number(1e9), RatePps: &pps}, &report.End{})
		if !strings.Contains(out, "Gbps  "+strings.Repeat(" ", max(0, 4-len(want)))+want+"  ") {
			t.Errorf("%v pps:\n%swant %s", pps, out, want)
		}
	}
}
