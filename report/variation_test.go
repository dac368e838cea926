package report

import (
	"testing"
	"time"

	"loadtest/trial"
)

// timed is the record of a stream that sent a thousand packets/s, of so many latencies around 50 µs.
func timed(n int64, vary bool, alone ...TesterDelay) TrialStream {
	s := trial.Stream{Name: "a", Intended: 1000, Sent: 1000, Received: 1000, Stamps: trial.Stamps{Sent: trial.Software, Arrived: trial.Kernel}}
	for i := range n {
		s.Latency.Record(50_000+i, 1)
		if vary {
			s.Variation.Compared, s.Variation.Jitter = i+1, 900
			s.Variation.Between.Record(1)
		}
	}
	if vary {
		s.Variation.Between.Record(-2000)
	}
	return TrialOf(trial.Flat(1e6, time.Second), &trial.Result{Elapsed: time.Second, Streams: []trial.Stream{s}}, About{Tester: alone}).Streams[0]
}

func TestDelayLines(t *testing.T) {
	const latency = "    Latency: min 50µs, p50 50µs, p90 50µs, p99 50µs, p99.9 50µs, max 50µs, mean 50µs; stamps software/kernel"
	for _, tt := range []struct {
		name   string
		stream TrialStream
		want   string
	}{
		{"none", timed(0, false), ""},
		{"all", timed(200, true), latency + "\n    Variation: PDV 199ns, jitter 900ns, IPDV min -2.0µs, median 1ns, max 1ns\n"},
		{"counted by the port", timed(200, false), latency + "\n    Variation: PDV 199ns, jitter –\n"},
		{"near the tester's own", timed(200, false, TesterDelay{1000, 21_000}),
			latency + "; tester's own share p50 21µs\n    Variation: PDV 199ns, jitter –\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.stream.delays(); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

// The tester's own share is shown where it is a tenth of the median or more, as it was at the load that is nearest; the median stays
// what it was.
func TestTestersOwnShare(t *testing.T) {
	for _, tt := range []struct {
		name  string
		alone []TesterDelay
		want  int64 // 0: null
	}{
		{"no selftest", nil, 0},
		{"small", []TesterDelay{{1000, 4_900}}, 0},
		{"a tenth", []TesterDelay{{1000, 5_100}}, 5_100},
		{"larger than all", []TesterDelay{{1000, 90_000}}, 90_000},
		{"of the nearest load", []TesterDelay{{1e5, 6_000}, {1800, 7_000}, {100, 8_000}, {1e6, 9_000}}, 7_000},
		{"of the nearest load it is small", []TesterDelay{{1e5, 60_000}, {900, 1000}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := timed(200, true, tt.alone...)
			if got := value(s.TesterP50Ns); got != tt.want || (s.TesterP50Ns == nil) != (tt.want == 0) {
				t.Errorf("tester's share %v, want %d", got, tt.want)
			}
			if plain := timed(200, true); *plain.Delay.P50Ns != *s.Delay.P50Ns || *plain.MeanNs != *s.MeanNs {
				t.Errorf("the latency changed: p50 %d, it was %d", *s.Delay.P50Ns, *plain.Delay.P50Ns)
			}
		})
	}
	if s := timed(0, false, TesterDelay{1000, 5000}); s.TesterP50Ns != nil || s.SentStamp != "" || s.MeanNs != nil || s.PDVNs != nil {
		t.Errorf("without latencies there is a share %v, a stamp %q, a mean %v, a PDV %v", s.TesterP50Ns, s.SentStamp, s.MeanNs, s.PDVNs)
	}
}
