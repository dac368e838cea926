package replay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"loadtest/internal/clock"
	"loadtest/nic"
	"loadtest/nic/mem"
	"loadtest/packet"
	"loadtest/trial"
)

// A plain port sends and receives, and waits for the clock.
type plain struct{ nic.Port }

// bench is two ports at a wire in memory that spoils packets by number, with or without abilities of their own.
func bench(plays, classifies bool) (map[string]nic.Device, *playing) {
	a, b := mem.New(mem.Options{Slots: 1 << 14, AB: mem.First(mem.Every(1000, mem.Drop), mem.Every(777, mem.Twice), mem.Every(501, mem.Swap))})
	a.Queues[0], b.Queues[0] = plain{a.Queues[0]}, plain{b.Queues[0]}
	p := &playing{Port: a.Queues[0]}
	if plays {
		a.Queues[0] = p
	}
	if classifies {
		b.Queues[0] = &playing{Port: b.Queues[0]}
	}
	return map[string]nic.Device{"a": a, "b": b}, p
}

// lengths is a store of tagged packets of several lengths.
func lengths() *packet.Store {
	s := &packet.Store{}
	for _, size := range []int{60, 590, 60, 1514, 61} {
		s.Append(udp(1, size, true).Frame(0).Data, int64(s.Len())*1e5, size)
	}
	return s
}

// What a port sends by a plan, or counts by itself, ends in the same result as what is sent and received packet by packet.
func TestPlayedIsTheSame(t *testing.T) {
	for _, tt := range []struct {
		name string
		spec trial.Spec
	}{
		{"packets", trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 100e3}}, Duration: 100 * time.Millisecond}},
		{"bits, with a pre-roll", trial.Spec{Load: []trial.Point{{Load: 1e8}}, Duration: 100 * time.Millisecond, Preroll: 20 * time.Millisecond}},
		{"captured pace", trial.Spec{Unit: trial.Factor, Load: []trial.Point{{Load: 1.5}}, Duration: 100 * time.Millisecond}},
		{"loops", trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 100e3}}, Loops: 700}},
		{"shares", trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 100e3}}, Duration: 100 * time.Millisecond, Share: map[string]float64{"two": 0.25}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var want trial.Result
			for _, way := range []struct{ plays, classifies bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
				ports, p := bench(way.plays, way.classifies)
				res := run(t, Options{Clock: clock.NewReal(), Ports: ports, Credit: time.Second, Streams: []Stream{
					{Name: "one", Packets: lengths(), TX: "a", RX: "b"}, {Name: "two", Packets: udp(100, 60, true), TX: "a", RX: "b"}}}, tt.spec)
				if way.plays != (p.played > 0) {
					t.Errorf("%v: %d packets were played", way, p.played)
				}
				if want.Streams == nil {
					want = res
				}
				if !way.plays { // packets of two lanes that are due at once may go out in either order
					compare(t, fmt.Sprint(way), res, want)
				} else {
					compareSums(t, fmt.Sprint(way), res, want)
				}
			}
		})
	}
}

// compare holds two results of the same trial against each other, stream by stream.
func compare(t *testing.T, way string, got, want trial.Result) {
	t.Helper()
	for i := range want.Streams {
		g, w := books(&got.Streams[i]), books(&want.Streams[i])
		if g != w {
			t.Errorf("%s: stream %s: %+v\nwant %+v", way, want.Streams[i].Name, g, w)
		}
	}
	compareSums(t, way, got, want)
}

func compareSums(t *testing.T, way string, got, want trial.Result) {
	t.Helper()
	for name, of := range map[string]func(*trial.Stream) int64{
		"intended": func(s *trial.Stream) int64 { return s.Intended }, "sent": func(s *trial.Stream) int64 { return s.Sent },
		"lost": (*trial.Stream).Lost, "duplicated": func(s *trial.Stream) int64 { return s.Duplicated },
		"late": func(s *trial.Stream) int64 { return s.Lateness.Count - s.Sent }, "timed": func(s *trial.Stream) int64 { return s.Latency.Count - s.Received },
		"surplus": func(s *trial.Stream) int64 { return s.Surplus + s.Late + s.Corrupt }, "bytes": func(s *trial.Stream) int64 { return s.SentBytes },
		"wire bits": func(s *trial.Stream) int64 { return s.SentWireBits },
	} {
		if g, w := got.Sum(of), want.Sum(of); g != w {
			t.Errorf("%s: %s %d, want %d", way, name, g, w)
		}
	}
	if d := got.Elapsed - want.Elapsed; d < -time.Microsecond || d > time.Microsecond {
		t.Errorf("%s: elapsed %v, want %v", way, got.Elapsed, want.Elapsed)
	}
}

type book struct{ Intended, Sent, Received, Duplicated, Reordered, Bytes, WireBits, RecvBytes, RecvBits int64 }

func books(s *trial.Stream) book {
	return book{s.Intended, s.Sent, s.Received, s.Duplicated, s.Reordered, s.SentBytes, s.SentWireBits, s.ReceivedBytes, s.RecvWireBits}
}

// A port may pass on what it does not understand: both together are the books, and what one of them did not see is not missing.
func TestClassifiedInPart(t *testing.T) {
	a, b := mem.New(mem.Options{Slots: 1 << 14})
	a.Queues[0], b.Queues[0] = plain{a.Queues[0]}, &playing{Port: plain{b.Queues[0]}, passes: 3}
	res := run(t, Options{Clock: clock.NewReal(), Ports: map[string]nic.Device{"a": a, "b": b}, Credit: time.Second,
		Streams: []Stream{{Name: "s", Packets: lengths(), TX: "a", RX: "b"}}},
		trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 100e3}}, Duration: 300 * time.Millisecond, StopAt: 1})
	s := &res.Streams[0]
	if s.Sent != 30000 || s.Lost() != 0 || s.Latency.Count != 30000 || s.ReceivedBytes != s.SentBytes || s.RecvWireBits != s.SentWireBits || res.Stopped {
		t.Errorf("sent %d, lost %d, %d times, %d of %d bytes, stopped %v", s.Sent, s.Lost(), s.Latency.Count, s.ReceivedBytes, s.SentBytes, res.Stopped)
	}
}

// What the driver refuses has a number, and is unsent all the same: never lost, and no reason to end a trial early as lost.
func TestRefusedIsUnsent(t *testing.T) {
	a, b := mem.Pair(1 << 14)
	a.Queues[0], b.Queues[0] = plain{a.Queues[0]}, plain{b.Queues[0]}
	p := &playing{Port: a.Queues[0], refuse: func(n int) bool { return n%10 == 3 }}
	a.Queues[0] = p
	res := run(t, Options{Clock: clock.NewReal(), Ports: map[string]nic.Device{"a": a, "b": b}, Streams: []Stream{{Name: "s", Packets: lengths(), TX: "a", RX: "b"}}},
		trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 100e3}}, Duration: 300 * time.Millisecond, StopAt: 1, Spare: 1e6})
	s := &res.Streams[0]
	if s.Intended != 30000 || s.Sent+s.Unsent() != 30000 || s.Unsent() < 3000 || s.Lost() != 0 || res.Stopped {
		t.Errorf("intended %d, sent %d, lost %d, stopped %v; want 30000, about 27000, 0, false", s.Intended, s.Sent, s.Lost(), res.Stopped)
	}
}

// What a port does not play goes out packet by packet.
func TestNotPlayed(t *testing.T) {
	packets := trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 10e3}}, Duration: 20 * time.Millisecond}
	slope := packets
	slope.Load = []trial.Point{{Load: 5e3}, {At: 20 * time.Millisecond, Load: 15e3}}
	for _, tt := range []struct {
		name string
		no   error
		room bool
		spec trial.Spec
	}{
		{"the port says so", fmt.Errorf("too long: %w", nic.ErrNotPlayed), true, packets},
		{"matched by flow", nil, false, packets},
		{"a slope", nil, true, slope},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ports, p := bench(true, false)
			p.no = tt.no
			r, err := New(Options{Clock: clock.NewReal(), Ports: ports, Credit: time.Second, Streams: []Stream{{Name: "s", Packets: udp(9, 60, tt.room), TX: "a", RX: "b"}}})
			if err != nil {
				t.Fatal(err)
			}
			res, err := r.Run(t.Context(), tt.spec, nil)
			if why := r.NotPlayed()["a"]; err != nil || why != tt.no {
				t.Errorf("error %v, not played for %v; want %v", err, why, tt.no)
			}
			if s := &res.Streams[0]; p.played != 0 || s.Sent < 199 || s.Sent > 200 {
				t.Errorf("%d played, %d sent; want 0, 200", p.played, s.Sent)
			}
		})
	}
}

func TestPlayerFails(t *testing.T) {
	ports, p := bench(true, true)
	p.no = errors.New("out of memory")
	o := Options{Clock: clock.NewReal(), Ports: ports, Streams: []Stream{{Name: "s", Packets: udp(9, 60, true), TX: "a", RX: "b"}}}
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	flat := trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 10e3}}, Duration: time.Second}
	if _, err := r.Run(t.Context(), flat, nil); err == nil || err.Error() != "a: out of memory" {
		t.Errorf("error %v, want a: out of memory", err)
	}
	p.no, p.gone = nil, 50
	res, err := r.Run(t.Context(), flat, nil)
	if s := &res.Streams[0]; !errors.Is(err, nic.ErrClosed) || s.Sent != 50 || s.Lost() != 0 {
		t.Errorf("error %v, %d sent, %d lost; want a closed port, 50, 0", err, s.Sent, s.Lost())
	}
}

// Stopped and cut, a played trial's books are whole, and only the time counts in which it was played.
func TestPlayedEndsEarly(t *testing.T) {
	for _, cause := range []error{trial.ErrStop, context.Canceled} {
		ports, _ := bench(true, true)
		r, err := New(Options{Clock: clock.NewReal(), Ports: ports, Credit: time.Second, Streams: []Stream{{Name: "s", Packets: udp(9, 60, true), TX: "a", RX: "b"}}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		res, _ := r.Run(ctx, trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 100e3}}, Interval: 5 * time.Millisecond}, func(s trial.Sample) {
			if s.Streams[0].Sent > 1000 {
				cancel(cause)
			}
		})
		s := &res.Streams[0]
		if want := s.Sent / 100; s.Unsent() != 0 || s.Sent < 1000 || res.Elapsed.Microseconds()/1000 < want-1 || res.Elapsed.Microseconds()/1000 > want+1 {
			t.Errorf("%v: %d sent and %d unsent in %v", cause, s.Sent, s.Unsent(), res.Elapsed)
		}
		if lost := s.Sent / 1000; cause == trial.ErrStop && (s.Lost() < lost || s.Lost() > lost+1) {
			t.Errorf("%d of %d lost, want %d", s.Lost(), s.Sent, lost)
		}
	}
}

// As fast as the port takes them: all that is intended is sent, whatever it refuses.
func TestPlayedUnpaced(t *testing.T) {
	ports, p := bench(true, true)
	res := run(t, Options{Clock: clock.NewReal(), Ports: ports, Streams: []Stream{{Name: "s", Packets: udp(9, 60, true), TX: "a", RX: "b"}}},
		trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: math.Inf(1)}}, Duration: 20 * time.Millisecond})
	if s := &res.Streams[0]; s.Sent == 0 || s.Unsent() != 0 || p.played == 0 || s.Lost() > s.Sent/1000+1 {
		t.Errorf("%d sent, %d unsent, %d lost, %d played", s.Sent, s.Unsent(), s.Lost(), p.played)
	}
}
