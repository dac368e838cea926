package report

import (
	"time"

	"loadtest/trial"
)

// ResultOf is the Result that a record was made of, as far as a search reads it: without histograms.
func ResultOf(t *Trial) trial.Result {
	r := trial.Result{Start: t.StartNs, Elapsed: time.Duration(t.DurationNs), Stopped: t.Stopped, Cut: t.Cut,
		Stolen: time.Duration(t.StolenNs), Suspended: time.Duration(t.SuspendedNs), Starved: time.Duration(t.DiskWaitNs)}
	for i := range t.Streams {
		s := &t.Streams[i]
		r.Streams = append(r.Streams, trial.Stream{
			Name: s.Name, Intended: s.Intended, Sent: s.Sent, Received: value(s.Received), Untagged: s.Untagged,
			SentBytes: s.SentBytes, ReceivedBytes: value(s.ReceivedBytes), SentWireBits: 8 * s.SentWire, RecvWireBits: 8 * value(s.ReceivedWire),
			Duplicated: value(s.Duplicated), Reordered: value(s.Reordered), Late: value(s.Late), Corrupt: value(s.Corrupt), Surplus: value(s.Surplus),
			Skipped: s.Skipped, Half: trial.Arrivals{Packets: value(s.HalfReceived), During: time.Duration(s.HalfNs)},
		})
	}
	for i := range t.Ports {
		p := &t.Ports[i]
		q := trial.Port{Name: p.Name, Missed: p.Missed, TxError: p.TxError, Down: p.Down}
		if p.Pauses != nil || p.Broken != nil {
			q.Line = trial.Line{Told: true, Pauses: value(p.Pauses), Broken: value(p.Broken)}
		}
		r.Ports = append(r.Ports, q)
	}
	return r
}

// SpecOf is the Spec that a record was made for, of one constant load. ok is false if there was none.
func SpecOf(t *Trial) (s trial.Spec, ok bool) {
	s.Preroll = time.Duration(t.PrerollNs)
	if t.AskedNs != nil {
		s.Duration = time.Duration(*t.AskedNs)
	}
	load := 0.0
	switch {
	case t.IntendedWireBps != nil:
		load = *t.IntendedWireBps
	case t.IntendedPps != nil:
		s.Unit, load = trial.Packets, *t.IntendedPps
	case t.IntendedFactor != nil:
		s.Unit, load = trial.Factor, *t.IntendedFactor
	default:
		return s, false
	}
	s.Load = []trial.Point{{Load: load}}
	return s, true
}
