package hello

import "net/netip"

// A Change is what the device does to the packets of a stream. The zero value is a device that changes nothing.
type Change struct {
	steps    []step // of each probe that came back, in the order they were sent
	exact    map[tuple]tuple
	src, dst mapping
}

func (c *Change) add(s step) {
	c.steps = append(c.steps, s)
	if !s.comparable() {
		return
	}
	if c.exact == nil {
		c.exact = map[tuple]tuple{}
	}
	from, to := s.from.ends, s.to.ends
	c.exact[from] = to
	c.src.add(from.src, to.src)
	c.dst.add(from.dst, to.dst)
}

// Expect is the packet.Flow that a frame will have when it comes back: with its addresses and ports translated as those of its flow
// were. Of a flow that was not probed the addresses are translated alone, if they always are in the same way and ports stay.
func (c *Change) Expect(frame []byte) uint64 {
	a := arrive(frame, "", 0)
	if len(c.exact) == 0 || !a.ip() {
		return a.flow
	}
	t, _ := tupleOf(a)
	to, ok := c.exact[t]
	if !ok {
		to = t
		to.src, to.dst = c.src.of(t.src), c.dst.of(t.dst)
	}
	if to == t {
		return a.flow
	}
	return to.flow()
}

// A mapping is how the addresses of one end are translated.
type mapping struct {
	to     map[netip.Addr]netip.Addr
	varies bool       // one becomes several, or its port changes: nothing follows for other flows
	one    netip.Addr // that all become; invalid if they become several
}

func (m *mapping) add(from, to netip.AddrPort) {
	if m.to == nil {
		m.to, m.one = map[netip.Addr]netip.Addr{}, to.Addr()
	}
	if known, ok := m.to[from.Addr()]; ok && known != to.Addr() || from.Port() != to.Port() {
		m.varies = true
	}
	if m.to[from.Addr()] = to.Addr(); m.one != to.Addr() {
		m.one = netip.Addr{}
	}
}

// of is what becomes of an address. Two that become one are taken for all.
func (m *mapping) of(a netip.AddrPort) netip.AddrPort {
	to, ok := m.to[a.Addr()]
	switch {
	case m.varies:
		return a
	case ok:
		return netip.AddrPortFrom(to, a.Port())
	case m.one.IsValid() && len(m.to) > 1 && m.one.Is4() == a.Addr().Is4():
		return netip.AddrPortFrom(m.one, a.Port())
	}
	return a
}
