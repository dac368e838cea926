package hello

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"loadtest/internal/diagnose"
	"loadtest/internal/dissect"
	"loadtest/packet"
)

// An odd is why a packet of ours is not recognised.
type odd struct {
	how diagnose.How
	in  string
}

// inside looks into an encapsulation, and behind VLAN tags that keep a packet from being known.
func (k *known) inside(a *arrival) (f found, ok bool) {
	if name, inner, _ := dissect.Inner(a.b); inner != nil {
		if f, ok = k.find(arrive(inner, a.port, a.now)); ok {
			if !f.plain && f.odd.how == diagnose.Encapsulated {
				name += "/" + f.odd.in
			}
			f.plain, f.odd = false, odd{diagnose.Encapsulated, name}
			return f, true
		}
	}
	t := vlans(a.b)
	if t.odd == 0 {
		return f, false
	}
	if f, ok = k.find(arrive(slices.Concat(a.b[:12], a.b[t.end:]), a.port, a.now)); ok && f.plain && f.stream != nil {
		sent := cmp.Or(vlans(f.probe.frame).String(), "none")
		f.plain, f.odd = false, odd{diagnose.OtherVLAN, fmt.Sprintf("VLAN %s → %s with TPID 0x%04x", sent, t, t.odd)}
	}
	return f, ok
}

// somewhere looks for a whole tag wherever it may lie.
func (k *known) somewhere(a *arrival) (f found, ok bool) {
	magic := binary.BigEndian.AppendUint16(nil, k.magic)
	for at := 2; at-2+packet.TagLen <= len(a.b); at++ {
		i := bytes.Index(a.b[at:], magic)
		if at += i; i < 0 || at-2+packet.TagLen > len(a.b) {
			break
		}
		if f.ref, ok = k.read(a.b[at-2:]); ok {
			if f.stream != nil {
				f.odd = misplaced(a, f.probe)
			}
			return f, true
		}
	}
	return f, false
}

// misplaced says what became of a packet whose tag is whole, but not at its end.
func misplaced(a *arrival, p *probe) odd {
	names := encapsulations(a.b)
	ends, ip := tupleOf(a)
	switch {
	case len(names) > len(p.within):
		return odd{diagnose.Encapsulated, strings.Join(names, "/")}
	case !ip:
		return odd{diagnose.Encapsulated, fmt.Sprintf("EtherType 0x%04x", a.h.Type)}
	case a.h.Fragment:
		return odd{diagnose.Fragment, sizes(p, a.b)}
	case kept(ends, p.ends) == 0:
		return odd{diagnose.Encapsulated, protocol(ends.proto)}
	}
	return odd{diagnose.Changed, sizes(p, a.b)}
}

// damaged knows by its flow a packet that lost its tag, or one without a tag that came in at another port.
func (k *known) damaged(a *arrival) (f found, ok bool) {
	for _, r := range k.flows[a.flow] {
		here := r.stream.RX == a.port
		if !ok || here && (f.stream.RX != a.port || r.probe.sentAt > f.probe.sentAt) { // the latest of those expected here
			f.ref, ok = r, true
		}
	}
	if !ok {
		return f, false
	}
	h, _ := packet.Parse(f.probe.frame)
	switch was, is := h.End-h.L3, min(a.h.End, len(a.b))-a.h.L3; {
	case is < was:
		f.odd = odd{diagnose.Cut, sizes(f.probe, a.b)}
	case is > was:
		f.odd = odd{diagnose.Changed, sizes(f.probe, a.b)}
	default:
		f.odd = odd{diagnose.Changed, "payload"}
	}
	return f, true
}

// sizes are those of a packet as it was sent and as it came, without FCS.
func sizes(p *probe, b []byte) string { return fmt.Sprintf("%d → %d B", len(p.frame), len(b)) }
