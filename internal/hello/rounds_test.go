package hello_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"loadtest/internal/clock"
	"loadtest/internal/hello"
	"loadtest/nic"
	"loadtest/nic/mem"
	"loadtest/packet"
)

// TestRounds has devices that are not there at once. A round of 4 packets takes 3 ms, and the next begins a second later.
func TestRounds(t *testing.T) {
	const ms = int64(time.Millisecond)
	drop := func(string, []byte, int64) []out { return nil }
	for _, tt := range []struct {
		name    string
		do      func(string, []byte, int64) []out
		wait    time.Duration
		elapsed time.Duration
		rounds  float64
		lines   string
	}{
		{"at once", wire, 10 * time.Second, 3 * time.Millisecond, 1, "a→b 4 of 4 back, b→a 4 of 4 back; bridged: nothing changed"},
		{"silent for 3 s", func(in string, b []byte, now int64) []out {
			if now < 3000*ms {
				return nil
			}
			return wire(in, b, now)
		}, 10 * time.Second, 3012 * time.Millisecond, 4, "a→b 4 of 4 back, b→a 4 of 4 back; bridged: nothing changed"},
		{"silent for 3 s, from one side for 5 s", func(in string, b []byte, now int64) []out {
			if now < 3000*ms || in == "a" && now < 5000*ms {
				return nil
			}
			return wire(in, b, now)
		}, 10 * time.Second, 5018 * time.Millisecond, 6, "a→b 4 of 4 back, b→a 4 of 4 back; bridged: nothing changed"},
		{"each packet takes 3 s", func(in string, b []byte, now int64) []out {
			return []out{{other(in), b, now + 3000*ms}}
		}, 10 * time.Second, 3003 * time.Millisecond, 3, "a→b 4 of 4 back, b→a 4 of 4 back; bridged: nothing changed"},
		{"silent for 3 s, which is too long", func(in string, b []byte, now int64) []out {
			if now < 3000*ms {
				return nil
			}
			return wire(in, b, now)
		}, 2 * time.Second, 2 * time.Second, 2, "a→b 0 of 4 back, b→a 0 of 4 back"},
		{"never", drop, 10 * time.Second, 10 * time.Second, 10, "a→b 0 of 4 back, b→a 0 of 4 back"},
		{"one of two ways", func(in string, b []byte, now int64) []out {
			if in == "a" {
				return nil
			}
			return wire(in, b, now)
		}, 10 * time.Second, 10 * time.Second, 10, "a→b 0 of 4 back, b→a 4 of 4 back; bridged: nothing changed"},
		{"time for a part of a round alone", wire, 51500 * time.Microsecond, time.Millisecond, 0.5,
			"a→b 2 of 2 back, b→a 2 of 2 back; bridged: nothing changed"},
		{"time for one", wire, 10 * time.Millisecond, 0, 0.25, "a→b 1 of 1 back, b→a 1 of 1 back; bridged: nothing changed"},
		{"first round alone", drop, time.Second, time.Second, 1, "a→b 0 of 4 back, b→a 0 of 4 back"},
	} {
		for _, p := range []struct {
			name string
			pkt
		}{{"tagged", pkt{}}, {"without a tag", pkt{fill: 1}}} {
			t.Run(tt.name+", "+p.name, func(t *testing.T) {
				o, d := lab(tt.do)
				o.Wait = tt.wait
				back := p.pkt
				back.src, back.dst = "198.19.0.1", "198.18.0.1"
				o.Streams = []hello.Stream{there(t, 4, ports(p.pkt)), {Name: "b→a", Packets: store(t, 4, ports(back)), TX: "b", RX: "a"}}
				r := run(t, o)
				if got := r.Lines()[0]; got != tt.lines {
					t.Errorf("got %s, want %s", got, tt.lines)
				}
				if r.Elapsed != tt.elapsed || d.got["a"] != int(4*tt.rounds) || d.got["b"] != int(4*tt.rounds) {
					t.Errorf("%v, %d and %d packets; want %v, %v rounds of 4", r.Elapsed, d.got["a"], d.got["b"], tt.elapsed, tt.rounds)
				}
			})
		}
	}
}

// What is missing is awaited for the drain time, and one of it named.
func TestDrain(t *testing.T) {
	n := 0
	lossy := func(in string, b []byte, now int64) []out {
		if n++; n%4 == 2 {
			return nil
		}
		return []out{{other(in), b, now + 500}}
	}
	o, _ := lab(lossy)
	o.Streams = []hello.Stream{there(t, 8, ports(pkt{}))}
	o.Drain = 20 * time.Millisecond
	r := run(t, o)
	const want = "a→b 6 of 8 back (not UDP 198.18.0.1:1001 → 198.19.0.1:9, 64 B); bridged: nothing changed"
	if got := r.Lines()[0]; got != want || !r.Complete() {
		t.Errorf("got %s, want %s", got, want)
	}
	if want := time.Second + 2*7*time.Millisecond + 500 + o.Drain; r.Elapsed != want { // the gap is believed when it is there again
		t.Errorf("elapsed %v, want %v after the last packet of the second round: %v", r.Elapsed, o.Drain, want)
	}
}

// A device that wakes up in the middle of a round is asked once more before a gap is believed.
func TestWakingUp(t *testing.T) {
	n := 0
	o, _ := lab(func(in string, b []byte, now int64) []out {
		if n++; n <= 5 {
			return nil
		}
		return []out{{other(in), b, now + 500}}
	})
	o.Streams = []hello.Stream{there(t, 8, ports(pkt{}))}
	r := run(t, o)
	if got, want := r.Lines()[0], "a→b 8 of 8 back; bridged: nothing changed"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A copy is not another packet, and neither is one of another run.
func TestOnce(t *testing.T) {
	o, _ := lab(func(in string, b []byte, now int64) []out {
		old := packet.Tag{Magic: magic, Seq: 1, Nanos: -1}
		trial := packet.Tag{Magic: magic, Trial: 7, Seq: 1, Nanos: now}
		all := []out{{other(in), b, 0}, {other(in), append([]byte(nil), b...), 0}}
		for _, tag := range []packet.Tag{old, trial} {
			c := append([]byte(nil), b...)
			tag.Put(c[len(c)-packet.TagLen:])
			all = append(all, out{other(in), c, 0})
		}
		if b[35] == 1001&0xff {
			return all[2:]
		}
		return all
	})
	o.Streams = []hello.Stream{there(t, 3, ports(pkt{}))}
	r := run(t, o)
	const want = "a→b 2 of 3 back (not UDP 198.18.0.1:1001 → 198.19.0.1:9, 64 B); bridged: nothing changed"
	if got := r.Lines()[0]; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if s := r.Seen.Streams[0]; len(s.Odd)+len(s.Wrong) != 0 || r.Seen.Ports[1].Heard.String() != "nothing" {
		t.Errorf("odd %v, wrong %v, heard %s", s.Odd, s.Wrong, r.Seen.Ports[1].Heard.String())
	}
}

// Of what is made each flow is sent once, of what is captured the first packets as they are.
func TestProbes(t *testing.T) {
	flows := func(i int) pkt { return ports(pkt{})(i % 3) }
	for _, tt := range []struct {
		name     string
		n        int
		vary     func(int) pkt
		captured bool
		want     int
	}{
		{"few flows", 200, flows, false, 3},
		{"many flows", 1000, ports(pkt{}), false, 256},
		{"captured", 200, flows, true, 100},
		{"captured, without tags", 200, func(i int) pkt { p := flows(i); p.fill = 1; return p }, true, 100},
		{"captured, few", 7, flows, true, 7},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, d := lab(wire)
			o.Streams = []hello.Stream{there(t, tt.n, tt.vary)}
			o.Streams[0].Captured = tt.captured
			b := run(t, o).Streams[0]
			if b.Sent != tt.want || b.Back != tt.want || d.got["a"] != tt.want || b.Packets != tt.n {
				t.Errorf("%d of %d back, %d sent, of %d; want %d", b.Back, b.Sent, d.got["a"], b.Packets, tt.want)
			}
		})
	}
}

// A port is what a test makes of it.
type port struct {
	nic.Port
	send, recv error
	room       int // frames that Send takes in all; negative: any
}

func (p *port) Send(f []packet.Frame) (int, error) {
	if p.send != nil || p.room == 0 {
		return 0, p.send
	}
	p.room--
	return p.Port.Send(f)
}

func (p *port) Recv(f []packet.Frame) (int, error) {
	if p.recv != nil {
		return 0, p.recv
	}
	return p.Port.Recv(f)
}

func TestErrors(t *testing.T) {
	failing := func(send, recv error) func(*hello.Options) {
		return func(o *hello.Options) {
			d := o.Ports["a"]
			d.Queues = []nic.Port{&port{d.Queues[0], send, recv, -1}}
			o.Ports["a"] = d
		}
	}
	for _, tt := range []struct {
		name string
		set  func(*hello.Options)
		want string
	}{
		{"no such port to send", func(o *hello.Options) { o.Streams[0].TX = "c" }, `stream a→b: no port "c"`},
		{"no such port to receive", func(o *hello.Options) { o.Streams[0].RX = "" }, `stream a→b: no port ""`},
		{"no packets", func(o *hello.Options) { o.Streams[0].Packets = &packet.Store{} }, "gen holds no packets: nothing to send for stream a→b"},
		{"too many streams", func(o *hello.Options) { o.Streams = make([]hello.Stream, 257) }, "257 streams: the tag has room for 256"},
		{"closed", failing(nil, nic.ErrClosed), "a: port is closed"},
		{"too long", failing(nic.ErrTooLong, nil), "a: packet of stream a→b: frame is too long for the port"},
		{"link down", failing(nic.ErrDown, nic.ErrDown), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := lab(wire)
			o.Streams = []hello.Stream{there(t, 4, ports(pkt{}))}
			tt.set(&o)
			r, err := hello.Run(t.Context(), o)
			switch {
			case err == nil && tt.want == "":
				if r.Complete() || r.Elapsed != o.Wait || r.Streams[0].Sent != 0 {
					t.Errorf("complete %v after %v, sent %d", r.Complete(), r.Elapsed, r.Streams[0].Sent)
				}
			case err == nil || err.Error() != tt.want:
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

// What a full port does not take is offered again in time.
func TestFullPort(t *testing.T) {
	o, _ := lab(wire)
	d := o.Ports["a"]
	d.Queues = []nic.Port{&port{d.Queues[0], nil, nil, 6}}
	o.Ports["a"] = d
	o.Streams = []hello.Stream{there(t, 8, ports(pkt{}))}
	o.Wait = 100 * time.Millisecond
	r := run(t, o)
	if b := r.Streams[0]; b.Sent != 6 || b.Back != 6 || r.Elapsed != o.Wait || r.Seen.Ports[0].Offered != 6 {
		t.Errorf("%d of %d back after %v, offered %d; want 6 of 6 after %v, 6", b.Back, b.Sent, r.Elapsed, r.Seen.Ports[0].Offered, o.Wait)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	o, _ := lab(func(string, []byte, int64) []out { cancel(cause); return nil })
	o.Streams = []hello.Stream{there(t, 4, ports(pkt{}))}
	if _, err := hello.Run(ctx, o); err != cause {
		t.Errorf("error %v, want %v", err, cause)
	}
}

// A patient port waits on behalf of its receiver.
type patient struct{ nic.Port }

func (patient) Wait(d time.Duration) { time.Sleep(d) }

// On the machine's clock every port has a thread of its own; some ports can wait.
func TestRealClock(t *testing.T) {
	a, b := mem.Pair(64)
	b.Queues[0] = patient{b.Queues[0]}
	back := pkt{src: "198.19.0.1", dst: "198.18.0.1", fill: 1}
	r := run(t, hello.Options{Clock: clock.NewReal(), Ports: map[string]nic.Device{"a": a, "b": b}, Magic: magic, Wait: time.Minute,
		Streams: []hello.Stream{there(t, 20, ports(pkt{})), {Name: "b→a", Packets: store(t, 20, ports(back)), TX: "b", RX: "a"}}})
	const want = "a→b 20 of 20 back, b→a 20 of 20 back; bridged: nothing changed"
	if got := r.Lines()[0]; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
