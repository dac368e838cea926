package search_test

import (
	"fmt"
	"testing"
	"time"

	"loadtest/dut"
	"loadtest/internal/clock"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/replay"
	"loadtest/search"
	"loadtest/trial"
)

// A bridge whose way out takes 5 Mbit/s, and holds back 20 packets.
const narrow = `
ports: [{name: a}, {name: b}]
links:
  - {name: in, between: [a, bridge], rate: 10G}
  - {name: out, between: [bridge, b], rate: 5M, queue: 20}
nodes: [{name: bridge, kind: bridge}]
`

// replayed is a runner of a capture behind that bridge, in simulated time.
func replayed(t *testing.T, capture *packet.Store) trial.Runner {
	t.Helper()
	n, err := dut.ParseNetwork("narrow", []byte(narrow))
	if err != nil {
		t.Fatal(err)
	}
	ports := map[string]nic.Device{}
	for _, name := range []string{"a", "b"} {
		if ports[name], err = n.Port(name); err != nil {
			t.Fatal(err)
		}
	}
	r, err := replay.New(replay.Options{Clock: clock.NewVirtual(n), Ports: ports,
		Streams: []replay.Stream{{Name: "a→b", Source: "capture", Packets: capture, TX: "a", RX: "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// udp is a packet of 60 bytes, 672 bits on the wire, with room for a tag.
func udp(i int) []byte {
	b := make([]byte, 60)
	copy(b, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 46})
	copy(b[22:], []byte{64, 17, 0, 0, 198, 18, 0, 1, 198, 19, byte(i >> 8), byte(i), 0, 7, 0, 9, 0, 26})
	return b
}

// The factor that a device carries is found to a step of the grid. Each trial sends all of the capture: what is crowded at its end
// decides, which no short trial from its beginning ever sends.
func TestFactorOfACapture(t *testing.T) {
	even, crowded := &packet.Store{Link: 1}, &packet.Store{Link: 1}
	for i := range 1000 {
		even.Append(udp(i), int64(i/10)*10e6, 60) // 10 at once each 10 ms: 672 kbit/s
		at := int64(i) * 10e6
		if i >= 700 {
			at = 7000e6 + int64(i-700)*1e6
		}
		crowded.Append(udp(i), at, 60) // 700 in 7 s, then 300 in 0.3 s
	}
	for _, tt := range []struct {
		name    string
		capture *packet.Store
		o       search.BisectOptions
		sent    int64 // of each trial that passed
		near    float64
	}{
		{"even", even, search.BisectOptions{Loops: 1}, 1000, 7.5},
		{"three passes", even, search.BisectOptions{Loops: 3}, 3000, 7.4},
		{"crowded", crowded, search.BisectOptions{Loops: 1}, 1000, 7.9},
		{"crowded, in a time", crowded, search.BisectOptions{Duration: 100 * time.Millisecond}, 0, 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := replayed(t, tt.capture)
			tt.o.Max, tt.o.Precision, tt.o.Unit = 20, 0.1, trial.Factor
			o := search.Options{Warmup: 300 * time.Millisecond, See: func(e search.Event) {
				if s := e.Result.Streams; e.Kind == search.TrialEnded && e.Verdict == search.Pass && tt.sent > 0 && s[0].Sent != tt.sent {
					t.Errorf("trial at x%v sent %d packets; want all %d", e.Spec.At(0), s[0].Sent, tt.sent)
				}
			}}
			a, err := search.Run(t.Context(), r, search.Bisect(tt.o), o)
			if err != nil {
				t.Fatal(err)
			}
			if a.Load < tt.near-0.2 || a.Load > tt.near+0.2 || fmt.Sprint(a.Load) != fmt.Sprintf("%.4g", a.Load) {
				t.Fatalf("x%v; want about x%v, in steps of 0.1", a.Load, tt.near)
			}
			for _, load := range []float64{a.Load, a.Above} {
				if load == 0 {
					continue
				}
				res, err := r.Run(t.Context(), trial.Spec{Unit: trial.Factor, Load: []trial.Point{{Load: load}}, Loops: tt.o.Loops, Duration: tt.o.Duration}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if lost := res.Streams[0].Lost(); (lost > 0) != (load == a.Above) {
					t.Errorf("x%v lost %d; x%v is the answer", load, lost, a.Load)
				}
			}
		})
	}
}
