package report

import (
	"fmt"
	"math"
	"slices"
	"time"

	"loadtest/trial"
)

// About is what a trial's Result does not know about itself.
type About struct {
	Number  int
	Purpose string
	Size    string
	Verdict string // "" is None
	Reason  string
	Retries *int64    // left after this failure
	Goal    string    // name of the goal that it was made for
	Why     string    // it was made, in the search's words
	Probe   bool      // it was made for its counts, not for a verdict
	Start   time.Time // wall time of the run's start
	Zero    int64     // the run's clock at the run's start, ns

	SentOnly []string      // names of the streams that nobody looks for
	Tester   []TesterDelay // of the tester without a device; none: not known
}

// TrialOf makes the record of a trial.
func TrialOf(s trial.Spec, r *trial.Result, a About) *Trial {
	t := &Trial{
		Number: a.Number, Purpose: a.Purpose, Size: a.Size, Verdict: a.Verdict, Reason: a.Reason, Retries: a.Retries,
		Goal: a.Goal, Why: a.Why, Probe: a.Probe, PrerollNs: int64(s.Preroll),
		StartNs: r.Start - a.Zero, DurationNs: int64(r.Elapsed), Stopped: r.Stopped, Cut: r.Cut,
		StolenNs: int64(r.Stolen), SuspendedNs: int64(r.Suspended), DiskWaitNs: int64(r.Starved),
		Time:    a.Start.Add(time.Duration(r.Start - a.Zero)).Round(0),
		Streams: make([]TrialStream, 0, len(r.Streams)), Ports: make([]TrialPort, 0, len(r.Ports)),
	}
	if t.Verdict == "" {
		t.Verdict = None
	}
	if s.Duration > 0 {
		t.AskedNs = new(int64(s.Duration))
	}
	t.intend(s)
	for i := range r.Streams {
		st := streamOf(&r.Streams[i], r.Elapsed)
		if st.Sent > 0 && st.Untagged == st.Sent {
			st.untagged()
		}
		if slices.Contains(a.SentOnly, st.Name) {
			st.sentOnly()
		}
		st.tester(a.Tester)
		t.Streams = append(t.Streams, st)
	}
	for _, p := range r.Ports {
		q := TrialPort{Name: p.Name, Missed: p.Missed, TxError: p.TxError, Down: p.Down, Foreign: make([]Foreign, 0, len(p.Foreign))}
		if p.Line.Told {
			q.Pauses, q.Broken = new(p.Line.Pauses), new(p.Line.Broken)
		}
		for _, f := range p.Foreign {
			q.Foreign = append(q.Foreign, Foreign(f))
		}
		t.Ports = append(t.Ports, q)
	}
	t.offer(s)
	return t
}

// intend notes the load that was asked for.
func (t *Trial) intend(s trial.Spec) {
	peak := 0.0
	for _, p := range s.Load {
		peak = max(peak, p.Load)
	}
	switch {
	case math.IsInf(peak, 1):
		t.IntendedText = "max"
	case s.Unit == trial.WireBits:
		t.IntendedWireBps = Number(peak)
	case s.Unit == trial.Packets:
		t.IntendedPps = Number(peak)
	case s.Unit == trial.Factor:
		t.IntendedText, t.IntendedFactor = fmt.Sprintf("x%g", peak), Number(peak)
	case s.Unit == trial.Sessions:
		t.IntendedText = fmt.Sprintf("%g sessions/s", peak)
	case s.Unit == trial.Transactions:
		t.IntendedText = fmt.Sprintf("%g transactions/s", peak)
	case s.Unit == trial.Concurrent:
		t.IntendedText = fmt.Sprintf("%g sessions", peak)
	}
}

// untagged forgets what only a tag could tell, unless something was counted all the same.
func (s *TrialStream) untagged() {
	for _, n := range []**int64{&s.Duplicated, &s.Reordered, &s.Late, &s.Corrupt, &s.LatencyCount} {
		if **n == 0 {
			*n = nil
		}
	}
}

// sentOnly forgets what nobody looked for.
func (s *TrialStream) sentOnly() {
	for _, n := range []**int64{&s.Received, &s.ReceivedBytes, &s.ReceivedWire, &s.Lost, &s.Duplicated, &s.Reordered, &s.Late, &s.Corrupt, &s.Surplus, &s.LatencyCount, &s.HalfReceived} {
		*n = nil
	}
	for _, x := range []**float64{&s.LossRatio, &s.ReceivedBps, &s.ReceivedPps, &s.HalfBps, &s.HalfPps} {
		*x = nil
	}
	s.Delay, s.Variation = Delay{}, Variation{}
}

func streamOf(s *trial.Stream, elapsed time.Duration) TrialStream {
	return TrialStream{
		Name: s.Name, Intended: s.Intended, Sent: s.Sent, Received: new(s.Received), Lost: new(s.Lost()), Unsent: s.Unsent(), Untagged: s.Untagged,
		Duplicated: new(s.Duplicated), Reordered: new(s.Reordered), Late: new(s.Late), Corrupt: new(s.Corrupt), Surplus: new(s.Surplus), Skipped: s.Skipped,
		SentBytes: s.SentBytes, ReceivedBytes: new(s.ReceivedBytes), SentWire: s.SentWireBits / 8, ReceivedWire: new(s.RecvWireBits / 8),
		LossRatio: known(s.LossRatio()), UnsentRatio: known(s.UnsentRatio()),
		SentBps: per(s.SentWireBits, elapsed), SentPps: per(s.Sent, elapsed),
		ReceivedBps: per(s.RecvWireBits, elapsed), ReceivedPps: per(s.Received, elapsed),
		HalfBps: per(s.Half.WireBits, s.Half.During), HalfPps: per(s.Half.Packets, s.Half.During),
		HalfReceived: new(s.Half.Packets), HalfNs: int64(s.Half.During),
		LatencyCount: new(s.Latency.Count),
		Delay:        Delay(timesOf(&s.Latency)), Variation: variationOf(s), Lateness: Lateness(timesOf(&s.Lateness)),
		LateRatio: lateRatio(&s.Lateness), LatenessBars: slices.Concat([][2]int64{}, s.Lateness.Bars()),
	}
}

func lateRatio(h *trial.Histogram) *float64 {
	if h.Count == 0 {
		return nil
	}
	return Number(float64(h.Above(lateBy)) / float64(h.Count))
}

// timesOf reads the percentiles that a record keeps.
func timesOf(h *trial.Histogram) Times {
	if h.Count == 0 {
		return Times{}
	}
	p := func(p float64) *int64 {
		ns, _ := h.Percentile(p)
		return &ns
	}
	return Times{MinNs: new(h.Min), P50Ns: p(50), P90Ns: p(90), P99Ns: p(99), P999Ns: p(99.9), MaxNs: new(h.Max)}
}

// per is n per second; nil if no time passed.
func per(n int64, d time.Duration) *float64 {
	if d <= 0 {
		return nil
	}
	return Number(float64(n) / d.Seconds())
}

func known(x float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return Number(x)
}

// SampleOf makes the record of a sample of the trial with that number, which began at start, ns on the run's own time; sentOnly
// as in About.
func SampleOf(number int, start int64, s trial.Sample, sentOnly ...string) *Sample {
	r := &Sample{Trial: number, AtNs: start + int64(s.At), Streams: make([]SampleStream, 0, len(s.Streams))}
	for _, p := range s.Streams {
		st := SampleStream{Name: p.Name, Intended: p.Intended, Sent: p.Sent, SentWire: p.SentWireBits / 8}
		if !slices.Contains(sentOnly, p.Name) {
			st.Received, st.ReceivedWire = new(p.Received), new(p.RecvBits/8)
		}
		r.Streams = append(r.Streams, st)
	}
	return r
}
