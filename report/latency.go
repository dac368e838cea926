package report

import (
	"cmp"
	"strings"
)

// latencyTable has a row for each stream of each trial that was made for its latency, if there were any.
func (t *Text) latencyTable() string {
	trials := t.counted(Latency)
	if len(trials) == 0 {
		return ""
	}
	head := []string{"latency", "stream", "size", ">rate", ">lost", ">min", ">p50", ">p90", ">p99", ">p99.9", ">max", ">mean", ">jitter", ">PDV", "stamps", ">tester's p50"}
	var rows [][]string
	for _, r := range trials {
		for i := range r.Streams {
			s := &r.Streams[i]
			bps, _ := r.offered(s, t.share(s.Name))
			d := &s.Delay
			rows = append(rows, []string{strings.TrimPrefix(r.Why, "latency "), s.Name, size(r.Size, t.stream(s.Name)), t.scale(bps).rate(bps), share(s.LossRatio),
				delay(d.MinNs), delay(d.P50Ns), delay(d.P90Ns), delay(d.P99Ns), delay(d.P999Ns), delay(d.MaxNs),
				delay(s.MeanNs), delay(s.JitterNs), delay(s.PDVNs), cmp.Or(s.stamps(), absent), delay(s.TesterP50Ns)})
		}
	}
	return columns(head, rows)
}
