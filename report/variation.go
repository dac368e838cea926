package report

import (
	"fmt"
	"math"
	"strings"

	"loadtest/trial"
)

// Variation is how a stream's latencies vary; null where nothing was measured. PDV needs the latencies alone. Jitter and IPDV need each
// packet's arrival, which a port that counts by itself does not tell.
type Variation struct {
	MeanNs *int64 `json:"latency_mean_ns"`
	PDVNs  *int64 `json:"latency_pdv_ns"` // RFC 8219, 7.3.1: the 99.9th percentile less the minimum, of all frames

	JitterNs *int64 `json:"jitter_ns"` // RFC 3550, 6.4.1, as it stood at the last packet; the largest of the stream's lanes

	// IPDV (RFC 8219, 7.3.2): each packet's latency less that of the one sent before it, where both came back.
	IPDVCount    *int64 `json:"ipdv_samples"`
	IPDVMinNs    *int64 `json:"ipdv_min_ns"`
	IPDVMedianNs *int64 `json:"ipdv_median_ns"`
	IPDVMaxNs    *int64 `json:"ipdv_max_ns"`

	// Who read the clock, as a packet was sent and as it arrived: "hardware", "kernel", "software" (this program), "exact" (a
	// simulation); "" where no latency was measured.
	SentStamp    string `json:"sent_stamp"`
	ArrivedStamp string `json:"arrived_stamp"`

	// What the tester alone makes of the median, by the last selftest on such ports, at about this many packets/s; null unless it is a
	// tenth of the latency or more, or where there was no selftest. It is never subtracted.
	TesterP50Ns *int64 `json:"tester_latency_p50_ns"`
}

func variationOf(s *trial.Stream) (v Variation) {
	if mean, ok := s.Latency.Mean(); ok {
		top, _ := s.Latency.Percentile(99.9)
		v.MeanNs, v.PDVNs = new(int64(math.Round(mean))), new(top-s.Latency.Min)
		v.SentStamp, v.ArrivedStamp = s.Stamps.Sent.String(), s.Stamps.Arrived.String()
	}
	if s.Variation.Compared > 0 {
		v.JitterNs, v.IPDVCount = new(s.Variation.Jitter), new(s.Variation.Between.Count())
	}
	if least, most, ok := s.Variation.Between.Range(); ok {
		middle, _ := s.Variation.Between.Median()
		v.IPDVMinNs, v.IPDVMedianNs, v.IPDVMaxNs = &least, &middle, &most
	}
	return v
}

// stamps is who read the clock, in a word: two, if they were two.
func (v *Variation) stamps() string {
	if v.SentStamp == v.ArrivedStamp {
		return v.SentStamp
	}
	return v.SentStamp + "/" + v.ArrivedStamp
}

// A TesterDelay is the median latency of the tester alone at a load.
type TesterDelay struct {
	Pps   float64
	P50Ns int64
}

// mostly is how large a share of a median the tester's own must be to be shown.
const mostly = 0.1

// tester shows what the tester alone makes of a stream's median, where it matters: of the load nearest to the stream's.
func (s *TrialStream) tester(alone []TesterDelay) {
	if s.Delay.P50Ns == nil || s.SentPps == nil || len(alone) == 0 {
		return
	}
	near := alone[0]
	for _, a := range alone[1:] {
		if math.Abs(a.Pps-*s.SentPps) < math.Abs(near.Pps-*s.SentPps) {
			near = a
		}
	}
	if float64(near.P50Ns) >= mostly*float64(*s.Delay.P50Ns) {
		s.TesterP50Ns = new(near.P50Ns)
	}
}

// delays are the lines of a stream's block on its latency.
func (s *TrialStream) delays() string {
	if value(s.LatencyCount) == 0 {
		return ""
	}
	d, v := &s.Delay, &s.Variation
	var b strings.Builder
	fmt.Fprintf(&b, "    Latency: min %s, p50 %s, p90 %s, p99 %s, p99.9 %s, max %s, mean %s", delay(d.MinNs), delay(d.P50Ns), delay(d.P90Ns), delay(d.P99Ns),
		delay(d.P999Ns), delay(d.MaxNs), delay(v.MeanNs))
	if stamps := v.stamps(); stamps != "" {
		b.WriteString("; stamps " + stamps)
	}
	if v.TesterP50Ns != nil {
		b.WriteString("; tester's own share p50 " + delay(v.TesterP50Ns))
	}
	fmt.Fprintf(&b, "\n    Variation: PDV %s, jitter %s", delay(v.PDVNs), delay(v.JitterNs))
	if v.IPDVMedianNs != nil {
		fmt.Fprintf(&b, ", IPDV min %s, median %s, max %s", delay(v.IPDVMinNs), delay(v.IPDVMedianNs), delay(v.IPDVMaxNs))
	}
	return b.String() + "\n"
}
