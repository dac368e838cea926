// Package match knows the tester's own packets among all that arrive.
//
//	frame ─Table.Match→ ours (lane, sequence, time) ─Window→ received once, duplicated, reordered
//	                  → by flow, late, corrupt, foreign (by kind)
//
// It is pure: no port, no clock. One Table serves one receiver; nothing here allocates per packet.
package match

import (
	"encoding/binary"

	"loadtest/packet"
)

// A Verdict says what an arrived frame is.
type Verdict uint8

// Verdicts.
const (
	Foreign Verdict = iota // not ours
	Tagged                 // ours, of this trial
	Preroll                // ours, of this trial's pre-roll
	Late                   // ours, of another trial
	Corrupt                // our magic, but the tag is damaged
	ByFlow                 // like an untagged packet of ours
	Astray                 // ours, but of a lane that is not expected here
)

// A Hit is what Match found.
type Hit struct {
	Verdict Verdict
	Kind    Kind  // of a Foreign frame
	Lane    uint8 // of ours
	Flow    int32 // of ByFlow
	Seq     uint32
	Nanos   int64 // when it was sent
}

// A Table is what one receiver expects.
type Table struct {
	Magic   uint16
	Trial   uint8 // of the running trial
	Preroll uint8 // trial number of its pre-roll; 0: none
	Lanes   [256]bool

	keys  []uint64
	flows []int32
	used  int
}

// Expect adds a flow and returns its number; known flows keep theirs.
func (t *Table) Expect(key uint64) (flow int32, known bool) {
	if t.used*2 >= len(t.keys) {
		t.grow()
	}
	i := t.slot(key)
	if t.flows[i] >= 0 {
		return t.flows[i], true
	}
	t.keys[i], t.flows[i] = key, int32(t.used)
	t.used++
	return t.flows[i], false
}

// Forget takes all flows out.
func (t *Table) Forget() { t.keys, t.flows, t.used = nil, nil, 0 }

// Flows is the number of flows that are expected.
func (t *Table) Flows() int { return t.used }

func (t *Table) grow() {
	keys, flows := t.keys, t.flows
	n := max(16, 2*len(keys))
	t.keys, t.flows = make([]uint64, n), make([]int32, n)
	for i := range t.flows {
		t.flows[i] = -1
	}
	for i, f := range flows {
		if f >= 0 {
			j := t.slot(keys[i])
			t.keys[j], t.flows[j] = keys[i], f
		}
	}
}

// slot is where key stands, or would.
func (t *Table) slot(key uint64) int {
	mask := len(t.keys) - 1
	i := int(key) & mask
	for t.flows[i] >= 0 && t.keys[i] != key {
		i = (i + 1) & mask
	}
	return i
}

// Match says what a frame is. A fragment is none of ours, whatever stands at its end: what was sent whole has not come back. Neither
// is an ICMP error that quotes one of ours to its end.
func (t *Table) Match(b []byte) (hit Hit) {
	h, ok := packet.Parse(b)
	ip := ok && (h.Type == packet.TypeIPv4 || h.Type == packet.TypeIPv6)
	if at := h.End - packet.TagLen; ip && !h.Fragment && at >= h.L4 && h.End <= len(b) &&
		binary.BigEndian.Uint16(b[at+2:]) == t.Magic && !h.Quotes(b) {
		tag, whole := packet.ReadTag(b[at:h.End])
		hit.Lane, hit.Seq, hit.Nanos = tag.Lane, tag.Seq, tag.Nanos
		switch {
		case !whole:
			hit.Verdict = Corrupt
		case !t.Lanes[tag.Lane]:
			hit.Verdict = Astray
		case tag.Trial == t.Trial:
			hit.Verdict = Tagged
		case tag.Trial == t.Preroll && t.Preroll != 0:
			hit.Verdict = Preroll
		default:
			hit.Verdict = Late
		}
		return hit
	}
	if t.used > 0 {
		key := packet.FlowOf(b, h, ok)
		if i := t.slot(key); t.flows[i] >= 0 {
			hit.Verdict, hit.Flow = ByFlow, t.flows[i]
			return hit
		}
	}
	hit.Kind = kind(b, h, ok)
	return hit
}
