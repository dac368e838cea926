package hello

import (
	"fmt"
	"strings"

	"loadtest/packet"
	"loadtest/units"
)

// room is how many packets of a store go without a tag, and why.
type room struct {
	packets, untagged int
	small, full, none int  // have no room for it, have data in its place, are no whole IP packets
	never             bool // nobody wants tags

	kind     string // of most of the small ones
	smallest int    // bytes with FCS from which on that kind has room; 0 unknown
}

// roomOf looks at all packets of a store.
func roomOf(s *packet.Store, mode packet.TagMode) room {
	r := room{packets: s.Len(), never: mode == packet.TagNever}
	type kind struct {
		proto uint8
		v6    bool
		size  int
	}
	kinds := map[kind]int{}
	for i := range s.Len() {
		b := s.Frame(i).Data
		if packet.TagOffset(b, mode) >= 0 {
			continue
		}
		r.untagged++
		switch h, ok := packet.Parse(b); {
		case !ok || h.Type != packet.TypeIPv4 && h.Type != packet.TypeIPv6 || h.Fragment || h.End > len(b):
			r.none++
		case h.End-packet.TagLen >= h.Payload:
			r.full++
		default:
			r.small++
			kinds[kind{h.Proto, h.Type == packet.TypeIPv6, max(units.MinFrame, h.Payload+packet.TagLen) + units.FCS}]++
		}
	}
	most := 0
	for k, n := range kinds {
		if n > most || n == most && k.size > r.smallest {
			most, r.kind, r.smallest = n, protocol(k.proto), k.size
			if k.v6 && k.proto != packet.ProtoICMPv6 {
				r.kind += " over IPv6"
			}
		}
	}
	return r
}

// String is what that means for a measurement; "" if all have tags.
func (r *room) String() string {
	if r.untagged == 0 {
		return ""
	}
	var why []string
	add := func(n int, what string) {
		if n > 0 {
			why = append(why, share(n, r.packets)+" "+what)
		}
	}
	add(r.small, fmt.Sprintf("have no room for a tag (%d bytes of payload)", packet.TagLen))
	if r.never {
		add(r.full, "go without a tag (--tag never)")
	} else {
		add(r.full, "have data where a tag goes")
	}
	add(r.none, "cannot have a tag (no IP, or a fragment)")
	why[0] = strings.Replace(why[0], " % ", " % of its packets ", 1)
	hint := ""
	switch {
	case r.never:
	case r.small > 0:
		hint = fmt.Sprintf("; from %d B on %s has it", r.smallest, r.kind)
	case r.full > 0:
		hint = "; --tag always writes over it"
	}
	return strings.Join(why, ", ") + ": latency, order and copies are not known, a copy can hide a loss" + hint
}

// share is a share in percent, without a decimal that says nothing.
func share(n, of int) string {
	return strings.Replace(units.Ratio(float64(n)/float64(of)).String(), ".0 %", " %", 1)
}
