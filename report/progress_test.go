package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"loadtest/report"
)

func TestProgress(t *testing.T) {
	s := report.State{Label: "64 B", Done: 0.64, Trial: 11, Load: 6.214e9, Low: 6.194e9, High: 6.224e9, Left: 14 * time.Second, Of: "this size"}
	var b strings.Builder
	for _, width := range []int{120, 80, 60, 40, 20, 3, 0} {
		line := report.Progress(s, width)
		if n := utf8.RuneCountInString(line); n > width {
			t.Errorf("width %d: %d characters", width, n)
		}
		b.WriteString(line + "\n")
	}
	for _, s := range []report.State{
		{},
		{Label: "replay", Done: -1, Load: 5e6, Lost: 3, Elapsed: 110 * time.Second},
		{Label: "soak", Done: 1, Elapsed: 11100 * time.Second, Left: 3 * time.Hour},
		{Label: "over", Done: 7},
		{Label: "find-limit", Done: 0.5, Trial: 4, Load: 7.3, Low: 5, High: 10, Factor: true, Elapsed: time.Second},
	} {
		b.WriteString(report.Progress(s, 80) + "\n")
	}
	golden(t, "progress.txt", b.String())
}

func TestRedraw(t *testing.T) {
	var b bytes.Buffer
	r := report.NewRedraw(&b)
	print := func() error { b.WriteString("line\n"); return nil }
	r.Over(print)
	r.Show("one")
	r.Show("one") // the same again draws nothing
	r.Over(print)
	r.Clear()
	r.Clear()
	if want := "line\n\rone\x1b[K\r\x1b[Kline\n\rone\x1b[K\r\x1b[K"; b.String() != want {
		t.Errorf("drew %q; want %q", b.String(), want)
	}
	var none *report.Redraw
	none.Show("x")
	if err := none.Over(print); err != nil || !strings.HasSuffix(b.String(), "line\n") {
		t.Error("without a terminal, Over still has to print")
	}
}
