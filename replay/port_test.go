package replay

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"loadtest/internal/clock"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/trial"
)

// A jerky clock is like a real one, with time that the test makes: every step takes a while, and sometimes the machine stands still.
type jerky struct {
	now   int64
	rng   *rand.Rand
	stall func(now int64) int64 // how long the machine stands still after now; nil: never
}

func (c *jerky) Now() int64    { return c.now }
func (c *jerky) Virtual() bool { return false }

func (c *jerky) Run(ctx context.Context, s ...clock.Stepper) error {
	next := make([]int64, len(s))
	for running := len(s); running > 0; {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		least := int64(clock.Never)
		for i, st := range s {
			if next[i] <= c.now {
				if next[i] = st.Step(c.now); next[i] == clock.Never {
					running--
				}
				c.now += 300 + c.rng.Int64N(2000)
				if c.stall != nil {
					c.now += c.stall(c.now)
				}
			}
			least = min(least, next[i])
		}
		if running > 0 && least > c.now {
			c.now = least + c.rng.Int64N(3000)
		}
	}
	return nil
}

// A moody port takes what its mood allows, and remembers when.
type moody struct {
	clock *jerky
	mood  func(now int64, frames int) (room int, err error)
	log   []departure // clock times
	seqs  []uint32
	in    []packet.Frame // for the other end
	fail  func(now int64) error
}

func (p *moody) Send(frames []packet.Frame) (int, error) {
	n, err := len(frames), error(nil)
	if p.mood != nil {
		n, err = p.mood(p.clock.now, n)
	}
	n = min(n, len(frames))
	for _, f := range frames[:n] {
		p.log = append(p.log, departure{p.clock.now, f.Nanos})
		tag, _ := packet.ReadTag(f.Data[len(f.Data)-packet.TagLen:])
		p.seqs = append(p.seqs, tag.Seq)
		p.in = append(p.in, packet.Frame{Data: append([]byte(nil), f.Data...), Nanos: p.clock.now + 1000})
	}
	return n, err
}

func (p *moody) Recv([]packet.Frame) (int, error) { return 0, nil }
func (p *moody) Close() error                     { return nil }

// far is the other end of a moody port.
type far struct{ *moody }

func (p far) Recv(frames []packet.Frame) (int, error) {
	n := copy(frames, p.in)
	p.in = p.in[n:]
	if p.fail != nil {
		return n, p.fail(p.clock.now)
	}
	return n, nil
}

func moodyPair(seed uint64) (*jerky, *moody, Options) {
	c := &jerky{rng: rand.New(rand.NewPCG(seed, 9)), now: 1e6}
	p := &moody{clock: c}
	ports := map[string]nic.Device{"a": {Queues: []nic.Port{p}}, "b": {Queues: []nic.Port{far{p}}}}
	return c, p, Options{Clock: c, Ports: ports, Streams: []Stream{{Name: "s", Packets: mixed(), TX: "a", RX: "b"}}}
}

// mixed is a store of packets of different sizes, all tagged.
func mixed() *packet.Store {
	s := &packet.Store{}
	for i := range 12 {
		f := udp(1, []int{60, 60, 594, 60, 1514, 60}[i%6], true).Frame(0)
		s.Append(f.Data, int64(i)*1e5, len(f.Data))
	}
	return s
}

func between(from, to time.Duration, mood func(int) (int, error)) func(int64, int) (int, error) {
	return func(now int64, n int) (int, error) {
		if t := time.Duration(now - 1e6); t >= from && t < to {
			return mood(n)
		}
		return n, nil
	}
}

// Whatever the port and the machine do: nothing is sent more than the credit late, nothing twice, in order; a burst and one more packet
// never take less than half their time.
func TestPaceOnMoodyPorts(t *testing.T) {
	const ms = time.Millisecond
	full := func(int) (int, error) { return 0, nil }
	for _, tt := range []struct {
		name   string
		load   float64
		mood   func(int64, int) (int, error)
		stall  func(rng *rand.Rand) func(int64) int64
		least  time.Duration // of sending, that is lost
		most   time.Duration
		down   bool
		credit time.Duration
	}{
		{name: "good", load: 3e5},
		{name: "full for 3 ms", load: 3e5, mood: between(20*ms, 23*ms, full)},
		{name: "full for 40 ms", load: 3e5, mood: between(20*ms, 60*ms, full), least: 29 * ms, most: 31 * ms},
		{name: "full for 40 ms, credit 25 ms", load: 3e5, mood: between(20*ms, 60*ms, full), least: 14 * ms, most: 16 * ms, credit: 25 * ms},
		{name: "full for 40 ms, slow", load: 2000, mood: between(20*ms, 60*ms, full), least: 28 * ms, most: 32 * ms},
		{name: "one frame a call", load: 5e4, mood: func(int64, int) (int, error) { return 1, nil }},
		{name: "one frame a call, too slow", load: 3e5, mood: func(int64, int) (int, error) { return 1, nil }, least: 40 * ms, most: 90 * ms},
		{name: "down for 30 ms", load: 3e5, mood: between(20*ms, 50*ms, func(int) (int, error) { return 0, nic.ErrDown }),
			least: 19 * ms, most: 22 * ms, down: true},
		{name: "goes down within a burst", load: 3e5, mood: between(20*ms, 50*ms, func(n int) (int, error) { return n / 2, nic.ErrDown }),
			least: 10 * ms, most: 22 * ms, down: true},
		{name: "machine stands still", load: 3e5, least: ms, most: 60 * ms, stall: func(rng *rand.Rand) func(int64) int64 {
			return func(int64) int64 {
				if rng.IntN(10000) == 0 {
					return rng.Int64N(25e6)
				}
				return 0
			}
		}},
		{name: "takes half", load: 2e5, mood: func(_ int64, n int) (int, error) { return (n + 1) / 2, nil }},
	} {
		for _, unit := range []trial.Unit{trial.Packets, trial.WireBits} {
			t.Run(tt.name+[]string{" by bits", " by packets"}[unit], func(t *testing.T) {
				c, p, o := moodyPair(4)
				p.mood, o.Credit = tt.mood, tt.credit
				if tt.stall != nil {
					c.stall = tt.stall(c.rng)
				}
				load := tt.load
				if unit == trial.WireBits {
					load *= 19936 / 6. // the mean packet's
				}
				r, err := New(o)
				if err != nil {
					t.Fatal(err)
				}
				res, err := r.Run(t.Context(), trial.Spec{Unit: unit, Load: []trial.Point{{Load: load}}, Duration: 100 * ms}, nil)
				if err != nil {
					t.Fatal(err)
				}
				s := res.Streams[0]
				if want := int64(tt.load / 10); s.Intended < want-12 || s.Intended > want+12 {
					t.Errorf("intended %d, want %d", s.Intended, want)
				}
				if s.Sent != int64(len(p.log)) || s.Received != s.Sent || s.Lateness.Count != s.Sent {
					t.Errorf("sent %d, received %d; the port took %d", s.Sent, s.Received, len(p.log))
				}
				if gone := time.Duration(float64(s.Unsent()) / tt.load * 1e9); gone < tt.least || gone > tt.most {
					t.Errorf("unsent %d are %v of the load, want %v to %v", s.Unsent(), gone, tt.least, tt.most)
				}
				if res.Ports[0].Down != tt.down {
					t.Errorf("down %v, want %v", res.Ports[0].Down, tt.down)
				}
				inOrder(t, p, int64(r.o.Credit), s.Lateness.Max)
			})
		}
	}
}

func inOrder(t *testing.T, p *moody, credit, late int64) {
	t.Helper()
	var most int64
	for i, d := range p.log {
		most = max(most, d.at-d.due)
		if p.seqs[i] != uint32(i) || d.at < d.due || i > 0 && d.due < p.log[i-1].due {
			t.Fatalf("packet %d: sequence %d, due %d, left at %d", i, p.seqs[i], d.due, d.at)
		}
		for n := Burst; n <= i && n <= 40*Burst; n += Burst {
			if from := p.log[i-n]; d.at-from.at < (d.due-from.due)/2-int64(n/Burst) {
				t.Fatalf("packets %d to %d, scheduled over %d ns, left within %d", i-n, i, d.due-from.due, d.at-from.at)
			}
		}
	}
	if most > credit || most != late {
		t.Errorf("a packet left %d ns late, the credit is %d and the lateness shown %d", most, credit, late)
	}
}

func TestUnpaced(t *testing.T) {
	inf := []trial.Point{{Load: math.Inf(1)}}
	for _, tt := range []struct {
		name        string
		mood        func(now int64, n int) (int, error)
		spec        trial.Spec
		least, most int64
	}{
		{"one frame a call", func(int64, int) (int, error) { return 1, nil }, trial.Spec{Load: inf, Duration: 20 * time.Millisecond}, 1000, 2000},
		{"no limit", nil, trial.Spec{Load: inf, Duration: 20 * time.Millisecond}, 1e5, 1e6},
		{"stops taking", between(0, 10*time.Millisecond, func(n int) (int, error) { return n, nil }), trial.Spec{Load: inf, Duration: 10 * time.Millisecond}, 5e4, 5e5},
		{"stops taking half way", func(now int64, n int) (int, error) {
			if now > 6e6 {
				return 0, nil
			}
			return n, nil
		}, trial.Spec{Load: inf, Duration: 10 * time.Millisecond}, 2e4, 2e5},
		{"takes nothing, ever", func(int64, int) (int, error) { return 0, nil }, trial.Spec{Load: inf, Duration: 10 * time.Millisecond}, 0, 0},
		{"takes nothing, ever, with a pre-roll", func(int64, int) (int, error) { return 0, nil },
			trial.Spec{Load: inf, Duration: 10 * time.Millisecond, Preroll: time.Millisecond}, 0, 0},
		{"loops", nil, trial.Spec{Load: inf, Loops: 10}, 120, 120},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, p, o := moodyPair(5)
			p.mood = tt.mood
			res := run(t, o, tt.spec)
			s := res.Streams[0]
			if s.Intended != s.Sent || s.Received != s.Sent || s.Sent < tt.least || s.Sent > tt.most {
				t.Errorf("intended %d, sent %d, received %d; want the same, %d to %d", s.Intended, s.Sent, s.Received, tt.least, tt.most)
			}
			if d := tt.spec.Duration; res.Elapsed < d || d > 0 && res.Elapsed > d+time.Millisecond {
				t.Errorf("elapsed %v, want %v", res.Elapsed, d)
			}
		})
	}
}

// An unpaced stretch and a paced one after it: what the port left of the first does not make the second late.
func TestUnpacedThenPaced(t *testing.T) {
	_, p, o := moodyPair(6)
	p.mood = between(8*time.Millisecond, 40*time.Millisecond, func(int) (int, error) { return 0, nil })
	inf, at := math.Inf(1), 10*time.Millisecond
	res := run(t, o, trial.Spec{Unit: trial.Packets, Duration: 100 * time.Millisecond,
		Load: []trial.Point{{Load: inf}, {At: at, Load: inf}, {At: at, Load: 1e5}}})
	for i, d := range p.log {
		if due := d.due - res.Start; due >= int64(at) && d.at-d.due > int64(Credit) {
			t.Fatalf("packet %d left %v late", i, time.Duration(d.at-d.due))
		}
	}
	if s := res.Streams[0]; s.Unsent() < 1900 || s.Unsent() > 2100 || s.Lost() != 0 {
		t.Errorf("unsent %d, lost %d; want what was due from 10 to 30 ms, and 0", s.Unsent(), s.Lost())
	}
}

func TestPortsThatFail(t *testing.T) {
	after := func(err error) func(int64) error {
		return func(now int64) error {
			if now > 11e6 {
				return err
			}
			return nil
		}
	}
	for _, tt := range []struct {
		name string
		load float64
		mood func(int64, int) (int, error)
		fail func(int64) error
		want string
	}{
		{"closed while sending", 1e5, between(10*time.Millisecond, time.Hour, func(int) (int, error) { return 0, nic.ErrClosed }), nil, "a: port is closed"},
		{"closed while receiving", 1e5, nil, after(nic.ErrClosed), "b: port is closed"},
		{"another error while receiving", 1e5, nil, after(errors.New("no buffer space")), "b: no buffer space"},
		{"too long", 1e5, between(10*time.Millisecond, time.Hour, func(n int) (int, error) { return n / 2, nic.ErrTooLong }), nil, "a: frame is too long for the port"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, p, o := moodyPair(7)
			p.mood, p.fail = tt.mood, tt.fail
			r, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			res, err := r.Run(t.Context(), trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: tt.load}}, Duration: time.Hour}, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
			s := res.Streams[0]
			if s.Sent != int64(len(p.log)) || s.Intended != s.Sent || s.Sent < 800 {
				t.Errorf("intended %d, sent %d; the port took %d", s.Intended, s.Sent, len(p.log))
			}
			if res.Elapsed < 8*time.Millisecond || res.Elapsed > 12*time.Millisecond {
				t.Errorf("elapsed %v, want 10ms", res.Elapsed)
			}
		})
	}
}

// A load without a pace outlasts a link that is down, up to its end; where only packets are counted nothing says when to give
// up, so it ends. The result says that the link was down, and what was not sent was never intended.
func TestDownUnpaced(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name     string
		spec     trial.Spec
		from, to time.Duration // link down
		want     time.Duration
	}{
		{"back", trial.Spec{Duration: 50 * ms}, 10 * ms, 20 * ms, 50 * ms},
		{"to the end", trial.Spec{Duration: 50 * ms}, 10 * ms, time.Hour, 50 * ms},
		{"loops", trial.Spec{Loops: 1 << 40}, 10 * ms, time.Hour, 10 * ms},
		{"loops or a time", trial.Spec{Loops: 1 << 40, Duration: 50 * ms}, 10 * ms, 20 * ms, 50 * ms},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, p, o := moodyPair(7)
			p.mood = between(tt.from, tt.to, func(int) (int, error) { return 0, nic.ErrDown })
			tt.spec.Unit, tt.spec.Load = trial.Packets, []trial.Point{{Load: math.Inf(1)}}
			res := run(t, o, tt.spec)
			if s := res.Streams[0]; s.Sent != int64(len(p.log)) || s.Intended != s.Sent || s.Received != s.Sent || s.Sent < 800 {
				t.Errorf("intended %d, sent %d, received %d; the port took %d", s.Intended, s.Sent, s.Received, len(p.log))
			}
			if res.Elapsed < tt.want-2*ms || res.Elapsed > tt.want+2*ms {
				t.Errorf("elapsed %v, want %v", res.Elapsed, tt.want)
			}
			if !slices.ContainsFunc(res.Ports, func(p trial.Port) bool { return p.Name == "a" && p.Down }) {
				t.Errorf("ports %+v; want a down", res.Ports)
			}
			if last := p.log[len(p.log)-1].at - res.Start; tt.to < tt.spec.Duration && last < int64(tt.to) {
				t.Errorf("the last packet left after %v, want some once the link is back", time.Duration(last))
			}
		})
	}
}

// An end that is asked for comes soon, however far away the next packet is; a cut one has its time and no packet too many.
func TestEndOnDemand(t *testing.T) {
	for _, tt := range []struct {
		name  string
		load  float64
		cause error
		full  bool
	}{
		{"stop", 1e5, trial.ErrStop, false},
		{"stop, slow", 0.01, trial.ErrStop, false},
		{"stop, port full", 1e5, trial.ErrStop, true},
		{"cut", 1e5, errors.New("cut"), false},
		{"cut, slow", 0.01, errors.New("cut"), false},
		{"cut, port full", 1e5, errors.New("cut"), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, p, o := moodyPair(8)
			if tt.full {
				p.mood = between(95*time.Millisecond, time.Hour, func(int) (int, error) { return 0, nil })
			}
			r, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			ended := make(chan struct{})
			context.AfterFunc(ctx, func() { close(ended) })
			res, err := r.Run(ctx, trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: tt.load}}, Interval: 10 * time.Millisecond}, func(s trial.Sample) {
				if s.At >= 100*time.Millisecond {
					cancel(tt.cause)
					<-ended
					time.Sleep(10 * time.Millisecond) // the runner's own reaction is not ours to see
				}
			})
			cut := tt.cause != trial.ErrStop
			if cut && err != tt.cause || !cut && err != nil || res.Cut != cut {
				t.Errorf("error %v, cut %v", err, res.Cut)
			}
			least, most := 100*time.Millisecond, 125*time.Millisecond // it is noticed in 10 ms
			if tt.full {
				least, most = 93*time.Millisecond, 95*time.Millisecond // when the port stopped taking
			}
			if res.Elapsed < least || res.Elapsed > most {
				t.Errorf("elapsed %v, want %v to %v", res.Elapsed, least, most)
			}
			if s := res.Streams[0]; s.Sent != int64(len(p.log)) || s.Unsent() != 0 || !cut && s.Lost() != 0 {
				t.Errorf("intended %d, sent %d, lost %d; the port took %d", s.Intended, s.Sent, s.Lost(), len(p.log))
			}
		})
	}
}

// On a virtual clock nothing is unsent, however slow the load and small the credit, also where nobody receives.
func TestVirtualSendsAll(t *testing.T) {
	for _, load := range []float64{0.5, 30, 900, 2500, 1e6} {
		for _, credit := range []time.Duration{0, time.Microsecond} {
			d := time.Duration(20000 / load * 1e9)
			res := run(t, Options{Ports: pair(&wire{}, &wire{}), Credit: credit, Streams: []Stream{{Name: "a", Packets: mixed(), TX: "a"}}},
				trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: load}}, Duration: d})
			if s := res.Streams[0]; s.Intended != 20000 || s.Unsent() != 0 || s.Lateness.Max != 0 || res.Elapsed != d {
				t.Errorf("%v packets/s, credit %v: intended %d, unsent %d, late %d ns, elapsed %v of %v", load, credit, s.Intended, s.Unsent(), s.Lateness.Max, res.Elapsed, d)
			}
		}
	}
}
