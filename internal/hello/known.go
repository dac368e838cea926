package hello

import (
	"loadtest/packet"
)

// known is what is known of our packets.
type known struct {
	magic   uint16
	since   int64 // what was sent before is of an earlier run
	streams []*stream
	flows   map[uint64][]ref   // also by those that translation turned out to give them
	likes   map[likeness][]ref // of packets without a tag
}

// A ref is one probe.
type ref struct {
	stream *stream
	probe  *probe
}

// A found is a packet of ours; of an earlier run's the stream is nil.
type found struct {
	ref
	plain bool // the receiver of a trial would know it, too; else:
	odd   odd
}

// An arrival is a frame that came in.
type arrival struct {
	b    []byte
	h    packet.Headers
	ok   bool   // the headers are whole
	flow uint64 // packet.Flow
	port string
	now  int64
}

func arrive(b []byte, port string, now int64) *arrival {
	a := &arrival{b: b, port: port, now: now}
	a.h, a.ok = packet.Parse(b)
	a.flow = packet.FlowOf(b, a.h, a.ok)
	return a
}

func (a *arrival) ip() bool {
	return a.ok && (a.h.Type == packet.TypeIPv4 || a.h.Type == packet.TypeIPv6)
}

func (k *known) add(s *stream) {
	k.streams = append(k.streams, s)
	for i := range s.probes {
		p := &s.probes[i]
		k.flows[p.flow] = append(k.flows[p.flow], ref{s, p})
		if p.tag < 0 && p.like.etherType != 0 {
			k.likes[p.like] = append(k.likes[p.like], ref{s, p})
		}
	}
}

// find tells which of our packets came in. The surest sign goes first.
func (k *known) find(a *arrival) (f found, ok bool) {
	if f.ref, ok = k.tagged(a); ok {
		f.plain = true
		return f, true
	}
	if f.ref, ok = k.expected(a); ok {
		f.plain = true
		return f, true
	}
	if f, ok = k.inside(a); ok {
		return f, true
	}
	if f, ok = k.somewhere(a); ok {
		return f, true
	}
	if f.ref, ok = k.translated(a); ok {
		f.plain = true
		return f, true
	}
	return k.damaged(a)
}

// tagged knows a packet by the tag at its end, as package match does.
func (k *known) tagged(a *arrival) (r ref, ok bool) {
	at := a.h.End - packet.TagLen
	if !a.ip() || a.h.Fragment || at < a.h.L4 || a.h.End > len(a.b) || a.h.Quotes(a.b) {
		return r, false
	}
	return k.read(a.b[at:])
}

// read is the probe whose tag stands at the beginning of b.
func (k *known) read(b []byte) (r ref, ok bool) {
	t, whole := packet.ReadTag(b)
	switch {
	case !whole || t.Magic != k.magic:
		return r, false
	case t.Trial != 0 || t.Nanos < k.since:
		return r, true
	case int(t.Lane) >= len(k.streams):
		return r, false
	}
	s := k.streams[t.Lane]
	return ref{s, &s.probes[int(t.Seq)%len(s.probes)]}, true
}

// expected knows a packet without a tag by its flow, at the port where it is expected. Of several of one flow it is the one with
// the same content, else the first that is not back.
func (k *known) expected(a *arrival) (found ref, ok bool) {
	refs := k.flows[a.flow]
	if len(refs) == 0 {
		return found, false
	}
	like, _ := likenessOf(a)
	best := -1
	for _, r := range refs {
		if r.stream.RX != a.port || r.probe.tag >= 0 {
			continue
		}
		n := 0
		if r.probe.sent && !r.probe.back {
			n = 1
			if like == r.probe.like {
				n = 2
			}
		}
		if n > best {
			found, best, ok = r, n, true
		}
	}
	return found, ok
}

// translated knows a packet without a tag whose addresses are others by its likeness; the rest of its flow is known from then on.
func (k *known) translated(a *arrival) (r ref, ok bool) {
	like, ok := likenessOf(a)
	if !ok {
		return r, false
	}
	ends, _ := tupleOf(a)
	if r, ok = k.alike(like, ends, a); !ok {
		return r, false
	}
	for _, other := range k.flows[r.probe.flow] {
		if other.stream == r.stream && other.probe.tag < 0 {
			k.flows[a.flow] = append(k.flows[a.flow], other)
		}
	}
	return r, true
}
