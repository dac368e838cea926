package diagnose

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"loadtest/internal/match"
)

// nextHop looks for questions that nobody answers. Probes want no answer.
func nextHop(s *Seen, st *Stream) (all []Finding) {
	for _, p := range s.ports(st) {
		open := slices.DeleteFunc(p.open(), func(q Question) bool { return p.Name != st.RX && !st.concerns(q) })
		if len(open) == 0 {
			continue
		}
		slices.SortStableFunc(open, func(a, b Question) int {
			foreign := func(q Question) int { return one(st.ToIP.IsValid() && q.Target.Is4() != st.ToIP.Is4()) }
			return cmp.Or(foreign(a)-foreign(b), cmp.Compare(b.Packets, a.Packets))
		})
		all = append(all, looksFor(p, st, open))
	}
	return all
}

// concerns tells whether who gets a stream's packets may ask because of them: it has something to say to their sender.
func (st *Stream) concerns(q Question) bool {
	return (st.To == q.From || st.To[0]&1 != 0) && st.ToIP.IsValid() && st.ToIP.Is4() == q.Target.Is4()
}

// open are the questions that nobody answers, each address once.
func (p *Port) open() (all []Question) {
	for _, q := range p.Questions {
		same := func(o Question) bool { return o.Target == q.Target }
		if !q.Answered && q.Asker.IsValid() && !slices.ContainsFunc(all, same) {
			all = append(all, q)
		}
	}
	return all
}

// notes say of questions of a kind that nobody answers them, or not all.
func (p *Port) notes() map[match.Kind]string {
	notes := map[match.Kind]string{}
	for _, q := range p.open() {
		notes[kindOf(q)] = ", nobody answers"
	}
	for _, q := range p.Questions {
		if q.Answered && notes[kindOf(q)] != "" {
			notes[kindOf(q)] = ", not all answered"
		}
	}
	return notes
}

func kindOf(q Question) match.Kind {
	if q.ND {
		return match.IPv6ND
	}
	return match.ARP
}

// looksFor is the finding about the first of the questions at a port, and how many more need an address of their own.
func looksFor(p *Port, st *Stream, open []Question) Finding {
	q := open[0]
	text := "the device looks for its next hop"
	bits := subnet(q.Target, q.Asker).Bits()
	if p.Name != st.RX {
		text = fmt.Sprintf("the device looks for %s, to say something to the sender", q.Target)
	} else if a := p.addr(q.Target); a.IsValid() {
		text += fmt.Sprintf(" %s, %s answers only for %s", q.Target, p.Name, a.Addr())
		if a.Contains(q.Target) {
			bits = a.Bits()
		} else {
			text += fmt.Sprintf(", and %s is another network", a.Masked())
		}
	}
	mend := fmt.Sprintf("--addr %s=%s/%d", p.Name, q.Target, bits)
	if gw := q.Asker; gw.IsLinkLocalUnicast() || netip.PrefixFrom(q.Target, bits).Masked().Contains(gw) {
		mend += fmt.Sprintf(",gw=%s", gw)
	}
	more := 0
	for _, o := range open[1:] {
		more += one(o.ND == q.ND && !(o.End && netip.PrefixFrom(q.Target, bits).Masked().Contains(o.Target)))
	}
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
		mend += " and so on, or have it route to them via this one"
	}
	return Finding{NextHop, "", p.Name, text, mend}
}

// addr is the address of a port for a target: one in its network, else one of its family, else invalid.
func (p *Port) addr(target netip.Addr) (a netip.Prefix) {
	for _, b := range p.Addrs {
		if b.Contains(target) {
			return b
		}
		if !a.IsValid() && b.Addr().Is4() == target.Is4() {
			a = b
		}
	}
	return a
}

// ours says how a device reaches a port of ours.
func ours(p *Port) string {
	if len(p.Addrs) == 0 {
		return fmt.Sprintf("an address at %s (--addr %s=IP/LEN)", p.Name, p.Name)
	}
	return fmt.Sprintf("%s at %s", p.Addrs[0].Addr(), p.Name)
}

// gatewayIs is the flag that sends a stream's packets to a gateway.
func gatewayIs(p *Port, st *Stream, gw netip.Addr) string {
	a := p.addr(gw)
	if n := network(gw); !a.IsValid() && (n.Contains(st.FromIP) || gw.IsLinkLocalUnicast() && gw.Is4() == st.FromIP.Is4()) {
		a = netip.PrefixFrom(st.FromIP, n.Bits())
	}
	if a.IsValid() {
		return fmt.Sprintf("--addr %s=%s,gw=%s", p.Name, a, gw)
	}
	return fmt.Sprintf("--addr %s=IP/%d,gw=%s", p.Name, network(gw).Bits(), gw)
}

// network is the usual one of an address: /64 of IPv6, /24 of IPv4, and the two halves of what RFC 2544, C.2.2 sets apart for
// tests.
func network(a netip.Addr) netip.Prefix {
	bits := 24
	switch {
	case a.Is6():
		bits = 64
	case netip.MustParsePrefix("198.18.0.0/15").Contains(a):
		bits = 16
	}
	return netip.PrefixFrom(a, bits).Masked()
}

// subnet is the network of two neighbours: the usual one, or the larger one that has both; the usual one too where only a
// network larger than any would have.
func subnet(a, b netip.Addr) netip.Prefix {
	const largest = 8
	n := network(a)
	for p := n; p.Bits() >= largest && a.Is4() == b.Is4() && !b.IsLinkLocalUnicast(); p = netip.PrefixFrom(a, p.Bits()-1).Masked() {
		if p.Contains(b) {
			return p
		}
	}
	return n
}
