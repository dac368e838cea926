package rewrite

import (
	"fmt"

	"loadtest/packet"
)

// A Reader gives the records of another as rules make them, all with an Ethernet header. It keeps one packet at a time; with
// mappings, the ends of up to 262 144 flows beside.
type Reader struct {
	rules    Rules
	plain    bool // there are none
	in       packet.Reader
	frame    frame
	end      []byte // the frame at hand, with its padding
	segments segments
	divided  packet.Record // that the segments are of
	flows    collisions
	touched  Touched
}

// Reader reads in through the rules, which must have passed Check. It is the reader's to close.
func (r Rules) Reader(in packet.Reader) *Reader {
	plain := r.MACs == MACs{} && !r.Swap && r.VLAN == nil && r.Map == nil && r.TTL == TTLOp{} && r.Resegment == 0 && r.Cut == 0 && r.Pad == 0 && !r.Checksums
	return &Reader{rules: r, plain: plain, in: in}
}

// Touched is what was done to the records so far.
func (r *Reader) Touched() Touched { return r.touched }

// Close closes the reader that the records come from.
func (r *Reader) Close() error { return r.in.Close() }

// Next gives the next record; its data are lent until the next call. Packets of one record have its time and number. An error
// leaves in to which record it is about.
func (r *Reader) Next(to *packet.Record) error {
	if b, ok := r.segments.next(); ok {
		*to = r.divided
		r.finish(to, b, 0, 0)
		return nil
	}
	for {
		if err := r.in.Next(to); err != nil {
			return err
		}
		if r.plain && to.Link <= packet.LinkEthernet {
			r.touched.Packets++
			return nil
		}
		if gone, err := r.rewrite(to); err != nil || !gone {
			return err
		}
	}
}

// rewrite makes of a record what it becomes, or its first part. gone: it is left out.
func (r *Reader) rewrite(to *packet.Record) (gone bool, err error) {
	t, f := &r.touched, &r.frame
	if err := f.load(to); err != nil {
		return false, err
	}
	if to.Link > packet.LinkEthernet {
		if !r.rules.SetDst || !r.rules.SetSrc {
			return false, fmt.Errorf("record %d: %w: want a destination and a source MAC address for a new one", to.Number, noEthernet(to.Link))
		}
		t.Ethernet++
	}
	// What was not captured, and what the wire did not have, stays like that.
	extra := to.Wire - len(to.Data)
	if to.Link > packet.LinkEthernet {
		to.Link = packet.LinkEthernet
	}
	if r.rules.Swap {
		if group(f.bytes()) {
			t.Groups++
			return true, nil
		}
		swap(f.bytes())
		t.Swapped++
	}
	tags := false
	for _, op := range r.rules.VLAN {
		tags = op.apply(f) || tags
	}
	count(&t.VLAN, tags)
	b := f.bytes()
	missing := max(0, extra)
	if r.rules.Map != nil || r.rules.TTL.Kind != TTLKeep {
		r.network(b, missing)
	}
	count(&t.MAC, r.rules.MACs.write(b))
	if r.rules.Resegment > 0 {
		whole := b
		if b = r.divide(b, missing); len(b) < len(whole) {
			extra = 0
			r.divided = *to
		}
	}
	r.finish(to, b, missing, min(0, extra))
	return false, nil
}

// network maps addresses and ports, and changes the TTL.
func (r *Reader) network(b []byte, missing int) {
	t := &r.touched
	h, whole := packet.Parse(b)
	p, ok := look(b, h.L3, h.Type, missing)
	switch {
	case ok && r.rules.Map != nil:
		was, flow := before(&p, h, whole)
		changed, skipped := p.remap(r.rules.Map)
		count(&t.Mapped, changed)
		count(&t.Fragments, skipped)
		if flow {
			r.flows.check(&p, h, was, t)
		}
	case h.Type == packet.TypeARP && h.L3 > 0:
		count(&t.Mapped, remapARP(b[h.L3:], r.rules.Map))
	}
	if ok {
		count(&t.TTL, r.rules.TTL.apply(&p))
	}
}

// finish makes a frame as long as it should be, and its checksums right. missing is what was not captured of it; less is how much
// shorter it was on the wire than here, at most 0.
func (r *Reader) finish(to *packet.Record, b []byte, missing, less int) {
	t := &r.touched
	if r.rules.Cut > 0 && len(b) > r.rules.Cut {
		n := len(b)
		b = cut(b, r.rules.Cut, missing)
		if len(b) < n {
			t.Cut++
			missing, less = 0, 0
		}
	}
	if n := r.rules.Pad - len(b); n > 0 && missing == 0 {
		r.end = append(append(r.end[:0], b...), make([]byte, n)...)
		b, less = r.end, 0
		t.Padded++
	}
	if r.rules.Checksums {
		h, _ := packet.Parse(b)
		p, ok := look(b, h.L3, h.Type, missing)
		count(&t.Checksums, ok && p.fix())
	}
	to.Data, to.Wire = b, len(b)+missing+less
	t.Packets++
}

func count(n *int64, yes bool) {
	if yes {
		*n++
	}
}

func noEthernet(link uint16) error {
	return fmt.Errorf("no Ethernet header (%s, %d)", packet.LinkName(link), link)
}
