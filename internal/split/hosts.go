package split

import (
	"bytes"
	"slices"
)

// A host is an address and, once it was seen in a flow with ports, its side there.
type host struct {
	addr          [16]byte
	known, server bool
}

// hosts are sorted by address.
type hosts []host

func (h hosts) find(addr [16]byte) *host {
	i, ok := slices.BinarySearchFunc(h, addr, func(h host, a [16]byte) int { return bytes.Compare(h.addr[:], a[:]) })
	if !ok {
		return nil
	}
	return &h[i]
}

// settle decides what has no ports by where its hosts were first seen in what has some.
func (t *Flows) settle() {
	known := t.portless()
	if len(known) == 0 {
		return
	}
	for n := range t.count {
		f := t.flow(n)
		if !f.ported() {
			continue
		}
		low, high := f.addrs()
		for i, addr := range [...][16]byte{low, high} {
			if h := known.find(addr); h != nil && !h.known {
				h.known, h.server = true, f.has(highClient) == (i == 0)
			}
		}
	}
	for n := range t.count {
		f := t.flow(n)
		if f.ported() {
			continue
		}
		a, b := f.addrs()
		switch low, high := known.find(a), known.find(b); {
		case low.known && high.known && low.server == high.server: // they do not tell them apart
		case low.known:
			f.settle(byHosts, low.server)
		case high.known:
			f.settle(byHosts, !high.server)
		}
	}
}

// portless are the hosts of flows without ports.
func (t *Flows) portless() (all hosts) {
	n := 0
	for i := range t.count {
		if !t.flow(i).ported() {
			n++
		}
	}
	all = make(hosts, 0, 2*n)
	for i := range t.count {
		if f := t.flow(i); !f.ported() {
			low, high := f.addrs()
			all = append(all, host{addr: low}, host{addr: high})
		}
	}
	slices.SortFunc(all, func(a, b host) int { return bytes.Compare(a.addr[:], b.addr[:]) })
	return slices.Compact(all)
}
