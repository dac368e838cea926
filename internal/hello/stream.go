package hello

import (
	"cmp"
	"net/netip"
	"slices"

	"loadtest/internal/diagnose"
	"loadtest/internal/dissect"
	"loadtest/packet"
)

const (
	mostFlows    = 256 // probes of a stream that is made
	mostCaptured = 100 // of one that was captured
)

// A stream is a Stream under way.
type stream struct {
	Stream
	lane   uint8
	probes []probe

	// Of the round at hand.
	pos, end   int // the next probe to send, and behind the last one
	sent, back int
	full       bool // the port once took none

	wrong book[string] // by port
	odd   book[odd]
	told  book[diagnose.Told]
	how   map[odd]string // an example of each
}

// A probe is one packet that is sent.
type probe struct {
	frame  []byte // never written to
	tag    int    // where its tag goes, -1 if it has none
	flow   uint64
	ends   tuple // zero if it has none
	like   likeness
	within []string // encapsulations, as it is sent

	// Of the round at hand.
	sent   bool
	sentAt int64
	back   bool
	step   step // if it is back
}

// newStream chooses the probes. A trial refuses what is no Ethernet frame; it is not sent here, either.
func newStream(s Stream, lane uint8, mode packet.TagMode) *stream {
	st := &stream{Stream: s, lane: lane, how: map[odd]string{}}
	seen := map[uint64]bool{}
	for i := range s.Packets.Len() {
		if s.Captured && i == mostCaptured || len(st.probes) == mostFlows {
			break
		}
		f := s.Packets.Frame(i).Data
		flow := packet.Flow(f)
		if len(f) < packet.EtherLen || !s.Captured && seen[flow] {
			continue
		}
		seen[flow] = true
		st.probes = append(st.probes, newProbe(f, flow, mode))
	}
	return st
}

func newProbe(f []byte, flow uint64, mode packet.TagMode) probe {
	p := probe{frame: f, tag: packet.TagOffset(f, mode), flow: flow, within: encapsulations(f)}
	if p.tag >= 0 {
		p.frame = slices.Clone(f)
		packet.ClearTag(p.frame, p.tag)
	}
	a := arrive(f, "", 0)
	p.ends, _ = tupleOf(a)
	p.like, _ = likenessOf(a)
	return p
}

// begin forgets what came back. The probes before end will be sent.
func (s *stream) begin(end int) {
	s.pos, s.end, s.sent, s.back, s.full = 0, min(end, len(s.probes)), 0, 0, false
	for i := range s.probes {
		p := &s.probes[i]
		p.sent, p.back = false, false
	}
}

// arrived books a probe that came back as b, once. What comes late of an earlier round counts for the one at hand.
func (s *stream) arrived(p *probe, b []byte) {
	if p.sent && !p.back {
		p.back, p.step = true, stepOf(p, b)
		s.back++
	}
}

// result is what the last round says.
func (s *stream) result(mode packet.TagMode) Back {
	b := Back{Name: s.Name, Sent: s.sent, Back: s.back, Packets: s.Packets.Len(), room: roomOf(s.Packets, mode)}
	b.Untagged, b.Smallest = b.room.untagged, b.room.smallest
	for i := range s.probes {
		switch p := &s.probes[i]; {
		case p.back:
			b.Change.add(p.step)
		case p.sent && s.back > 0 && b.Missing == "":
			b.Missing = dissect.Line(p.frame)
		}
	}
	return b
}

// ends tells whether an address is one that a port plays: it sends from there, or expects packets to it.
func (s *stream) ends(a netip.Addr, port string) bool {
	return slices.ContainsFunc(s.probes, func(p probe) bool {
		return s.TX == port && p.ends.src.Addr() == a || s.RX == port && p.ends.dst.Addr() == a
	})
}

// seen is what a diagnosis looks at.
func (s *stream) seen() diagnose.Stream {
	d := diagnose.Stream{Name: s.Name, Source: s.Source, TX: s.TX, RX: s.RX, Captured: s.Captured, Due: s.pos, Sent: s.sent, Back: s.back}
	if s.full {
		d.Due = s.end
	}
	stations := map[[6]byte]int{}
	for i := range s.probes {
		p := &s.probes[i]
		d.Size = max(d.Size, len(p.frame))
		to := [6]byte(p.frame)
		if stations[to]++; stations[to] > stations[d.To] {
			d.To = to
		}
		if !d.ToIP.IsValid() {
			d.FromIP, d.ToIP = p.ends.src.Addr(), p.ends.dst.Addr()
		}
	}
	for _, e := range s.wrong {
		d.Wrong = append(d.Wrong, diagnose.Wrong{Port: e.of, Packets: e.packets})
	}
	for _, e := range s.odd {
		d.Odd = append(d.Odd, diagnose.Odd{How: e.of.how, In: e.of.in, Packets: e.packets, Example: s.how[e.of]})
	}
	for _, e := range s.told {
		e.of.Packets = e.packets
		d.Told = append(d.Told, e.of)
	}
	slices.SortStableFunc(d.Odd, func(a, b diagnose.Odd) int {
		return cmp.Or(cmp.Compare(a.How, b.How), cmp.Compare(b.Packets, a.Packets))
	})
	slices.SortStableFunc(d.Told, func(a, b diagnose.Told) int { return cmp.Compare(b.Packets, a.Packets) })
	return d
}
