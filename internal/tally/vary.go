package tally

import "loadtest/trial"

// recent is how many packets of a lane a meter remembers: one that is overtaken by no more is still compared with its neighbours.
const recent = 256

// A meter sees the tagged packets of a lane arrive, each once, and measures how their delays vary. It allocates nothing but in grow.
type meter struct {
	trial.Variation
	smooth int64 // Jitter in sixteenths of a ns
	last   int64 // delay of the packet that arrived last
	began  bool
	seen   [recent]passed // by sequence number
}

// passed is a packet that has arrived.
type passed struct {
	seq   uint32
	known bool
	delay int64 // ns
}

// see takes note of a packet: the lower 32 bits of its sequence, and its delay in ns.
func (m *meter) see(seq uint32, delay int64) {
	if m.began { // RFC 3550, A.8: J += (|D| - J) / 16, in sixteenths, rounded
		m.smooth += max(delay-m.last, m.last-delay) - (m.smooth+8)>>4
		m.Compared++
	}
	m.began, m.last = true, delay
	if p := &m.seen[(seq-1)%recent]; p.known && p.seq == seq-1 {
		m.Between.Record(delay - p.delay)
	}
	if p := &m.seen[(seq+1)%recent]; p.known && p.seq == seq+1 { // it was overtaken
		m.Between.Record(p.delay - delay)
	}
	if p := &m.seen[seq%recent]; !p.known || int32(seq-p.seq) > 0 { // one that comes very late does not displace a younger one
		*p = passed{seq, true, delay}
	}
}

// variation is what it has measured.
func (m *meter) variation() trial.Variation {
	v := m.Variation
	v.Jitter, v.Between = m.smooth>>4, m.Between.Clone()
	return v
}

// reset forgets all and keeps the memory.
func (m *meter) reset() {
	m.Between.Reset()
	*m = meter{Variation: trial.Variation{Between: m.Between}}
}
