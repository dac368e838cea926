package gen

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
)

// Ports count up from RFC 2544's (C.2.6.4), around the ports below 1024; the destination's is always echo.
const (
	firstPort  = 0xc020
	leastPort  = 1024
	ports      = 1<<16 - leastPort
	serverPort = 7
)

// A tuple is what tells flows apart.
type tuple struct {
	src, dst [16]byte // IPv4 addresses are the last four bytes
	port     uint16   // the source's
}

// tuples are the tuples of a Spec, by number.
type tuples struct {
	src, dst hosts
	pairs    uint64 // of addresses
	period   uint64 // flows after which both count from their first host again
}

// tuples refuses more flows than there are tuples.
func (s Spec) tuples(avoid []netip.Addr) (t tuples, err error) {
	t = tuples{src: hostsOf(s.Src, avoid), dst: hostsOf(s.Dst, avoid)}
	for _, h := range []hosts{t.src, t.dst} {
		if h.n == 0 {
			return t, fmt.Errorf("%s has no host but the router's and the tester's: want a wider prefix", h.prefix)
		}
	}
	t.pairs = t.src.n * t.dst.n
	t.period = t.pairs / gcd(t.src.n, t.dst.n)
	most := t.pairs
	if s.Proto != icmp {
		most = min(most, 1<<31) * ports
	}
	if uint64(s.Flows) > most {
		return t, fmt.Errorf("%d flows: %s to %s are at most %d of %s. Fewer flows, or wider prefixes", s.Flows, s.Src, s.Dst, most, s.Proto)
	}
	return t, nil
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// tuple is that of flow i: both addresses count up. Each time that both are at their first host again the destination is moved on
// by one more, and after all pairs the port.
func (t tuples) tuple(i uint64) tuple {
	pair, round := i%t.pairs, i/t.pairs
	return tuple{
		src:  t.src.at(pair % t.src.n),
		dst:  t.dst.at((pair + pair/t.period) % t.dst.n),
		port: uint16(leastPort + (firstPort-leastPort+round)%ports),
	}
}

// hosts are the addresses of a prefix that flows may have.
type hosts struct {
	prefix netip.Prefix
	skip   []uint64 // those that they may not have, counted from the first, ascending
	n      uint64   // how many are left
}

// hostsOf leaves out the network's own address, the next, which is a router's in most networks and in RFC 2544 (C.2.2), the
// broadcast address, and those to avoid. Prefixes of one or two addresses have neither (RFC 3021, RFC 6164). Beyond 2^31 hosts
// nobody counts.
func hostsOf(p netip.Prefix, avoid []netip.Addr) hosts {
	bits := p.Addr().BitLen() - p.Bits()
	all := uint64(1) << min(bits, 31)
	h := hosts{prefix: p}
	if bits > 1 {
		h.skip = append(h.skip, 0, 1)
		if p.Addr().Is4() && bits <= 31 {
			h.skip = append(h.skip, all-1)
		}
	}
	high, low := words(p.Addr())
	for _, a := range avoid {
		aHigh, aLow := words(a.Unmap())
		if p.Contains(a.Unmap()) && aHigh == high && aLow-low < all {
			h.skip = append(h.skip, aLow-low)
		}
	}
	slices.Sort(h.skip)
	h.skip = slices.Compact(h.skip)
	h.n = all - uint64(len(h.skip))
	return h
}

// words are an address as two numbers.
func words(a netip.Addr) (high, low uint64) {
	b := a.As16()
	return binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
}

// at is host i.
func (h hosts) at(i uint64) [16]byte {
	for _, s := range h.skip {
		if i >= s {
			i++
		}
	}
	_, low := words(h.prefix.Addr())
	b := h.prefix.Addr().As16()
	binary.BigEndian.PutUint64(b[8:], low+i)
	return b
}
