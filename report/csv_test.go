package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"loadtest/report"
	"loadtest/trial"
	"loadtest/units"
)

func TestCSV(t *testing.T) {
	for name, open := range map[string]func(*bytes.Buffer) report.Sink{
		"transient.csv":       func(b *bytes.Buffer) report.Sink { return report.NewCSV(b) },
		"transient-hydra.csv": func(b *bytes.Buffer) report.Sink { return report.NewHydra(b) },
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			s := open(&b)
			had := 0
			for i, r := range transient() {
				if err := s.Write(r); err != nil {
					t.Fatal(err)
				}
				if _, ok := r.(*report.Trial); ok && i > 1 && b.Len() == had {
					t.Errorf("step %d is not in the file at once", i)
				}
				had = b.Len()
			}
			nothing := tried(9, 9, report.Ramp, units.Gbps, 0, report.About{}, []trial.Stream{{Name: "none"}})
			if err := s.Write(nothing); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.String())
		})
	}
}

// Loads of a Hydra file stay apart, however small the step.
func TestHydraID(t *testing.T) {
	for _, tt := range []struct {
		step, load units.BitRate
		want       string
	}{
		{0, 609 * units.Mbps, "load 0.609"},
		{1 * units.Gbps, 10 * units.Gbps, "load 10.000"},
		{1 * units.Mbps, 3 * units.Mbps, "load 0.003"},
		{100 * units.Kbps, 300 * units.Kbps, "load 0.0003"},
		{1, 3, "load 0.000000003"},
	} {
		var b bytes.Buffer
		h := report.NewHydra(&b)
		r := run("transient")
		r.Settings.StepWireBps = report.Number(float64(tt.step))
		for _, rec := range []report.Record{r, tried(1, 1, report.Ramp, tt.load, time.Second, report.About{}, []trial.Stream{{Name: "a"}})} {
			if err := h.Write(rec); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.Contains(b.String(), "\na_rx_mpps,"+tt.want+",0.000000,mpps\n") {
			t.Errorf("load %v by %v gives\n%swant id %q", tt.load, tt.step, b.String(), tt.want)
		}
	}
}

func TestCSVError(t *testing.T) {
	if err := report.NewCSV(&flusher{fail: 1}).Write(run("transient")); err == nil || err.Error() != "disk is full" {
		t.Errorf("error %v; want disk is full", err)
	}
}
