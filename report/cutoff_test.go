package report_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"loadtest/report"
)

// What a killed run found until then is told; of a search it is no answer.
func TestCutOff(t *testing.T) {
	whole := search()
	for _, tt := range []struct {
		name      string
		records   []report.Record
		quiet     bool
		last, end string
	}{
		{"at once", whole[:1], false, "", "cut off after 0 trials"},
		{"after the warm-up", whole[:4], false, "", "cut off after 0 trials"},
		{"after a trial", whole[:5], false, "Foreign 0, duplicated 0, late 0", "cut off after 1 trial"},
		{"before the answer", whole[:10], false, "not finished: between 6.200 and 6.210 Gbps after 4 trials", "cut off after 5 trials"},
		{"before the end", whole[:11], false, "not finished: between 6.200 and 6.210 Gbps after 5 trials", "cut off after 5 trials"},
		{"before the end, quiet", whole[:11], true, "not finished: between 6.200 and 6.210 Gbps after 5 trials", ""},
		{"a lower bound of the tester is no end either", append(whole[:10:10], &report.Verdict{RateWireBps: report.Number(1e9), Trials: 1, Limit: report.ByTester}),
			false, "not finished: 1.000 Gbps passed after 1 trial", "cut off after 5 trials"},
		{"transient", transient()[:3], false, "note: 30 packets missed", "cut off after 1 trial"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, talk bytes.Buffer
			text := report.NewText(report.TextOptions{Out: &out, Err: &talk, Quiet: tt.quiet})
			for _, r := range tt.records {
				if err := text.Write(r); err != nil {
					t.Fatal(err)
				}
			}
			if err := text.CutOff(); err != nil {
				t.Fatal(err)
			}
			if got := last(out.String()); !strings.HasPrefix(got, tt.last) || (got == "") != (tt.last == "") {
				t.Errorf("last line %q, want %q of\n%s", got, tt.last, &out)
			}
			if got := last(talk.String()); tt.end != "" && got != "end    "+tt.end || tt.end == "" && got != "" {
				t.Errorf("talk ends with %q, want %q", got, tt.end)
			}
		})
	}
}

func last(text string) string {
	text = strings.TrimSuffix(text, "\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

func TestCutOffError(t *testing.T) {
	full := errors.New("disk full")
	for _, o := range []report.TextOptions{{Out: broken{full}}, {Err: broken{full}}} {
		text := report.NewText(o)
		for _, r := range transient()[:3] {
			_ = text.Write(r)
		}
		if err := text.CutOff(); err != full {
			t.Errorf("error %v, want %v", err, full)
		}
	}
}

type broken struct{ error }

func (b broken) Write([]byte) (int, error) { return 0, b.error }
