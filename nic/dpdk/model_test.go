//go:build dpdk && cgo && linux

package dpdk

import (
	"math"
	"slices"

	"loadtest/nic"
	"loadtest/packet"
	"loadtest/trial"
	"loadtest/units"
)

// A model is the rules of nic.Plan for one queue, in Go, packet by packet, into a wire with limited room.
type model struct {
	nic.Plan
	stock   []nic.Lane
	lanes   []modelLane
	pending []modelEntry
	room    int      // packets that the wire still takes
	out     []string // what left
}

type modelLane struct {
	nic.Offer
	pos       int
	left      int64
	rem       uint64
	next      uint32
	counting  bool
	slot      int
	at, ought [32]int64
	lateness  trial.Histogram
}

type modelEntry struct {
	lane, pos, slot int
	due             int64
}

func newModel(p nic.Plan, stock []nic.Lane) *model {
	m := &model{Plan: p, stock: stock, lanes: make([]modelLane, len(stock))}
	for i := range m.lanes {
		l := &m.lanes[i]
		l.Due, l.left = p.Start+p.Lanes[i].Lead, p.Lanes[i].Packets
		if l.left == 0 {
			l.left = math.MaxInt64
		}
		if p.Lanes[i].Den == 0 {
			l.left, l.Due = 0, nic.Never
		}
		for k := range l.at {
			l.at[k] = math.MinInt64 / 2
		}
	}
	return m
}

func (m *model) first(now int64) (best int) {
	best = -1
	for i := range m.lanes {
		l := &m.lanes[i]
		if l.left <= 0 {
			continue
		}
		if m.Lanes[i].Num == 0 {
			l.Due = max(l.Due, now)
		}
		if l.Due < m.End && (best < 0 || l.Due < m.lanes[best].Due || l.Due == m.lanes[best].Due && l.left > m.lanes[best].left) {
			best = i
		}
	}
	return best
}

func (m *model) advance(i int) {
	l, s, load := &m.lanes[i], &m.stock[i], m.Lanes[i]
	cost := uint64(units.WireBits(s.Store.Size(l.pos)))
	switch load.Unit {
	case trial.Packets:
		cost = 1
	case trial.Factor:
		cost = uint64(s.Gaps[l.pos])
	}
	if load.Num > 0 {
		sum := cost*load.Num + l.rem
		l.Due, l.rem = l.Due+int64(sum/load.Den), sum%load.Den
	}
	l.left--
	l.pos = (l.pos + 1) % s.Store.Len()
}

func (m *model) step(now int64) (next int64) {
	m.pending = slices.DeleteFunc(m.pending, func(e modelEntry) bool {
		paced := m.Lanes[e.lane].Num > 0
		if paced && now-e.due > m.Credit {
			if e.due >= m.Count {
				m.lanes[e.lane].Intended++
			}
			return true
		}
		return !paced && now >= m.End
	})
	next = m.fill(now)
	if len(m.pending) == 0 {
		return next
	}
	if m.send(now); len(m.pending) > 0 {
		return now
	}
	return next
}

func (m *model) fill(now int64) int64 {
	for late := 0; ; {
		i := m.first(now)
		if i < 0 {
			return nic.Never
		}
		l := &m.lanes[i]
		due := l.Due
		if due > now {
			return due
		}
		if m.Lanes[i].Num > 0 && now-due > m.Credit {
			if due >= m.Count {
				l.Intended++
			}
			m.advance(i)
			if late++; late == 4096 { // looks at the clock
				return now
			}
			continue
		}
		if len(m.pending) == 32 || len(m.pending) > 0 && (m.pending[0].due >= m.Count) != (due >= m.Count) {
			return now
		}
		if gate := l.at[l.slot] + (due-l.ought[l.slot])/2; gate > now {
			return gate
		}
		m.pending = append(m.pending, modelEntry{i, l.pos, l.slot, due})
		l.slot = (l.slot + 1) % 32
		m.advance(i)
	}
}

func (m *model) send(now int64) {
	n := min(len(m.pending), m.room)
	m.room -= n
	for _, e := range m.pending[:n] {
		l, s := &m.lanes[e.lane], &m.stock[e.lane]
		counted, tagged, size := e.due >= m.Count, s.Tags[e.pos] >= 0, s.Store.Size(e.pos)
		b := append([]byte(nil), s.Store.Frame(e.pos).Data...)
		if tagged {
			t := packet.Tag{Magic: s.Magic, Lane: s.ID, Trial: m.Trial, Nanos: now}
			if !counted {
				t.Trial = m.Preroll
			} else if !l.counting {
				l.counting, l.next = true, 0
			}
			t.Seq = l.next
			l.next++
			t.Put(b[s.Tags[e.pos]:])
		}
		m.out = append(m.out, string(b))
		if m.Lanes[e.lane].Num > 0 {
			l.at[e.slot], l.ought[e.slot] = now, e.due
		}
		if !counted {
			continue
		}
		l.Intended++
		l.Sent++
		l.Bytes += int64(size)
		l.WireBits += units.WireBits(size)
		l.lateness.Record(now-e.due, 1)
		if tagged {
			l.Tagged++
			l.Issued++
		}
	}
	m.pending = append(m.pending[:0], m.pending[n:]...)
}
