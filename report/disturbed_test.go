package report_test

import (
	"strings"
	"testing"
	"time"

	"loadtest/report"
	"loadtest/trial"
)

// A trial whose pacing was disturbed says so: more than one packet in a hundred left more than a millisecond late.
func TestDisturbed(t *testing.T) {
	for _, tt := range []struct {
		name   string
		late   int64 // of 1000
		stolen time.Duration
		want   string
	}{
		{"on time", 0, 0, ""},
		{"a few", 10, 0, ""},
		{"disturbed", 23, 0, "pacing disturbed: 2.3 % of node1 left more than 1 ms late"},
		{"the tester stood still", 23, time.Second, "tester"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := trial.Result{Elapsed: time.Second, Stolen: tt.stolen, Streams: []trial.Stream{{Name: "node1", Intended: 1000, Sent: 1000, Received: 1000}}}
			r.Streams[0].Lateness.Record(900_000, 1000-tt.late)
			r.Streams[0].Lateness.Record(1_500_000, tt.late)
			rec := report.TrialOf(trial.Flat(1e6, time.Second), &r, report.About{Number: 1, Purpose: report.Replay, Verdict: report.Pass})
			if share := *rec.Streams[0].LateRatio; share != float64(tt.late)/1000 {
				t.Errorf("late ratio %g", share)
			}
			var out strings.Builder
			sink := report.NewText(report.TextOptions{Out: &out, Err: &out, Live: true})
			for _, r := range []report.Record{&report.Run{Verb: "replay", Streams: []report.Stream{{Name: "node1"}}}, rec} {
				if err := sink.Write(r); err != nil {
					t.Fatal(err)
				}
			}
			if got := out.String(); !strings.Contains(got, tt.want) || tt.want == "" && strings.Contains(got, "late") {
				t.Errorf("%q, want %q in it", got, tt.want)
			}
			if strings.Contains(out.String(), "pacing") && tt.stolen > 0 {
				t.Error("told twice")
			}
		})
	}
}
