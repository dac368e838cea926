package dut

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"loadtest/trial"
	"loadtest/units"
)

// Run carries out a trial of one constant load, in packets or wire bits per second, and keeps what the device remembers: how
// long it has seen this load. It takes no time, and the run's clock moves by the trial's length.
func (m *Model) Run(ctx context.Context, s trial.Spec, see func(trial.Sample)) (trial.Result, error) {
	in, err := m.input(s)
	if err != nil {
		return trial.Result{}, fmt.Errorf("model %s: %w", m.ID, err)
	}
	r := m.begin(in)
	cut := false
	next := s.Interval
	for r.in.TotalUS > 0 {
		if cut = ctx.Err() != nil; cut || !r.slice() {
			break
		}
		if at := r.counted(); see != nil && s.Interval > 0 && at >= next {
			see(m.sample(r, at))
			next = at.Truncate(s.Interval) + s.Interval
		}
	}
	m.trials++
	m.load, m.warm = in.Load, in.WarmUS+r.ElapsedUS
	res := m.result(r)
	res.Cut = cut
	m.now += r.ElapsedUS * 1000
	if cause := context.Cause(ctx); cut && !errors.Is(cause, trial.ErrStop) {
		return res, cause
	}
	return res, nil
}

// input checks a Spec and says it in the model's integers.
func (m *Model) input(s trial.Spec) (in ModelTrial, err error) {
	switch {
	case m.Streams < 0 || m.Streams > 2:
		return in, fmt.Errorf("%d streams: want 1 or 2", m.Streams)
	case m.Cap0 <= 0 && m.Capacity <= 0:
		return in, errors.New("no capacity: want Capacity or Cap0 above 0")
	case s.Duration < time.Microsecond:
		return in, fmt.Errorf("duration %v: want 1µs or more, a model does not wait to be stopped", s.Duration)
	case s.Loops != 0:
		return in, errors.New("loops: a model has no packets to repeat; want a duration")
	case len(s.Load) == 0:
		return in, errors.New("no load: want one point")
	}
	for _, p := range s.Load[1:] {
		if p.Load != s.Load[0].Load {
			return in, fmt.Errorf("load changes from %v to %v: a model takes one constant load", s.Load[0].Load, p.Load)
		}
	}
	frame := 1.0
	switch s.Unit {
	case trial.Packets:
	case trial.WireBits:
		frame = float64(units.WireBits(m.frame()))
	default:
		return in, fmt.Errorf("load in unit %d: a model takes packets or wire bits", s.Unit)
	}
	// The pre-roll ends with a slice, so that the counted time is as long as asked for.
	preroll := (s.Preroll.Microseconds() + modelSlice - 1) / modelSlice * modelSlice
	in = ModelTrial{PrerollUS: preroll, TotalUS: preroll + s.Duration.Microseconds(), RunSeed: m.RunSeed, Index: m.trials,
		AbortLimit: s.StopAt - 1, Spare: s.Spare}
	for i := range max(m.Streams, 1) {
		share := 1.0
		if f, ok := s.Share[m.name(i)]; ok {
			share = f
		}
		pps := math.Floor(s.Load[0].Load*share/frame + 0.5)
		if !(s.Load[0].Load >= 0 && share >= 0 && pps*float64(in.TotalUS) < 1<<62) {
			return in, fmt.Errorf("load %v of %s for %v: want a finite load of 0 or more", s.Load[0].Load, m.name(i), s.Duration)
		}
		in.Load[i] = int64(pps)
	}
	if in.Load == m.load {
		in.WarmUS = m.warm
	}
	return in, nil
}

// counted is the trial's time so far without its pre-roll.
func (r *modelRun) counted() time.Duration {
	return time.Duration(max(0, r.ElapsedUS-r.in.PrerollUS)) * time.Microsecond
}

// received is what came back of stream i. A packet that the generator carried out of the pre-roll can be lost uncounted.
func (r *modelRun) received(i int) int64 { return max(0, r.Sent[i]-r.Lost[i]) }

func (m *Model) sample(r *modelRun, at time.Duration) trial.Sample {
	s := trial.Sample{At: at}
	for i := range r.Streams {
		received := r.received(i)
		s.Streams = append(s.Streams, trial.Progress{Name: m.name(i), Intended: r.Intended[i], Sent: r.Sent[i],
			Received: received, SentWireBits: r.Sent[i] * m.wire(), RecvBits: received * m.wire()})
	}
	return s
}

// result is the trial's books: what still stands in the device's queue at the end comes back.
func (m *Model) result(r *modelRun) trial.Result {
	res := trial.Result{Start: m.now + r.in.PrerollUS*1000, Elapsed: r.counted(), Stopped: r.Stopped}
	for i := range r.Streams {
		sent, received, half := r.Sent[i], r.received(i), r.served[i]
		bytes := int64(m.frame())
		res.Streams = append(res.Streams, trial.Stream{
			Name: m.name(i), Intended: r.Intended[i], Sent: sent, Received: received,
			SentBytes: sent * bytes, ReceivedBytes: received * bytes,
			SentWireBits: sent * m.wire(), RecvWireBits: received * m.wire(),
			Half: trial.Arrivals{Packets: half, Bytes: half * bytes, WireBits: half * m.wire(),
				During: time.Duration(max(0, r.ElapsedUS-r.halfSlice())) * time.Microsecond},
		})
	}
	return res
}

func (m *Model) frame() int {
	if m.FrameSize == 0 {
		return units.MinFrame
	}
	return m.FrameSize
}

func (m *Model) wire() int64 { return units.WireBits(m.frame()) }

func (m *Model) name(i int) string {
	if i < len(m.Names) {
		return m.Names[i]
	}
	return fmt.Sprintf("stream%d", i+1)
}
