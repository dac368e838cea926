package dut_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"loadtest/internal/clock"
	"loadtest/ipsec"
	"loadtest/units"
)

func ip4(s string) []byte {
	b := make([]byte, 0, 4)
	for _, p := range strings.Split(s, ".") {
		v, _ := strconv.Atoi(p)
		b = append(b, byte(v))
	}
	return b
}

// imix is genpcap's: seven small, four middle, one large.
var imix = []int{54, 54, 54, 54, 54, 54, 54, 590, 590, 590, 590, 1514}

const second = 1e9

// vitaLimit is the load in wire bits per second up to which T = 1 s passes without loss, and how much one packet is of it.
func vitaLimit(sizes []int) (limit, slack float64) {
	var in, out, largest int64
	for _, s := range sizes {
		in += units.WireBits(s)
		out += units.WireBits(14 + ipsec.Tunnel{}.Size(s-14))
		largest = max(largest, units.WireBits(s))
	}
	queue := float64(in) / float64(len(sizes)) * 1024
	return 1e9*float64(in)/float64(out) + queue, float64(largest)
}

// vita sends one second of both directions at a load and counts the lost packets of each.
func vita(t *testing.T, sizes []int, rate float64, directions int) (lost [2]int64, sent int64) {
	t.Helper()
	n := load(t, "vita-1gbe")
	ports := []string{"node1", "node2"}
	addrs := []string{"172.17.1.7", "172.16.1.7"}
	var tx []*sender
	var rx []*receiver
	var all []clock.Stepper
	for i := range directions {
		var frames [][]byte
		for _, s := range sizes {
			frames = append(frames, ipv4(s, "172.16.1.1", addrs[i]))
		}
		due := at(rate, frames)
		count := int64(0)
		for due(count) < second {
			count++
		}
		tx = append(tx, &sender{port: open(t, n, ports[i]), frames: frames, due: due, count: count, burst: 32})
		all = append(all, tx[i])
	}
	for i := range directions {
		rx = append(rx, &receiver{port: open(t, n, ports[1-i])})
		all = append(all, rx[i])
	}
	run(n, 3*second, all...)
	for i := range directions {
		lost[i] = tx[i].count - rx[i].count
		sent = tx[i].count
	}
	if got := n.Totals(); got.InFlight != 0 || got.Sent-got.Dropped != got.Delivered {
		t.Errorf("books: %+v", got)
	}
	return lost, sent
}

// One second passes without loss up to what the link takes and the queue holds, and not beyond.
func TestVitaLimit(t *testing.T) {
	type test struct {
		name  string
		sizes []int
	}
	tests := []test{{"imix", imix}}
	for _, s := range []int{34, 54, 60, 61, 128, 590, 1500, 1514} {
		tests = append(tests, test{fmt.Sprint(s), []int{s}})
	}
	for _, tt := range tests {
		for directions := 1; directions <= 2; directions++ {
			t.Run(fmt.Sprintf("%s/%d", tt.name, directions), func(t *testing.T) {
				limit, slack := vitaLimit(tt.sizes)
				if limit >= 1e9 { // the queue takes more than the line brings
					if lost, _ := vita(t, tt.sizes, 1e9, directions); lost != [2]int64{} {
						t.Errorf("line rate: lost %d, want none: the limit is %.0f", lost, limit)
					}
					return
				}
				if len(tt.sizes) > 1 {
					slack *= 12 // where in the mix the second ends decides
				}
				if lost, _ := vita(t, tt.sizes, limit-2*slack, directions); lost != [2]int64{} {
					t.Errorf("at %.0f, below the limit: lost %d, want none", limit-2*slack, lost)
				}
				lost, _ := vita(t, tt.sizes, limit+2*slack, directions)
				for _, l := range lost[:directions] {
					if l == 0 || len(tt.sizes) == 1 && l > 3 {
						t.Errorf("at %.0f, above the limit: lost %d, want a few", limit+2*slack, lost)
					}
				}
			})
		}
	}
}

func TestVitaNodropRate(t *testing.T) {
	for _, tt := range []struct {
		load float64
		lost bool
	}{{0.608e9, false}, {0.609e9, false}, {0.610e9, true}, {0.625e9, true}} {
		lost, _ := vita(t, []int{60}, tt.load, 2)
		if lost[0] != lost[1] || lost[0] > 0 != tt.lost {
			t.Errorf("at %.3g: lost %d, want loss: %v, the same both ways", tt.load, lost, tt.lost)
		}
	}
}

// At 9.4 % more than the link takes, the loss is the excess less what the queue holds.
func TestVitaOverload(t *testing.T) {
	capacity := 1e9 * 84 / 138
	rate := 1.094 * capacity
	lost, sent := vita(t, []int{60}, rate, 1)
	want := (rate-capacity)/(84*8) - 1024
	if math.Abs(float64(lost[0])-want) > 2 {
		t.Errorf("lost %d of %d, want %.1f", lost[0], sent, want)
	}
}

// What comes out is what Vita makes of it: two off the TTL, new MACs, a right checksum, the rest as it was.
func TestVitaFrame(t *testing.T) {
	for _, size := range []int{34, 60, 61, 590, 1514} {
		n := load(t, "vita-1gbe")
		in := ipv4(size, "172.16.1.1", "172.17.1.9")
		tx := &sender{port: open(t, n, "node1"), frames: [][]byte{in}, due: func(int64) int64 { return 1000 }, count: 1, burst: 1}
		rx := &receiver{port: open(t, n, "node2"), times: []int64{}}
		run(n, second, tx, rx)
		want := append([]byte(nil), in...)
		copy(want, "\x02\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x01")
		want[22] = 62
		want[24], want[25] = 0, 0
		binary.BigEndian.PutUint16(want[24:], checksum(want[14:34]))
		if len(rx.frames) != 1 || string(rx.frames[0]) != string(want) {
			t.Fatalf("size %d: got %x, want %x", size, rx.frames, want)
		}
		private, public := units.WireBits(size), units.WireBits(14+ipsec.Tunnel{}.Size(size-14))
		if got, want := rx.times[0], 1000+2*private+public; got != want {
			t.Errorf("size %d: arrives at %d ns, want %d", size, got, want)
		}
	}
}

func TestVitaIPv6(t *testing.T) {
	n := load(t, "vita-1gbe")
	frame := func(dst byte) []byte {
		b := make([]byte, 128)
		copy(b, "\x02\x00\x00\x00\x00\x01")
		b[12], b[13], b[14], b[19], b[20], b[21] = 0x86, 0xdd, 0x60, 74, 59, 64
		copy(b[22:], "\xfd\x00\x00\x16")
		copy(b[38:], []byte{0xfd, dst, 1, 0})
		b[53] = 7
		return b
	}
	ports := []string{"node1", "node2"}
	for i, dst := range []byte{1, 2} {
		tx := &sender{port: open(t, n, ports[i]), frames: [][]byte{frame(dst)}, due: func(int64) int64 { return int64(1 + i*1000000) }, count: 1, burst: 1}
		rx := &receiver{port: open(t, n, ports[1-i]), times: []int64{}}
		run(n, int64(i+1)*900000, tx, rx)
		// 2 · 152·8 + (14 + 40+8+8+116+16 + 24)·8
		if want := int64(1+i*1000000) + 2432 + 1808; rx.count != 1 || rx.last != want || rx.frames[0][21] != 62 {
			t.Errorf("%s: %d packets, last at %d, want one at %d with hop limit 62: %+v", ports[i], rx.count, rx.last, want, n.Drops())
		}
	}
}

func TestVitaChatter(t *testing.T) {
	n := load(t, "vita-1gbe")
	a, b := &receiver{port: open(t, n, "node1"), times: []int64{}}, &receiver{port: open(t, n, "node2"), times: []int64{}}
	run(n, 11*second, a, b)
	for _, r := range []*receiver{a, b} {
		if len(r.times) != 2 || r.times[0] != 5*second+672 || r.times[1] != 10*second+672 || len(r.frames[0]) != 42 {
			t.Fatalf("chatter at %d, want at 5 s and 10 s and 672 ns, of 42 bytes", r.times)
		}
	}
	if got := fmt.Sprintf("%x", a.frames[0]); got != "ffffffffffff"+"020000000001"+"0806"+"0001080006040001"+"020000000001ac10000a"+"000000000000ac100001" {
		t.Errorf("ARP request is %s", got)
	}
}
