package nic_test

import (
	"math/rand/v2"
	"testing"

	"loadtest/internal/pace"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/trial"
	"loadtest/units"
)

// lane is n packets of random lengths and gaps, some of them with a tag.
func lane(r *rand.Rand, id uint8, n int) nic.Lane {
	l := nic.Lane{ID: id, Magic: 9, Store: &packet.Store{}}
	for range n {
		size := 60 + r.IntN(1455)
		l.Store.Append(make([]byte, size), 0, size)
		l.Tags = append(l.Tags, int32(40*r.IntN(2)-1)|1)
		l.Gaps = append(l.Gaps, r.Int64N(1e6))
	}
	return l
}

// Every packet is due when package pace says so, at any load that is a whole fraction, in each unit.
func TestScheduleIsThePace(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		unit := []trial.Unit{trial.WireBits, trial.Packets, trial.Factor}[r.IntN(3)]
		l := lane(r, 1, 1+r.IntN(9))
		load := map[trial.Unit]float64{trial.WireBits: float64(1 + r.IntN(1e9)), trial.Packets: float64(1 + r.IntN(1e6)), trial.Factor: float64(1+r.IntN(64)) / 8}[unit]
		num, den, ok := pace.Fraction(unit, load, 1e6)
		if !ok {
			t.Fatalf("no fraction of %g", load)
		}
		const start = 5e9
		var s nic.Schedule
		s.Load([]nic.Lane{l})
		s.Begin(nic.Plan{Trial: 3, Start: start, Count: start, End: nic.Never, Credit: 1, Lanes: []nic.Load{{Unit: unit, Num: num, Den: den}}})
		p := pace.New([]trial.Point{{Load: load}}, pace.Never, 1)
		seq := uint32(0)
		for i := range 500 {
			at := i % l.Store.Len()
			due := start + p.Due()
			if _, wait, ok := s.Next(due - 1); ok || wait != due {
				t.Fatalf("unit %d, load %g, packet %d: due at %d, want %d (ready before: %v)", unit, load, i, wait, due, ok)
			}
			turn, _, ok := s.Next(due)
			if !ok || turn.Packet != at || turn.Tagged != (l.Tags[at] >= 0) || turn.Tagged && (turn.Tag.Seq != seq || turn.Tag.Trial != 3 || turn.Tag.Lane != 1) {
				t.Fatalf("packet %d: turn %+v, ready %v", i, turn, ok)
			}
			if turn.Tagged {
				seq++
			}
			s.Take(&turn, due)
			s.Done(&turn, due)
			switch unit {
			case trial.WireBits:
				p.Next(pace.Bits(units.WireBits(l.Store.Size(at))))
			case trial.Packets:
				p.Next(pace.OnePacket)
			default:
				p.Next(pace.Wait(l.Gaps[at]))
			}
		}
		if o := s.Played(0); o.Intended != 500 || o.Sent != 500 || o.Issued != int64(seq) || o.Tagged != int64(seq) || o.Due != start+p.Due() {
			t.Fatalf("%+v; want 500 sent, %d numbers, next at %d", o, seq, start+p.Due())
		}
	}
}

// A late schedule gives up what is older than the credit, and sends the rest at no more than twice the load, a burst excepted.
func TestScheduleCatchesUp(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var s nic.Schedule
	s.Load([]nic.Lane{lane(r, 0, 5)})
	const gap = 10_000 // 100 kpps
	s.Begin(nic.Plan{End: 1e9, Credit: 100 * gap, Lanes: []nic.Load{{Unit: trial.Packets, Num: 1e9, Den: 1e5}}})
	now, sent := int64(1000*gap), []int64{}
	for now < 1e9 {
		turn, wait, ok := s.Next(now)
		if !ok {
			now = max(wait, now)
			continue
		}
		s.Take(&turn, now)
		s.Done(&turn, now)
		sent = append(sent, now)
	}
	o := s.Played(0)
	if o.Intended != 1e5 || o.Intended-o.Sent != 900 {
		t.Errorf("intended %d, unsent %d; want 100000, 900", o.Intended, o.Intended-o.Sent)
	}
	for i := range sent {
		for _, n := range []int{33, 100, 150} {
			if k := i + n; k < len(sent) && sent[k]-sent[i] < int64(n-33)*gap/2 {
				t.Fatalf("packets %d to %d in %d ns", i, k, sent[k]-sent[i])
			}
		}
	}
}

// The pre-roll is sent and not counted; limits end a lane; what was refused keeps its number.
func TestScheduleBooks(t *testing.T) {
	l := lane(rand.New(rand.NewPCG(5, 6)), 0, 1)
	l.Tags[0] = 20
	var s nic.Schedule
	s.Load([]nic.Lane{l, l})
	s.Begin(nic.Plan{Trial: 2, Preroll: 1, Count: 500, End: nic.Never, Credit: 1000, Lanes: []nic.Load{
		{Unit: trial.Packets, Num: 100, Den: 1, Packets: 10}, {Unit: trial.Packets, Num: 1, Den: 0}}})
	var trials []uint8
	for now := int64(0); ; {
		turn, wait, ok := s.Next(now)
		if wait == nic.Never {
			break
		}
		if !ok {
			now = wait
			continue
		}
		trials = append(trials, turn.Tag.Trial)
		s.Take(&turn, now)
		if len(trials) == 8 {
			s.Refused(&turn)
		} else {
			s.Done(&turn, now)
		}
	}
	if string(trials) != "\x01\x01\x01\x01\x01\x02\x02\x02\x02\x02" {
		t.Errorf("trials % x", trials)
	}
	var h trial.Histogram
	s.Lateness(0, &h)
	if o := s.Played(0); o.Intended != 5 || o.Sent != 4 || o.Issued != 5 || o.Refused != 1 || o.Tagged != 4 || h.Count != 4 {
		t.Errorf("%+v, %d times; want 5 intended, 4 sent, 5 numbers, 1 refused", o, h.Count)
	}
}
