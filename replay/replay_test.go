package replay

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"loadtest/internal/clock"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/trial"
	"loadtest/units"
)

// A wire carries every frame from one port to another and does to it what fate says: -1 lost, else how many arrive.
type wire struct {
	fate  func(n int, f packet.Frame) int
	delay int64
	n     int
	queue []packet.Frame
}

type end struct {
	out, in *wire
	lent    int
}

func (e *end) Send(frames []packet.Frame) (int, error) {
	for _, f := range frames {
		n := 1
		if e.out.fate != nil {
			n = e.out.fate(e.out.n, f)
		}
		e.out.n++
		for range n {
			e.out.queue = append(e.out.queue, packet.Frame{Data: append([]byte(nil), f.Data...), Nanos: f.Nanos + e.out.delay})
		}
	}
	return len(frames), nil
}

func (e *end) Recv(frames []packet.Frame) (int, error) {
	n := copy(frames, e.in.queue)
	e.in.queue = e.in.queue[n:]
	return n, nil
}

func (e *end) Close() error { return nil }

// pair is two ports on a wire each way.
func pair(there, back *wire) map[string]nic.Device {
	info := nic.Info{LineRate: 1 * units.Gbps, MTU: 1500, MaxFrame: 1514}
	return map[string]nic.Device{
		"a": {Info: info, Queues: []nic.Port{&end{out: there, in: back}}},
		"b": {Info: info, Queues: []nic.Port{&end{out: back, in: there}}},
	}
}

// udp is a store of n UDP packets of so many bytes, each of its own flow; room: with zeros where the tag goes.
func udp(n, size int, room bool) *packet.Store {
	s := &packet.Store{}
	for i := range n {
		b := make([]byte, size)
		copy(b, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0})
		ip := size - 14
		b[16], b[17], b[22], b[23] = byte(ip>>8), byte(ip), 64, 17
		copy(b[26:], []byte{198, 18, 0, 1, 198, 19, byte(i >> 8), byte(i), 0, 7, 0, 9, byte((ip - 20) >> 8), byte(ip - 20)})
		if !room {
			b[size-1] = 7
		}
		s.Append(b, int64(i)*1e6, size)
	}
	return s
}

func run(t *testing.T, o Options, s trial.Spec) trial.Result {
	t.Helper()
	if o.Clock == nil {
		o.Clock = clock.NewVirtual()
	}
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Run(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestCleanTrialIsExact(t *testing.T) {
	for _, tt := range []struct {
		name string
		room bool
	}{{"tagged", true}, {"by flow", false}} {
		t.Run(tt.name, func(t *testing.T) {
			res := run(t, Options{Ports: pair(&wire{delay: 5000}, &wire{}),
				Streams: []Stream{{Name: "a", Packets: udp(3, 60, tt.room), TX: "a", RX: "b"}}}, trial.Flat(672e5, time.Second))
			s := res.Streams[0]
			if s.Intended != 1e5 || s.Sent != 1e5 || s.Received != 1e5 || s.Lost() != 0 || s.Unsent() != 0 {
				t.Errorf("intended %d, sent %d, received %d; want 100000 each", s.Intended, s.Sent, s.Received)
			}
			if res.Elapsed != time.Second || s.SentWireBits != 672e5 || s.RecvWireBits != 672e5 {
				t.Errorf("elapsed %v, wire bits %d and %d; want 1s and 67200000", res.Elapsed, s.SentWireBits, s.RecvWireBits)
			}
			if s.Half.Packets != 5e4 || s.Half.During != time.Second/2 {
				t.Errorf("second half: %d packets in %v, want 50000 in 500ms", s.Half.Packets, s.Half.During)
			}
			if tt.room && (s.Latency.Min != 5000 || s.Latency.Max != 5000 || s.Untagged != 0) {
				t.Errorf("latency %d..%d ns, untagged %d; want 5000 and 0", s.Latency.Min, s.Latency.Max, s.Untagged)
			}
			if !tt.room && (s.Untagged != 1e5 || s.Latency.Count != 0) {
				t.Errorf("untagged %d, latencies %d; want 100000 and none", s.Untagged, s.Latency.Count)
			}
		})
	}
}

func TestDropsAndCopiesAreCountedToThePacket(t *testing.T) {
	for _, tt := range []struct {
		name string
		room bool
	}{{"tagged", true}, {"by flow", false}} {
		t.Run(tt.name, func(t *testing.T) {
			w := &wire{fate: func(n int, _ packet.Frame) int {
				switch {
				case n%1000 == 999:
					return 0
				case n%500 == 7:
					return 2
				}
				return 1
			}}
			res := run(t, Options{Ports: pair(w, &wire{}),
				Streams: []Stream{{Name: "a", Packets: udp(1000, 60, tt.room), TX: "a", RX: "b"}}},
				trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 50000}}, Duration: time.Second})
			s := res.Streams[0]
			if s.Sent != 50000 || s.Lost() != 50 {
				t.Errorf("sent %d, lost %d; want 50000 and 50", s.Sent, s.Lost())
			}
			if tt.room && s.Duplicated != 100 || !tt.room && s.Surplus != 100 {
				t.Errorf("duplicated %d, surplus %d; want 100 copies", s.Duplicated, s.Surplus)
			}
		})
	}
}

func TestEarlyStop(t *testing.T) {
	w := &wire{fate: func(n int, _ packet.Frame) int {
		if n == 1000 {
			return 0
		}
		return 1
	}}
	res := run(t, Options{Ports: pair(w, &wire{}), Streams: []Stream{{Name: "a", Packets: udp(1, 60, true), TX: "a", RX: "b"}}},
		trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 1e6}}, Duration: time.Second, StopAt: 1})
	s := res.Streams[0]
	if !res.Stopped || s.Lost() != 1 || s.Sent > 10000 || s.Unsent() != 0 {
		t.Errorf("stopped %v, sent %d, lost %d, unsent %d; want an end soon after 5096 packets with 1 lost", res.Stopped, s.Sent, s.Lost(), s.Unsent())
	}
}

func TestPrerollIsNotCounted(t *testing.T) {
	res := run(t, Options{Ports: pair(&wire{delay: 7000}, &wire{}), Streams: []Stream{{Name: "a", Packets: udp(1, 60, true), TX: "a", RX: "b"}}},
		trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 1e5}}, Duration: time.Second / 10, Preroll: time.Second, StopAt: 1})
	s := res.Streams[0]
	if s.Intended != 1e4 || s.Sent != 1e4 || s.Received != 1e4 || s.Late != 0 || res.Elapsed != time.Second/10 || res.Stopped {
		t.Errorf("intended %d, sent %d, received %d, late %d in %v, stopped %v; want 10000 each, 0 late, in 100ms", s.Intended, s.Sent, s.Received, s.Late, res.Elapsed, res.Stopped)
	}
}

func TestLoopsEndWhereTheNextPacketWouldBeDue(t *testing.T) {
	res := run(t, Options{Ports: pair(&wire{}, &wire{}), Streams: []Stream{{Name: "a", Packets: udp(5, 60, true), TX: "a", RX: "b"}}},
		trial.Spec{Unit: trial.Factor, Load: []trial.Point{{Load: 2}}, Loops: 3})
	if s := res.Streams[0]; s.Sent != 15 || s.Received != 15 || res.Elapsed != 15*time.Millisecond/2 {
		t.Errorf("sent %d, received %d in %v; want 15 in 7.5ms", s.Sent, s.Received, res.Elapsed)
	}
}

// One pass has the length of its schedule, whatever a burst of the sender is.
func TestOnePassIsAsLongAsItsSchedule(t *testing.T) {
	for _, tt := range []struct {
		name  string
		n     int
		unit  trial.Unit
		load  float64
		wants time.Duration
	}{
		{"10 packets at their pace", 10, trial.Factor, 1, 10 * time.Millisecond},
		{"4 packets at 100 Mbit/s", 4, trial.WireBits, 100e6, 26880},
		{"64 packets as fast as 1 Gbit/s takes them", 64, trial.WireBits, math.Inf(1), 43008},
	} {
		res := run(t, Options{Ports: pair(&wire{}, &wire{}), Streams: []Stream{{Name: "a", Packets: udp(tt.n, 60, true), TX: "a", RX: "b"}}},
			trial.Spec{Unit: tt.unit, Load: []trial.Point{{Load: tt.load}}, Loops: 1})
		if s := res.Streams[0]; s.Sent != int64(tt.n) || res.Elapsed != tt.wants {
			t.Errorf("%s: %d in %v, want %d in %v", tt.name, s.Sent, res.Elapsed, tt.n, tt.wants)
		}
	}
}

// What a copy of an earlier run, or of another tester, claims to be is not received: loss is never negative.
func TestForgedPacketsAreNotReceived(t *testing.T) {
	o := Options{Clock: clock.NewVirtual(), Ports: pair(&wire{}, &wire{}), Streams: []Stream{{Name: "a", Packets: udp(1, 60, true), TX: "a", RX: "b"}}}
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	forged := udp(1, 60, true).Frame(0).Data
	w := o.Ports["a"].Queues[0].(*end).out
	w.fate = func(n int, f packet.Frame) int {
		if n == 500 {
			for seq := range uint32(3000) {
				tag := packet.Tag{Magic: r.lanes[0].magic, Lane: 0, Trial: 1, Seq: 5000 + seq, Nanos: f.Nanos}
				b := append([]byte(nil), forged...)
				tag.Put(b[42:])
				w.queue = append(w.queue, packet.Frame{Data: b, Nanos: f.Nanos})
			}
		}
		return 1
	}
	res, err := r.Run(t.Context(), trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 1e5}}, Duration: 10 * time.Millisecond, StopAt: 1}, nil)
	if s := res.Streams[0]; err != nil || s.Sent != 1000 || s.Lost() != 0 || s.Surplus != 3000 || s.Duplicated != 0 || res.Stopped {
		t.Errorf("sent %d, lost %d, surplus %d, duplicated %d, stopped %v: %v; want 1000, 0, 3000, 0, false", s.Sent, s.Lost(), s.Surplus, s.Duplicated, res.Stopped, err)
	}
}

func TestStopAndCut(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cause error
		want  error
		cut   bool
	}{
		{"stop", trial.ErrStop, nil, false},
		{"cut", errors.New("second Ctrl-C"), errors.New("second Ctrl-C"), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := New(Options{Clock: clock.NewVirtual(), Ports: pair(&wire{}, &wire{}), Streams: []Stream{{Name: "a", Packets: udp(5, 60, true), TX: "a", RX: "b"}}})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancelCause(context.Background())
			spec := trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 1e5}}, Interval: time.Second / 10}
			res, err := r.Run(ctx, spec, func(s trial.Sample) {
				if s.At >= time.Second {
					cancel(tt.cause)
					time.Sleep(20 * time.Millisecond) // the cancelling runs in a goroutine of its own
				}
			})
			if (err == nil) != (tt.want == nil) || err != nil && err.Error() != tt.want.Error() {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if s := res.Streams[0]; s.Sent < 1e5 || res.Cut != tt.cut || s.Unsent() != 0 || !tt.cut && s.Lost() != 0 {
				t.Errorf("sent %d, unsent %d, lost %d, cut %v", s.Sent, s.Unsent(), s.Lost(), res.Cut)
			}
		})
	}
}

// A trial longer than 2^32 packets: sequence numbers begin again, counts do not.
func TestSequencesPastFourBillion(t *testing.T) {
	lost := 0
	w := &wire{delay: 5000, fate: func(n int, _ packet.Frame) int {
		switch {
		case n%100 == 99:
			lost++
			return 0
		case n%100 == 7:
			return 2
		}
		return 1
	}}
	o := Options{Clock: clock.NewVirtual(), Ports: pair(w, &wire{}), Streams: []Stream{{Name: "a", Packets: udp(3, 60, true), TX: "a", RX: "b"}}}
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.begin(t.Context(), trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 1e6}}, Duration: 20 * time.Millisecond, Drain: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	l := r.lanes[0]
	const before = 1<<32 - 10000
	l.counting, l.next, l.back.Limit = true, before, before
	for seq := uint64(1 << 30); seq < before; seq += 1 << 30 { // as if all up to there had come
		l.back.See(uint32(seq))
	}
	l.back.See(before - 1)
	seen := l.back.Received
	missing := l.back.Missing
	if err := o.Clock.Run(t.Context(), r.senders[0], r.receivers[0]); err != nil {
		t.Fatal(err)
	}
	if b := l.back; l.sent.Sent != 20000 || b.Received-seen != 20000-int64(lost) || b.Duplicated != 200 || b.Reordered != 0 || b.TooOld != 0 || l.next != before+20000 {
		t.Errorf("sent %d, received %d, duplicated %d, reordered %d, too old %d; want 20000, %d, 200, 0, 0",
			l.sent.Sent, b.Received-seen, b.Duplicated, b.Reordered, b.TooOld, 20000-lost)
	}
	// Of the lost ones those behind the horizon, and the 4095 before the first.
	if n := l.back.Missing - missing; n < int64(lost)-50+4095 || n > int64(lost)+4095 {
		t.Errorf("%d missing, %d lost", n, lost)
	}
}

// What a running trial shows counts packets that are matched by flow too.
func TestSamplesOfUntaggedPackets(t *testing.T) {
	r, err := New(Options{Clock: clock.NewVirtual(), Ports: pair(&wire{}, &wire{}), Streams: []Stream{{Name: "a", Packets: udp(3, 60, false), TX: "a", RX: "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	var last trial.Progress
	spec := trial.Flat(672e5, time.Second)
	spec.Interval = time.Second / 10
	if _, err := r.Run(t.Context(), spec, func(s trial.Sample) { last = s.Streams[0] }); err != nil {
		t.Fatal(err)
	}
	if last.Received < last.Sent-100 || last.RecvBits < last.SentWireBits-67200 || last.Sent < 89000 {
		t.Errorf("the last sample says sent %d, received %d, %d of %d bits", last.Sent, last.Received, last.RecvBits, last.SentWireBits)
	}
}

func TestDrainDoublesOnceATrialAndNeverShrinks(t *testing.T) {
	for _, tt := range []struct{ drain, want time.Duration }{{0, 2 * Drain}, {1500 * time.Millisecond, maxDrain}, {5 * time.Second, 5 * time.Second}} {
		w := &wire{}
		o := Options{Drain: tt.drain, Clock: clock.NewVirtual(), Ports: pair(w, &wire{})}
		for _, name := range []string{"a", "b", "c"} {
			o.Streams = append(o.Streams, Stream{Name: name, Packets: udp(1, 60, true), TX: "a", RX: "b"})
		}
		r, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		var kept []packet.Frame
		w.fate = func(n int, f packet.Frame) int {
			if n < 30 {
				kept = append(kept, packet.Frame{Data: append([]byte(nil), f.Data...)})
			} else if n == 4000 {
				w.queue = append(w.queue, kept...)
			}
			return 1
		}
		for range 2 {
			if _, err := r.Run(t.Context(), trial.Flat(672e5, 10*time.Millisecond), nil); err != nil {
				t.Fatal(err)
			}
		}
		if r.drain != tt.want {
			t.Errorf("drain %v became %v, want %v", tt.drain, r.drain, tt.want)
		}
	}
}
