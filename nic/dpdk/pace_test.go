//go:build dpdk && cgo && linux

package dpdk

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"loadtest/internal/lab"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/trial"
)

// TestPlayerAsModel steps C's player and the model at the same times, into a wire that is often full and with long delays: what
// leaves, when the next step is due, and the books are the same.
func TestPlayerAsModel(t *testing.T) {
	lab.Need(t, "dpdk")
	const room = 127
	a, b := ringWire(t, room+1, Options{})
	tx, rx := a.Queues[0].(*port), b.Queues[0]
	unsent, sent := int64(0), int64(0)
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 10))
		plan := nic.Plan{Trial: 7, Preroll: 6, Start: 1e9, Credit: r.Int64N(300e3), End: 1e9 + r.Int64N(5e6)}
		plan.Count = plan.Start + r.Int64N(2)*r.Int64N(1e6)
		var stock []nic.Lane
		for i := range 1 + r.IntN(4) {
			sizes := make([]int, 1+r.IntN(9))
			for k := range sizes {
				sizes[k] = 60 + r.IntN(1455)
			}
			stock = append(stock, lane(t, uint8(i), r.IntN(4), sizes...))
			l := nic.Load{Unit: []trial.Unit{trial.WireBits, trial.Packets, trial.Factor}[r.IntN(3)], Num: 1 + r.Uint64N(1e6), Den: 1 + r.Uint64N(1e5), Lead: r.Int64N(1e4)}
			switch l.Unit {
			case trial.WireBits:
				l.Num, l.Den = 1e9, 1+r.Uint64N(40e9)
			case trial.Packets:
				l.Num, l.Den = 1e9, 1+r.Uint64N(5e6)
			default:
				l.Num = 1 + r.Uint64N(3)
				l.Den = 1 + r.Uint64N(7)
				stock[i].Gaps[0] = 1 + r.Int64N(5000)
			}
			if k := r.IntN(12); k == 0 {
				l.Num, l.Den = 0, 1
			} else if k == 1 {
				l.Den = 0
			}
			if r.IntN(3) == 0 {
				l.Packets = 1 + r.Int64N(2000)
			}
			plan.Lanes = append(plan.Lanes, l)
		}
		if err := tx.Load(stock); err != nil {
			t.Fatal(err)
		}
		if err := tx.Begin(plan); err != nil {
			t.Fatal(err)
		}
		m := newModel(plan, stock)
		m.room = room
		frames, got := make([]packet.Frame, 256), 0
		drain := func() {
			for n, _ := rx.Recv(frames); n > 0; n, _ = rx.Recv(frames) {
				for _, f := range frames[:n] {
					if got == len(m.out) || string(f.Data) != m.out[got] {
						t.Fatalf("seed %d: packet %d differs of %d", seed, got, len(m.out))
					}
					got++
				}
			}
			m.room = room
		}
		for now, steps := plan.Start-100, 0; ; steps++ {
			next, want := tx.step(now), m.step(now)
			if next != want {
				t.Fatalf("seed %d, step %d at %d: next is %d, want %d", seed, steps, now, next, want)
			}
			for i := range stock {
				want := m.lanes[i].Offer
				for _, e := range m.pending {
					if e.lane == i {
						want.Due = e.due
						break
					}
				}
				if o := tx.Played(i); o != want {
					t.Fatalf("seed %d, step %d at %d, lane %d, plan %+v:\n got %+v\nwant %+v", seed, steps, now, i, plan, o, want)
				}
			}
			if next == nic.Never {
				break
			}
			if now = max(now+1, min(next, now+r.Int64N(1e5))); r.IntN(3) > 0 {
				drain()
			}
			if r.IntN(40) == 0 {
				now += r.Int64N(1e6)
			}
		}
		drain()
		if got != len(m.out) {
			t.Fatalf("seed %d: %d packets came, want %d", seed, got, len(m.out))
		}
		for i := range m.lanes {
			var late trial.Histogram
			tx.Lateness(i, &late)
			if w := &m.lanes[i].lateness; fmt.Sprint(late.Count, late.Min, late.Max, late.Sum, late.Bars()) != fmt.Sprint(w.Count, w.Min, w.Max, w.Sum, w.Bars()) {
				t.Fatalf("seed %d, lane %d: lateness %+v, want %+v", seed, i, late, w)
			}
			sent += m.lanes[i].Sent
			unsent += m.lanes[i].Intended - m.lanes[i].Sent
		}
	}
	t.Logf("%d packets sent, %d unsent", sent, unsent)
	if sent < 50000 || unsent < 5000 {
		t.Error("too few to compare")
	}
}
