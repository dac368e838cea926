package hello

import (
	"cmp"
	"net/netip"
	"slices"

	"loadtest/internal/diagnose"
	"loadtest/internal/dissect"
	"loadtest/internal/neigh"
	"loadtest/packet"
)

// hearing is what was heard at a port that is not ours.
type hearing struct {
	heard     diagnose.Heard
	questions book[question]
	neighbors []diagnose.Neighbor
}

// A question is who asks for whom.
type question struct {
	target, asker netip.Addr
	from          [6]byte
	nd            bool
}

// hear takes one frame: a packet of ours, ICMP about one, or another's.
func (p *port) hear(f *packet.Frame, now int64) {
	r := p.run
	if len(f.Data) < packet.EtherLen {
		p.heard.See(f.Data)
		return
	}
	a := arrive(f.Data, p.name, now)
	if !p.toldOf(a) {
		if found, ok := r.known.find(a); ok {
			r.last = max(r.last, now)
			p.ours(found, a)
			return
		}
	}
	if p.host != nil && p.host.Hear(f.Data, now) {
		return
	}
	p.heard.See(f.Data)
	p.other(f.Data)
}

// ours books a packet of ours.
func (p *port) ours(f found, a *arrival) {
	s := f.stream
	switch {
	case s == nil:
		return
	case s.RX != p.name:
		s.wrong.add(p.name, p.run.round)
	case f.plain:
		s.arrived(f.probe, a.b)
	case s.odd.add(f.odd, p.run.round):
		s.how[f.odd] = dissect.Line(a.b)
	}
	p.neighbor([6]byte(a.b[6:]), netip.Addr{}, "")
}

// toldOf books ICMP that quotes a packet of ours, unless such ICMP is what a stream sends.
func (p *port) toldOf(a *arrival) bool {
	q, ok := dissect.Quoted(a.b)
	if !ok || len(p.run.known.flows[a.flow]) > 0 {
		return false
	}
	header := [packet.EtherLen]byte{12: 0x08}
	if q.V6 {
		header[12], header[13] = 0x86, 0xdd
	}
	t, ok := tupleOf(arrive(append(header[:], q.Packet...), "", 0))
	if !ok {
		return false
	}
	refs := p.run.known.flows[t.flow()]
	if len(refs) == 0 {
		return false
	}
	sender := max(0, slices.IndexFunc(refs, func(r ref) bool { return r.stream.TX == p.name })) // of those that send the same
	told := diagnose.Told{Type: q.Type, Code: q.Code, V6: q.V6, From: q.From, Itself: q.From == t.dst.Addr(), Port: p.name, MTU: q.MTU, Gateway: q.Gateway}
	refs[sender].stream.told.add(told, p.run.round)
	return true
}

// other learns from a frame that is not ours who is on the wire, and who is looked for.
func (p *port) other(b []byte) {
	if target, asker, from, nd, ok := dissect.Question(b); ok {
		p.questions.add(question{target, asker, from, nd}, 0)
	}
	mac, ip, ok := dissect.Binding(b)
	if !ok {
		mac = [6]byte(b[6:])
	}
	p.neighbor(mac, ip, dissect.Role(b))
}

// neighbor notes a station on the wire, once for each of its IP addresses.
func (p *port) neighbor(mac [6]byte, ip netip.Addr, role string) {
	if p.run.own[mac] {
		return
	}
	for i := range p.neighbors {
		n := &p.neighbors[i]
		if n.MAC == mac && (n.IP == ip || !n.IP.IsValid() || !ip.IsValid()) {
			if ip.IsValid() {
				n.IP = ip
			}
			n.Role = cmp.Or(n.Role, role)
			return
		}
	}
	if len(p.neighbors) < mostEntries {
		p.neighbors = append(p.neighbors, diagnose.Neighbor{MAC: mac, IP: ip, Role: role})
	}
}

// tell tells it to a diagnosis. A question is answered by the host, or by whoever has the address on this wire.
func (h *hearing) tell(d *diagnose.Port, host *neigh.Host, end func(netip.Addr) bool) {
	d.Heard, d.Neighbors = h.heard, h.neighbors
	for _, e := range h.questions {
		q := e.of
		there := func(n diagnose.Neighbor) bool { return n.IP == q.target }
		d.Questions = append(d.Questions, diagnose.Question{Target: q.target, Asker: q.asker, From: q.from, ND: q.nd, Packets: e.packets,
			End: end(q.target), Answered: host != nil && host.Answers(q.target) || slices.ContainsFunc(h.neighbors, there)})
	}
}
