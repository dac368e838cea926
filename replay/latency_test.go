package replay_test

import (
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"loadtest/dut"
	"loadtest/internal/clock"
	"loadtest/nic"
	"loadtest/nic/mem"
	"loadtest/packet"
	"loadtest/replay"
	"loadtest/trial"
)

// through is the books of n packets of 60 bytes, at that many a second, from x to y.
func through(t *testing.T, c clock.Clock, spin bool, x, y nic.Device, pps, n int64) trial.Stream {
	t.Helper()
	r, err := replay.New(replay.Options{Clock: c, Spin: spin, Ports: map[string]nic.Device{"x": x, "y": y}, Credit: time.Second,
		Drain: 100 * time.Millisecond, Streams: []replay.Stream{{Name: "s", Source: "made", Packets: store(100, 60), TX: "x", RX: "y"}}})
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Run(t.Context(), trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: float64(pps)}}, Duration: time.Duration(n * 1e9 / pps)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := &res.Streams[0]; s.Intended != n {
		t.Fatalf("intended %d, want %d", s.Intended, n)
	}
	return res.Streams[0]
}

// The latency through a device that delays each packet alike is that delay: the ends to the ns, and so, as they clamp the rest, all.
func TestLatencyOfAKnownDelay(t *testing.T) {
	for _, tt := range []struct {
		delay string
		want  int64 // with the 68 ns that 84 bytes take at 10 Gbit/s
	}{{"0us", 68}, {"1us", 1068}, {"250us", 250_068}, {"20ms", 20_000_068}} {
		t.Run(tt.delay, func(t *testing.T) {
			network, err := dut.ParseNetwork("delay", fmt.Appendf(nil,
				"ports:\n  - name: a\n  - name: b\nlinks:\n  - name: cable\n    between: [a, b]\n    rate: 10G\n    delay: %s\n", tt.delay))
			if err != nil {
				t.Fatal(err)
			}
			a, wrong := network.Port("a")
			b, err := network.Port("b")
			if err != nil || wrong != nil {
				t.Fatal(wrong, err)
			}
			const n = 50_000
			s := through(t, clock.NewVirtual(network), false, a, b, 1e6, n)
			h := &s.Latency
			if s.Received != n || h.Count != n || h.Min != tt.want || h.Max != tt.want {
				t.Errorf("%d of %d timed, %d..%d ns; want %d", h.Count, s.Received, h.Min, h.Max, tt.want)
			}
			for _, p := range []float64{50, 90, 99, 99.9} {
				if got, _ := h.Percentile(p); got != tt.want {
					t.Errorf("p%v is %d ns, want %d", p, got, tt.want)
				}
			}
			if mean, _ := h.Mean(); mean != float64(tt.want) {
				t.Errorf("mean %v, want %d", mean, tt.want)
			}
			least, most, _ := s.Variation.Between.Range()
			if s.Variation.Jitter != 0 || s.Variation.Compared != n-1 || s.Variation.Between.Count() != n-1 || least != 0 || most != 0 {
				t.Errorf("jitter %d of %d, IPDV %d..%d of %d; want 0 of %d", s.Variation.Jitter, s.Variation.Compared, least, most, s.Variation.Between.Count(), n-1)
			}
			if want := (trial.Stamps{Sent: trial.Exact, Arrived: trial.Exact}); s.Stamps != want {
				t.Errorf("stamps %v, want %v", s.Stamps, want)
			}
		})
	}
}

// A swaying port delays what arrives by a pattern, ns, that repeats.
type swaying struct {
	nic.Port
	pattern []int64
	n       int
}

func (p *swaying) Recv(frames []packet.Frame) (int, error) {
	n, err := p.Port.Recv(frames)
	for i := range frames[:n] {
		frames[i].Nanos += p.pattern[p.n%len(p.pattern)]
		p.n++
	}
	return n, err
}

// every is a pattern of n delays: most are base, the last few are high.
func every(n int, base, few int64, high int64) []int64 {
	p := make([]int64, n)
	for i := range p {
		if p[i] = base; int64(i) >= int64(n)-few {
			p[i] = high
		}
	}
	return p
}

// Jitter, PDV and IPDV through a device whose delays are known, each worked out by hand.
func TestVariationOfAKnownDelay(t *testing.T) {
	const us = 1000
	for _, tt := range []struct {
		name                       string
		pattern                    []int64
		jitter, pdv                int64
		least, middle, most, above int64 // above: by how much the middle may be beyond, a cell's width
	}{
		{"constant", []int64{30 * us}, 0, 0, 0, 0, 0, 0},
		// One up more than down, as the first is up.
		{"alternating", []int64{10 * us, 40 * us}, 30 * us, 30 * us, -30 * us, 30 * us, 30 * us, 0},
		{"alternating, down first", []int64{40 * us, 10 * us}, 30 * us, 30 * us, -30 * us, -30 * us, 30 * us, 0},
		// Up 1, 2, 3, then down 6: a quarter each, but for the last down.
		{"saw", []int64{10 * us, 11 * us, 13 * us, 16 * us}, 2938, 6 * us, -6 * us, 2 * us, 3 * us, 2 * us / 64},
		// One packet of a thousand is no more than 0.1 %: the 99.9th percentile is that of the others.
		{"one of a thousand", every(1000, 20*us, 1, 900*us), 55_000, 0, -880 * us, 0, 880 * us, 0},
		{"two of a thousand", every(1000, 20*us, 2, 900*us), 55_000 * 15 / 16, 880 * us, -880 * us, 0, 880 * us, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const n = 100_000
			x, y := mem.Pair(1024)
			y.Queues[0] = &swaying{Port: y.Queues[0], pattern: tt.pattern}
			s := through(t, clock.NewVirtual(), false, x, y, 1e6, n)
			if s.Received != n {
				t.Fatalf("received %d of %d", s.Received, n)
			}
			top, _ := s.Latency.Percentile(99.9)
			if got := top - s.Latency.Min; got < tt.pdv || got > tt.pdv+top/64 {
				t.Errorf("PDV %d, want %d and no more than a cell of %d ns above", got, tt.pdv, top/64)
			}
			least, most, _ := s.Variation.Between.Range()
			middle, _ := s.Variation.Between.Median()
			if least != tt.least || most != tt.most || middle < tt.middle || middle > tt.middle+tt.above || s.Variation.Between.Count() != n-1 {
				t.Errorf("IPDV %d, %d, %d of %d; want %d, %d, %d of %d", least, middle, most, s.Variation.Between.Count(), tt.least, tt.middle, tt.most, n-1)
			}
			if j := s.Variation.Jitter; j < tt.jitter-1 || j > tt.jitter+1 {
				t.Errorf("jitter %d, want %d", j, tt.jitter)
			}
		})
	}
}

// A device that really delays by 200 µs: no packet is faster; half of them are as slow, to what the tester needs itself. Other programs on
// the machine can delay the tester, so that what holds for a quiet one is asked only with LOADTEST_VERIFY=1.
func TestLatencyOfARealDelay(t *testing.T) {
	const delay = 200 * time.Microsecond
	bound, tries, n := 250*time.Millisecond, 1, int64(5000)
	if os.Getenv("LOADTEST_VERIFY") != "" {
		bound, tries, n = 5*time.Microsecond, 100, 500 // short, to get by between other programs
	}
	off := time.Duration(math.MaxInt64)
	for range tries {
		c := clock.NewReal()
		c.Spin = tries > 1
		x, y := mem.New(mem.Options{Slots: 1 << 14, Delay: delay, Clock: c.Now})
		s := through(t, c, c.Spin, x, y, 50_000, n)
		if s.Lost() != 0 || s.Latency.Count != s.Sent || s.Latency.Min < int64(delay) {
			t.Errorf("lost %d, %d of %d timed, the fastest took %v; want none, all, %v or more", s.Lost(), s.Latency.Count, s.Sent, time.Duration(s.Latency.Min), delay)
		}
		if want := (trial.Stamps{Sent: trial.Software, Arrived: trial.Software}); s.Stamps != want {
			t.Errorf("stamps %v, want %v", s.Stamps, want)
		}
		p50, _ := s.Latency.Percentile(50)
		off = min(off, time.Duration(p50)-delay)
		t.Logf("latency %v .. %v: p50 %v", time.Duration(s.Latency.Min), time.Duration(s.Latency.Max), time.Duration(p50))
		if off <= bound {
			return
		}
	}
	t.Errorf("p50 is %v beyond the delay, want %v at most", off, bound)
}

// What a wire doubles, turns round and loses is counted to the packet, also where time is real and packets really stay in it.
func TestOrderAndCopiesOfARealDelay(t *testing.T) {
	const n = 10_000
	for _, tt := range []struct {
		name                        string
		filter                      mem.Filter
		lost, duplicated, reordered int64
		pairs                       int64 // packets whose predecessor came, too
	}{
		{"nothing", nil, 0, 0, 0, n - 1},
		{"each hundredth twice", mem.Every(100, mem.Twice), 0, n / 100, 0, n - 1},
		// The last of all waits for a successor that does not come.
		{"each fiftieth behind the next", mem.Every(50, mem.Swap), 1, 0, n/50 - 1, n - 2},
		{"each thousandth lost", mem.Every(1000, mem.Drop), n / 1000, 0, 0, n - 1 - 2*n/1000 + 1},
		{"all of it", mem.First(mem.Every(1000, mem.Drop), mem.Every(100, mem.Twice), mem.Every(25, mem.Swap)), 10, 90, 300, n - 1 - 20 + 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := clock.NewReal()
			x, y := mem.New(mem.Options{Slots: 1 << 15, Delay: 100 * time.Microsecond, Clock: c.Now, AB: tt.filter})
			s := through(t, c, false, x, y, 50_000, n)
			if s.Sent != n {
				t.Skipf("the tester stood still: sent %d of %d", s.Sent, n)
			}
			if s.Lost() != tt.lost || s.Duplicated != tt.duplicated || s.Reordered != tt.reordered || s.Late+s.Corrupt+s.Surplus != 0 {
				t.Errorf("lost %d, duplicated %d, reordered %d, else %d; want %d, %d, %d, 0", s.Lost(), s.Duplicated, s.Reordered, s.Late+s.Corrupt+s.Surplus,
					tt.lost, tt.duplicated, tt.reordered)
			}
			if got := s.Variation.Between.Count(); got != tt.pairs {
				t.Errorf("%d pairs compared, want %d", got, tt.pairs)
			}
		})
	}
}
