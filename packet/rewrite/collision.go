package rewrite

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"loadtest/packet"
)

// maxFlows bounds what is kept to find flows that become one: 48 bytes each, and the map's own.
const maxFlows = 1 << 18

// ends are both ends of a packet.
type ends struct {
	addr [2][16]byte
	port [2]uint16
}

// collisions finds mappings that make one flow of two, which nobody could tell apart behind the device.
type collisions struct {
	seen map[uint64]ends // flow as mapped → ends before
}

// before are a packet's ends as they are now; false: it is of no flow that has any.
func before(p *ip, h packet.Headers, ok bool) (e ends, _ bool) {
	if !ok {
		return e, false
	}
	for i := range 2 {
		copy(e.addr[i][:], p.addr(i))
		if at := p.port(i); at > 0 && !h.Fragment {
			e.port[i] = binary.BigEndian.Uint16(p.b[at:])
		}
	}
	return e, true
}

// check books a packet that was mapped, or may have been.
func (c *collisions) check(p *ip, h packet.Headers, was ends, t *Touched) {
	key := packet.FlowOf(p.b, h, true)
	other, known := c.seen[key]
	switch {
	case !known && len(c.seen) >= maxFlows:
		t.Unchecked++
	case !known:
		if c.seen == nil {
			c.seen = make(map[uint64]ends)
		}
		c.seen[key] = was
	case other != was:
		if t.Collisions++; t.Collision == "" {
			t.Collision = collision(p, h, other, was)
		}
	}
}

// collision says which two ends became one.
func collision(p *ip, h packet.Headers, one, two ends) string {
	i := src
	if one.addr[src] == two.addr[src] && one.port[src] == two.port[src] {
		i = dst
	}
	now, _ := before(p, h, true)
	text := func(e ends) string {
		a, _ := netip.AddrFromSlice(e.addr[i][:len(p.addr(i))])
		if one.addr[i] != two.addr[i] {
			return a.String()
		}
		return netip.AddrPortFrom(a, e.port[i]).String()
	}
	return fmt.Sprintf("%s and %s both become %s", text(one), text(two), text(now))
}
