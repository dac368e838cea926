package replay_test

import (
	"context"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"loadtest/internal/clock"
	"loadtest/nic"
	"loadtest/nic/mem"
	"loadtest/packet"
	"loadtest/replay"
	"loadtest/trial"
)

// Both directions over a wire in memory, in real time, as in use: books balance, samples come, nothing is left running.
func TestRealTime(t *testing.T) {
	for _, tt := range []struct {
		name string
		spin bool
		load float64
		d    time.Duration
		end  error // ended by it, after some samples
	}{
		{"paced", false, 20000, 100 * time.Millisecond, nil},
		{"paced, spinning", true, 20000, 100 * time.Millisecond, nil},
		{"as fast as possible", false, math.Inf(1), 50 * time.Millisecond, nil},
		{"until stopped", false, 20000, 0, trial.ErrStop},
		{"cut", false, 20000, 0, context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			c := clock.NewReal()
			c.Spin = tt.spin
			x, y := mem.Pair(4096)
			r, err := replay.New(replay.Options{Clock: c, Spin: tt.spin, Ports: map[string]nic.Device{"x": x, "y": y}, Credit: time.Second,
				Drain: time.Second, Streams: []replay.Stream{{Name: "there", Source: "made", Packets: store(100, 60), TX: "x", RX: "y"},
					{Name: "back", Source: "made", Packets: store(100, 200), TX: "y", RX: "x"}, {Name: "more", Source: "made", Packets: store(7, 90), TX: "x", RX: "y"}}})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			defer time.AfterFunc(20*time.Second, func() { cancel(context.DeadlineExceeded) }).Stop()
			var samples atomic.Int64
			var last int64
			res, err := r.Run(ctx, trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: tt.load}}, Duration: tt.d, Interval: 10 * time.Millisecond},
				func(s trial.Sample) {
					n, least := s.Streams[0].Sent, int64(math.MaxInt64)
					for _, p := range s.Streams {
						least = min(least, p.Sent)
					}
					if samples.Add(1) >= 3 && tt.end != nil && least > 0 {
						cancel(tt.end)
					}
					if len(s.Streams) != 3 || n < last {
						t.Errorf("a sample of %d streams; sent %d, then %d", len(s.Streams), last, n)
					}
					last = n
				})
			cut := tt.end != nil && tt.end != trial.ErrStop
			if cut != (err != nil) || cut != res.Cut {
				t.Errorf("error %v, cut %v", err, res.Cut)
			}
			if samples.Load() == 0 && tt.end != nil || len(res.Streams) != 3 { // a short trial may be over before the first
				t.Errorf("%d samples, %d streams", samples.Load(), len(res.Streams))
			}
			for _, s := range res.Streams {
				if want := int64(tt.load / 10); tt.end == nil && !math.IsInf(tt.load, 1) && s.Intended != want {
					t.Errorf("%s: intended %d, want %d", s.Name, s.Intended, want)
				}
				if s.Sent == 0 || s.Unsent() < 0 || s.Lost() < 0 || !cut && s.Lost() > 0 || s.Lateness.Count != s.Sent || s.Latency.Count != s.Received {
					t.Errorf("%s: intended %d, sent %d, received %d; late %d, timed %d", s.Name, s.Intended, s.Sent, s.Received, s.Lateness.Count, s.Latency.Count)
				}
			}
			for range 100 {
				if runtime.NumGoroutine() <= before {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		})
	}
}

// A flood is a port at which foreign frames never cease to come.
type flood struct{ nic.Port }

func (f flood) Recv(frames []packet.Frame) (int, error) {
	foreign := make([]byte, 60)
	for i := range frames {
		frames[i] = packet.Frame{Data: foreign}
	}
	return len(frames), nil
}

// However many foreign frames come, a trial ends.
func TestFloodDoesNotPutTheEndOff(t *testing.T) {
	x, y := mem.Pair(64)
	y.Queues[0] = flood{y.Queues[0]}
	r, err := replay.New(replay.Options{Clock: clock.NewReal(), Ports: map[string]nic.Device{"x": x, "y": y},
		Streams: []replay.Stream{{Name: "s", Source: "made", Packets: store(10, 60), TX: "x", RX: "y"}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	res, err := r.Run(ctx, trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 1000}}, Duration: 50 * time.Millisecond}, nil)
	if s := &res.Streams[0]; err != nil || s.Received != 0 || res.Foreign() == 0 {
		t.Errorf("error %v, received %d, foreign %d", err, s.Received, res.Foreign())
	}
}

// A stall is a port whose receiver stands still once, for longer than a drain.
type stall struct {
	nic.Port
	seen int
	done bool
}

func (s *stall) Recv(frames []packet.Frame) (int, error) {
	n, err := s.Port.Recv(frames)
	if s.seen += n; s.seen > 100 && !s.done {
		s.done = true
		time.Sleep(150 * time.Millisecond)
	}
	return n, err
}

// What arrived in time and was read late is not lost.
func TestReceiverThatStoodStill(t *testing.T) {
	x, y := mem.Pair(1 << 13)
	y.Queues[0] = &stall{Port: y.Queues[0]}
	r, err := replay.New(replay.Options{Clock: clock.NewReal(), Ports: map[string]nic.Device{"x": x, "y": y}, Credit: time.Second, Drain: 30 * time.Millisecond,
		Streams: []replay.Stream{{Name: "s", Source: "made", Packets: store(10, 60), TX: "x", RX: "y"}}})
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Run(t.Context(), trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 40e3}}, Duration: 100 * time.Millisecond}, nil)
	if s := &res.Streams[0]; err != nil || s.Sent != 4000 || s.Lost() != 0 {
		t.Errorf("error %v, sent %d, lost %d; want 4000, 0", err, s.Sent, s.Lost())
	}
}
