package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"loadtest/internal/lab"
	"loadtest/packet"
)

// uneven is a capture of UDP packets with these gaps in ms, numbered in their IP identification; the odd ones are answers, if asked
// for.
func uneven(t *testing.T, answers bool, gaps ...int64) string {
	t.Helper()
	s, at := new(packet.Store), int64(1_700_000_000_000_000_000)
	for i := range len(gaps) + 1 {
		b := make([]byte, 60)
		copy(b, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 46, byte(i >> 8), byte(i), 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x30, 0x39, 0x12, 0x67, 0, 26})
		if answers && i%2 == 1 {
			b[5], b[11], b[29], b[33] = b[11], b[5], b[33], b[29]
			copy(b[34:], []byte{0x12, 0x67, 0x30, 0x39})
		}
		s.Append(b, at, len(b))
		if i < len(gaps) {
			at += gaps[i] * int64(time.Millisecond)
		}
	}
	return capture(t, s)
}

// passes are the gaps within each pass over n packets, and those between passes. Each pass must be whole and in the capture's order.
func passes(t *testing.T, heard []heardPacket, n, loops int) (within [][]int64, between []int64) {
	t.Helper()
	if len(heard) != n*loops {
		t.Fatalf("%d packets arrived, want %d passes of %d", len(heard), loops, n)
	}
	within = make([][]int64, loops)
	for i, h := range heard {
		if h.number != i%n {
			t.Fatalf("packet %d of pass %d arrives as number %d", h.number, i/n+1, i%n)
		}
		switch {
		case i == 0:
		case i%n == 0:
			between = append(between, h.at-heard[i-1].at)
		default:
			within[i/n] = append(within[i/n], h.at-heard[i-1].at)
		}
	}
	return within, between
}

func near1ms(t *testing.T, what string, got int64, want time.Duration) {
	t.Helper()
	t.Logf("%s: %v", what, time.Duration(got))
	if d := time.Duration(got) - want; d < -time.Millisecond || d > time.Millisecond {
		t.Errorf("%s: %v, want %v within 1 ms", what, time.Duration(got), want)
	}
}

// nearest is the gap that is least off: a wrong gap between passes is wrong each time, a disturbance is not.
func nearest(gaps []int64, want time.Duration) int64 {
	off := func(gap int64) time.Duration { return (time.Duration(gap) - want).Abs() }
	return slices.MinFunc(gaps, func(a, b int64) int { return cmp.Compare(off(a), off(b)) })
}

// Where the gaps of a capture are not all the same, each arrives as it is, in every pass; between two passes is their mean, which
// none of them is.
func TestGapsUneven(t *testing.T) {
	device(t)
	lab.Need(t, "tcpdump")
	gaps := []int64{40, 100, 100, 100, 100, 100, 100, 100, 250} // their median is 100, their mean 110
	file, d := uneven(t, false, gaps...), lab.Veth(t)
	for _, factor := range []time.Duration{1, 2} {
		t.Run(fmt.Sprint("x", int(factor)), func(t *testing.T) {
			stop := listen(t, d.B)
			r := loadtest(t, "replay", file, d.A, "-b", fmt.Sprint("x", int(factor)), "--loops", "3")
			heard := stop()
			if r.code != 0 {
				t.Fatalf("exit %d\n%s", r.code, r.talk)
			}
			within, between := passes(t, heard, len(gaps)+1, 3)
			near1ms(t, "median gap", median(slices.Concat(within...)), 100*time.Millisecond/factor)
			for i, gaps := range within {
				near1ms(t, fmt.Sprintf("median gap of pass %d, against pass 1", i+1), median(gaps), time.Duration(median(within[0])))
			}
			for i, gap := range gaps { // the middle of three passes: one disturbance is no wrong pace
				near1ms(t, fmt.Sprint("gap ", i+1), median([]int64{within[0][i], within[1][i], within[2][i]}), time.Duration(gap)*time.Millisecond/factor)
			}
			near1ms(t, "mean gap between passes", nearest(between, 110*time.Millisecond/factor), 110*time.Millisecond/factor)
		})
	}
}

// Both sides of a capture keep their order and gaps across two ports, also over the seam of a pass, where the last packet leaves one
// port and the first the other.
func TestGapsAcrossPorts(t *testing.T) {
	device(t)
	lab.Need(t, "tcpdump")
	gaps := slices.Repeat([]int64{20}, 39)
	gaps[38] = 410 // their mean is 30
	file, left, right := uneven(t, true, gaps...), lab.Veth(t), lab.Veth(t)
	clients, servers := listen(t, left.B), listen(t, right.B)
	r := loadtest(t, "replay", "--split", "--wait", "0", "--loops", "3", file, left.A, right.A)
	heard := slices.Concat(clients(), servers())
	slices.SortFunc(heard, func(a, b heardPacket) int { return int(a.at - b.at) })
	// Nobody forwards between the two wires, so the program misses all that it sent: only its pace is looked at.
	within, between := passes(t, heard, len(gaps)+1, 3)
	for i, gaps := range within {
		near1ms(t, fmt.Sprint("median gap of pass ", i+1), median(gaps), 20*time.Millisecond)
	}
	near1ms(t, "mean gap between passes", nearest(between, 30*time.Millisecond), 30*time.Millisecond)
	if t.Failed() {
		t.Logf("exit %d\n%s%s", r.code, r.out, r.talk)
	}
}
