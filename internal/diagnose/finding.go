package diagnose

import (
	"cmp"
	"slices"
)

// A Cause is why packets do not come back.
type Cause uint8

// Causes, worst first: what comes earlier keeps what comes later from mattering.
const (
	LinkDown     Cause = iota
	NotLeaving         // the driver does not send what it was given
	WrongPort          // ours come back where nobody expects them
	Unrecognised       // ours come back, but not as they were sent
	Refused            // ICMP says why the device does not forward
	NextHop            // the device asks for an address, and nobody answers
	WrongMAC           // sent to a station that is not there
	Blocked            // a switch's port is not open: spanning tree, 802.1X
	Silence            // nothing that was heard says why
)

// A Finding is a cause that the evidence speaks for.
type Finding struct {
	Cause  Cause
	Stream string // of which it is; "" where it is a port's, or of several streams
	Port   string // where it was seen; may be ""
	Text   string // the evidence
	Mend   string // the flag, command or change that mends it
}

// Of looks for causes, worst first, for each stream that nothing came back of. A stream that is expected nowhere has none.
func Of(s Seen) []Finding {
	var all []Finding
	for i := range s.Streams {
		st := &s.Streams[i]
		if !st.lost() {
			continue
		}
		before := len(all)
		for _, look := range []func(*Seen, *Stream) []Finding{
			linkDown, notLeaving, wrongPort, unrecognised, sealed, refused, nextHop, wrongMAC, blocked,
		} {
			all = append(all, look(&s, st)...)
		}
		if len(all) == before {
			all = append(all, silence(&s, st)...)
		}
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(a.Cause, b.Cause) })
	return once(all)
}

// lost says whether a stream is one that nothing came back of.
func (st *Stream) lost() bool { return st.Back == 0 && st.RX != "" }

// once leaves one of findings that say the same.
func once(all []Finding) (some []Finding) {
	for _, f := range all {
		i := slices.IndexFunc(some, func(g Finding) bool { return g.Cause == f.Cause && g.Text == f.Text && g.Mend == f.Mend })
		if i < 0 {
			some = append(some, f)
		} else if some[i].Stream != f.Stream {
			some[i].Stream = ""
		}
	}
	return some
}

// port is what a port saw. Nothing is known of one that is not listed.
func (s *Seen) port(name string) *Port {
	if i := slices.IndexFunc(s.Ports, func(p Port) bool { return p.Name == name }); i >= 0 {
		return &s.Ports[i]
	}
	return &Port{Name: name}
}

// ports are those of a stream that are listed, each once: first where its packets are expected.
func (s *Seen) ports(st *Stream) (all []*Port) {
	for _, name := range []string{st.RX, st.TX} {
		for i := range s.Ports {
			if p := &s.Ports[i]; p.Name == name && !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return all
}
