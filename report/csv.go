package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strings"
)

// CSV writes the steps of transient as Snabb's file has them, rows at once. Other records write nothing. It is a Sink.
//
// Rates are over measured time. What Snabb prints as nan, the share of no packets, is an empty field. Behind Snabb's columns are those
// of the latency, which it does not measure; they are empty where nothing was measured.
type CSV struct {
	w      io.Writer
	hydra  bool
	headed bool
	run    Run
}

// NewCSV writes one row for each stream and step.
func NewCSV(w io.Writer) *CSV { return &CSV{w: w} }

// NewHydra writes four rows for each stream and step, as Snabb's --hydra; loads have three digits, or as many as the step
// needs, so that they stay apart.
func NewHydra(w io.Writer) *CSV { return &CSV{w: w, hydra: true} }

var (
	csvHead = []string{
		"load_gbps", "stream", "tx_packets", "tx_mpps", "tx_bytes", "tx_gbps",
		"rx_packets", "rx_mpps", "rx_bytes", "rx_gbps", "ingress_drop", "lost_packets", "lost_percent",
		"latency_min_ns", "latency_p50_ns", "latency_p90_ns", "latency_p99_ns", "latency_p999_ns", "latency_max_ns", "latency_mean_ns",
		"latency_pdv_ns", "jitter_ns", "ipdv_min_ns", "ipdv_median_ns", "ipdv_max_ns",
	}
	hydraHead = []string{"benchmark", "id", "score", "unit"}
)

// Write writes the rows of a step of load, and of another trial that counts, unless it is made again.
func (c *CSV) Write(r Record) error {
	var rows [][]string
	switch r := r.(type) {
	case *Run:
		c.run = *r
	case *Trial:
		if (r.Purpose == Ramp || r.Purpose != Warmup && r.Verdict != Invalid) && !r.again() {
			rows = c.rows(r)
		}
	default:
		return nil
	}
	if !c.headed {
		c.headed = true
		head := csvHead
		if c.hydra {
			head = hydraHead
		}
		rows = append([][]string{head}, rows...)
	}
	if len(rows) == 0 {
		return nil
	}
	var b strings.Builder
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		return err
	}
	return flushed(c.w, []byte(b.String()))
}

func (c *CSV) rows(t *Trial) (rows [][]string) {
	ingress := ingress(&c.run, t)
	load := t.IntendedWireBps
	if load == nil { // asked in packets, or for all that goes
		load = t.RateWireBps
	}
	for i := range t.Streams {
		s := &t.Streams[i]
		if c.hydra {
			rows = append(rows, hydraRows(s, loadID(load, c.step(t)), ingress[i])...)
			continue
		}
		lost := ""
		if s.Lost != nil {
			lost = fmt.Sprint(*s.Lost - ingress[i])
		}
		rows = append(rows, []string{
			field(load, 1e9), s.Name, fmt.Sprint(s.Sent), field(s.SentPps, 1e6), fmt.Sprint(s.SentBytes), field(s.SentBps, 1e9),
			whole(s.Received), field(s.ReceivedPps, 1e6), whole(s.ReceivedBytes), field(s.ReceivedBps, 1e9),
			fmt.Sprint(ingress[i]), lost, field(s.LossRatio, 0.01),
			whole(s.Delay.MinNs), whole(s.Delay.P50Ns), whole(s.Delay.P90Ns), whole(s.Delay.P99Ns), whole(s.Delay.P999Ns), whole(s.Delay.MaxNs), whole(s.MeanNs),
			whole(s.PDVNs), whole(s.JitterNs), whole(s.IPDVMinNs), whole(s.IPDVMedianNs), whole(s.IPDVMaxNs),
		})
	}
	return rows
}

func hydraRows(s *TrialStream, load string, ingress int64) [][]string {
	return [][]string{
		{s.Name + "_rx_mpps", load, field(s.ReceivedPps, 1e6), "mpps"},
		{s.Name + "_rx_gbps", load, field(s.ReceivedBps, 1e9), "gbps"},
		{s.Name + "_ingress_drop", load, fmt.Sprint(ingress), "packets"},
		{s.Name + "_lost_percent", load, field(s.LossRatio, 0.01), "percentage"},
	}
}

// step is the distance between two loads; of multiples of the captured pace, what it is in what was sent.
func (c *CSV) step(t *Trial) *float64 {
	if by := c.run.Settings.StepFactor; by != nil && t.RateWireBps != nil && t.LoadFactor != nil {
		return Number(*t.RateWireBps / *t.LoadFactor * *by)
	}
	return c.run.Settings.StepWireBps
}

// loadID names a step in Gbit/s: "load 0.609".
func loadID(bps, step *float64) string {
	if bps == nil {
		return "load max"
	}
	digits := 3
	if step != nil && *step >= 1 && *step < 1e6 {
		digits = 9 - int(math.Floor(math.Log10(*step)))
	}
	return fmt.Sprintf("load %.*f", digits, *bps/1e9)
}

// whole is a count; empty where there is none.
func whole(n *int64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

// field is a number as Snabb writes it; empty where there is none.
func field(n *float64, base float64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprintf("%f", *n/base)
}
