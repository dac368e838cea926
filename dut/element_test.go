package dut_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"loadtest/dut"
	"loadtest/internal/clock"
)

// between is a network of ports a and b with a node between them.
func between(node, link string) string {
	return fmt.Sprintf(`
ports: [{name: a}, {name: b}]
links:
  - {name: left, between: [a, x]}
  - {name: right, between: [x, b]%s}
nodes:
  - {name: x, kind: bridge%s}
`, link, node)
}

// cable is a network of one link.
func cable(link string) string {
	return "ports: [{name: a}, {name: b}]\nlinks: [{name: cable, between: [a, b]" + link + "}]\n"
}

// timed is a due function of given times.
func timed(times ...int64) func(int64) int64 { return func(i int64) int64 { return times[i] } }

func drops(n *dut.Network) string {
	var all []string
	for _, d := range n.Drops() {
		all = append(all, fmt.Sprintf("%s/%s/%s: %d", d.Element, d.From, d.Cause, d.Packets))
	}
	return strings.Join(all, "; ")
}

// A frame of 60 bytes is 672 bits: 672 ns at 1 Gbit/s, 67.2 ns at 10, 6720 ns at 100 Mbit/s.
func TestTimes(t *testing.T) {
	for _, tt := range []struct {
		name, network string
		sizes         []int   // of the frames sent at a; default 60
		sent, want    []int64 // ns at a, ns at b
		drops         string
	}{
		{"no rate, no delay", cable(""), nil, []int64{5, 7}, []int64{5, 7}, ""},
		{"delay", cable(", delay: 1us"), nil, []int64{5, 7}, []int64{1005, 1007}, ""},
		{"idle", cable(", rate: 1G"), nil, []int64{1000, 5000}, []int64{1672, 5672}, ""},
		{"back to back", cable(", rate: 1G, delay: 3ns"), nil, []int64{1000, 1000, 1001}, []int64{1675, 2347, 3019}, ""},
		{"sizes", cable(", rate: 1G"), []int{60, 1514, 61}, []int64{0, 0, 0}, []int64{672, 672 + 12304, 672 + 12304 + 680}, ""},
		{"fractions do not add up", cable(", rate: 10G"), nil, []int64{0, 0, 0, 0, 0, 0}, []int64{68, 135, 202, 269, 336, 404}, ""},
		{"thirds of a picosecond", cable(", rate: 3G"), nil, []int64{0, 0, 0}, []int64{224, 448, 672}, ""},
		{"queue of 2", between("", ", rate: 1G, queue: 2"), nil, []int64{0, 0, 0, 0, 671, 672}, []int64{672, 1344, 2016, 2688}, "right/x.right/queue full: 2"},
		{"queue of 0", between("", ", rate: 1G, queue: 0"), nil, []int64{0, 671, 672}, []int64{672, 1344}, "right/x.right/queue full: 1"},
		{"queue of 130 bytes", between("", ", rate: 1G, queue-bytes: 130"), []int{60, 60, 70, 60, 60}, []int64{0, 0, 0, 0, 672},
			[]int64{672, 1344, 1344 + 752, 1344 + 752 + 672}, "right/x.right/queue full: 1"},
		{"capacity in packets", between(", capacity: {rate: 1Mpps, queue: 1}", ""), nil, []int64{10, 10, 10, 2010}, []int64{1010, 2010, 3010}, "x/x.left/queue full: 1"},
		{"capacity in bits", between(", capacity: {rate: 100M, per: direction}", ""), nil, []int64{10, 10}, []int64{6730, 13450}, ""},
		{"cold", between(", capacity: {rate: 1Mpps, cold-until: 5us, cold-rate: 500kpps}", ""), nil, []int64{0, 0, 0, 0, 0}, []int64{2000, 4000, 6000, 7000, 8000}, ""},
		{"silent until 100 ns", between(", start: 100ns", ""), nil, []int64{99, 100}, []int64{100}, "x/x.left/not started: 1"},
		{"every second", between(", every: 2", ""), nil, []int64{1, 2, 3, 4, 5}, []int64{1, 3, 5}, "x/x.left/every Nth: 2"},
		{"longer than the MTU", between("", ", mtu: 100"), []int{114, 115}, []int64{1, 2}, []int64{1}, "right/x.right/longer than the MTU: 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := parse(t, tt.network)
			frames := [][]byte{}
			for i := range tt.sent {
				size := 60
				if tt.sizes != nil {
					size = tt.sizes[i]
				}
				frames = append(frames, ipv4(size, "10.0.0.1", "10.0.0.2"))
			}
			tx := &sender{port: open(t, n, "a"), frames: frames, due: timed(tt.sent...), count: int64(len(tt.sent)), burst: 1}
			rx := &receiver{port: open(t, n, "b"), times: []int64{}}
			run(n, second, tx, rx)
			if !slices.Equal(rx.times, tt.want) {
				t.Errorf("sent at %d, arrive at %d, want %d", tt.sent, rx.times, tt.want)
			}
			if got := drops(n); got != tt.drops {
				t.Errorf("drops %q, want %q", got, tt.drops)
			}
		})
	}
}

// A capacity per node is shared by both directions, one per direction is not.
func TestCapacityShared(t *testing.T) {
	for _, tt := range []struct {
		per  string
		b, a []int64 // arrivals at b of what a sent, at a of what b sent
	}{
		{"node", []int64{1000, 2000}, []int64{3000, 4000}}, // a tie goes by the order of links
		{"direction", []int64{1000, 2000}, []int64{1000, 2000}},
	} {
		n := parse(t, between(", capacity: {rate: 1Mpps, per: "+tt.per+"}", ""))
		var all []clock.Stepper
		var rx [2]*receiver
		for i, p := range []string{"a", "b"} {
			port := open(t, n, p)
			rx[i] = &receiver{port: port, times: []int64{}}
			all = append(all, &sender{port: port, frames: [][]byte{ipv4(60, "10.0.0.1", "10.0.0.2")}, due: timed(0, 0), count: 2, burst: 1}, rx[i])
		}
		run(n, second, all...)
		if !slices.Equal(rx[1].times, tt.b) || !slices.Equal(rx[0].times, tt.a) {
			t.Errorf("per %s: arrivals %d and %d, want %d and %d", tt.per, rx[1].times, rx[0].times, tt.b, tt.a)
		}
	}
}

// Chance hits as often as it should, each seed otherwise, and the same seed the same.
func TestChance(t *testing.T) {
	const count = 100_000
	lost := func(seed uint64, key string) (int64, uint64) {
		n := parse(t, between(", "+key+": 1%", ""))
		n.SetSeed(seed)
		tx := &sender{port: open(t, n, "a"), frames: [][]byte{ipv4(60, "10.0.0.1", "10.0.0.2")}, due: func(i int64) int64 { return i * 1000 }, count: count, burst: 64}
		rx := &receiver{port: open(t, n, "b"), times: []int64{}}
		run(n, second, tx, rx)
		return count - rx.count, rx.hash
	}
	for _, tt := range []struct {
		key  string
		want int64
	}{{"loss", count / 100}, {"duplicate", -count / 100}} {
		n1, h1 := lost(1, tt.key)
		n2, h2 := lost(2, tt.key)
		_, again := lost(1, tt.key)
		for _, n := range []int64{n1, n2} {
			if n < tt.want-150 || n > tt.want+150 { // five deviations
				t.Errorf("%s 1%%: %d of %d, want about %d", tt.key, n, count, tt.want)
			}
		}
		if h1 == h2 || h1 != again {
			t.Errorf("%s: seeds 1, 2, 1 give %x %x %x, want the first and the last equal", tt.key, h1, h2, again)
		}
	}
}

// A stall holds what comes, and nothing is lost while the queue has room. Its share of the time is length / (mean + length).
func TestStall(t *testing.T) {
	n := parse(t, "seed: 3\n"+between(", stall: {mean: 1ms, length: 100us}", ""))
	const count, gap = 1_000_000, 1000
	tx := &sender{port: open(t, n, "a"), frames: [][]byte{ipv4(60, "10.0.0.1", "10.0.0.2")}, due: func(i int64) int64 { return i * gap }, count: count, burst: 1}
	rx := &receiver{port: open(t, n, "b"), times: []int64{}}
	run(n, 2*second, tx, rx)
	if rx.count != count {
		t.Fatalf("%d of %d arrive, want all: %s", rx.count, count, drops(n))
	}
	held, longest := 0, int64(0)
	for i, at := range rx.times {
		if d := at - int64(i)*gap; d > 0 {
			held++
			longest = max(longest, d)
		}
	}
	if share := float64(held) / count; share < 0.08 || share > 0.102 || longest > 100_000 || longest < 99_000 {
		t.Errorf("%.4f of the packets were held, at most %d ns, want about %.4f and 100 µs", share, longest, 0.1/1.1)
	}
}

// A bridge of three links learns where addresses are and floods what it does not know.
func TestBridgeLearns(t *testing.T) {
	n := parse(t, `
ports: [{name: a}, {name: b}, {name: c}]
links:
  - {name: a, between: [a, x]}
  - {name: b, between: [b, x]}
  - {name: c, between: [c, x]}
nodes:
  - {name: x, kind: bridge}
`)
	frame := func(dst, src byte) []byte {
		b := make([]byte, 60)
		b[0], b[5], b[6], b[11] = 2, dst, 2, src
		return b
	}
	stp := make([]byte, 60)
	copy(stp, "\x01\x80\xc2\x00\x00\x00\x02")
	var all []clock.Stepper
	var rx []*receiver
	for i, frames := range [][][]byte{{frame(2, 1), frame(3, 1), stp}, {frame(1, 2)}, {frame(9, 3), frame(9, 9)}} {
		port := open(t, n, []string{"a", "b", "c"}[i])
		rx = append(rx, &receiver{port: port, times: []int64{}})
		all = append(all, &sender{port: port, frames: frames, due: func(k int64) int64 { return 100*k + 10*int64(i) }, count: int64(len(frames)), burst: 1}, rx[i])
	}
	run(n, second, all...)
	// a→2 floods to b and c; b→1 goes to a; c→9 floods; a→3 goes to c; c→9 from 9 would return
	for i, want := range [][]int64{{10, 20}, {0, 20}, {0, 100}} {
		if !slices.Equal(rx[i].times, want) {
			t.Errorf("port %d: arrivals %d, want %d", i, rx[i].times, want)
		}
	}
	if got, want := drops(n), "x/x.a/reserved MAC address: 1; x/x.c/would go back where it came from: 1"; got != want {
		t.Errorf("drops %q, want %q", got, want)
	}
}

// A port that sends above its link's rate is paced: its ring fills, Send refuses, and nothing is lost.
func TestPortPaces(t *testing.T) {
	n := parse(t, strings.Replace(cable(", rate: 1G, queue: 1"), "{name: a}", "{name: a, ring: 16}", 1))
	tx := &sender{port: open(t, n, "a"), frames: [][]byte{ipv4(60, "10.0.0.1", "10.0.0.2")}, due: func(i int64) int64 { return i * 500 }, count: 1000, burst: 1}
	rx := &receiver{port: open(t, n, "b"), times: []int64{}}
	run(n, second, tx, rx)
	if rx.count != 1000 || rx.last != 672*1000 || tx.refused == 0 || drops(n) != "" {
		t.Errorf("%d arrive, the last at %d, %d refusals, drops %q; want 1000, the last at 672000, some, none", rx.count, rx.last, tx.refused, drops(n))
	}
}
