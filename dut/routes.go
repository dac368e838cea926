package dut

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"slices"
)

// An address is of IPv6, or of IPv4 in the lowest 32 bits.
type address struct{ hi, lo uint64 }

func addressOf(a netip.Addr) address {
	if a.Is4() {
		b := a.As4()
		return address{lo: uint64(binary.BigEndian.Uint32(b[:]))}
	}
	b := a.As16()
	return address{binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])}
}

// routing is a router's tables, the longest prefix first.
type routing struct {
	v4, v6     []route
	own4, own6 []ownAddress // the sources of ICMP
	tunnels    []*tunnel
}

// An ownAddress is one of a router's.
type ownAddress struct {
	address
	in *iface
}

// A route sends a prefix somewhere.
type route struct {
	prefix, mask address
	bits         int
	via          via
}

// A via is where to. The node's own addresses have out == nil.
type via struct {
	out    *iface
	tunnel *tunnel // into it; nil: plain
	mac    [6]byte // of the next hop
}

// add puts a route into its table.
func (r *routing) add(p netip.Prefix, v via) {
	table, width := &r.v6, 128
	if p.Addr().Is4() {
		table, width = &r.v4, 32
	}
	low := width - p.Bits()                                 // bits that do not matter
	mask := address{^uint64(0), ^uint64(0) << min(low, 64)} // a shift by 64 is 0
	if low > 64 {
		mask.hi <<= low - 64
	}
	prefix := addressOf(p.Addr())
	prefix.hi &= mask.hi
	prefix.lo &= mask.lo
	*table = append(*table, route{prefix, mask, p.Bits(), v})
}

// sort makes the tables ready for find, once all routes are there.
func (r *routing) sort() {
	for _, table := range [][]route{r.v4, r.v6} {
		slices.SortStableFunc(table, func(a, b route) int { return cmp.Compare(b.bits, a.bits) })
	}
}

// find is the way of the longest prefix that holds dst; nil: none.
func find(routes []route, dst address) *via {
	for i := range routes {
		r := &routes[i]
		if dst.lo&r.mask.lo == r.prefix.lo && dst.hi&r.mask.hi == r.prefix.hi {
			return &r.via
		}
	}
	return nil
}
