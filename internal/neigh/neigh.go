// Package neigh is the tester as a neighbour on the wire: it answers ARP, neighbour solicitation and ping for its addresses, asks
// for its gateways and announces itself, so that devices and switches know where to send.
//
//	frame, time ─Host.Hear→ answers ┐
//	time ─Host.Step→ queries, announcements ┴→ ring ─Host.Flush→ port        Attendant: both halves of a port that nobody else uses
//
// A Host is pure: it is handed frames and times. It has two halves that may be two goroutines, joined by the ring.
package neigh

import (
	"math"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"loadtest/internal/clock"
)

// Options of a Host.
type Options struct {
	MAC       [6]byte // the port's
	Addresses []Address

	// Serves tells of further addresses that the tester plays, the ends of streams: they are answered for where they lie inside
	// the prefix of an Address and are no gateway's. nil: none.
	Serves func(netip.Addr) bool

	Own      func([6]byte) bool // MAC addresses of all the tester's ports; nil: only this port's
	Every    time.Duration      // between announcements; default 30 s
	MaxFrame int                // bytes without FCS and VLAN tag, default 1514, of 128 to 9216; longer answers are not made
}

// Counts are what was answered.
type Counts struct {
	ARP, ND, Ping int64
	Dropped       int64 // answers that found the queue full or were too long
}

// A Gateway is one that an Address has, and what is known of it.
type Gateway struct {
	Address
	MAC    [6]byte // the gateway's; good if Known
	Known  bool
	Failed bool // the last Resolve got no answer: 3 tries, 1 s each
}

// A Conflict is somebody else who claims an address that the tester answers for.
type Conflict struct {
	IP  netip.Addr
	MAC [6]byte
}

// conflictsMax is how many conflicts are kept: the first ones.
const conflictsMax = 8

// A Host is the tester's presence at one port. Pending and Flush are the send half's; all else is the receive half's, or anybody's
// while neither runs.
type Host struct {
	o         Options
	places    []place
	ring      ring
	counts    Counts
	conflicts []Conflict
	tooLong   atomic.Int64 // refused by the port

	due        int64 // of the next Step that has work
	announceAt int64
	announced  int // places of the announcement at hand
}

// A place is an Address and what is known of its gateway.
type place struct {
	Address
	gateway [6]byte
	known   bool
	failed  bool
	tries   int   // that are left
	askAt   int64 // Never: not asking
}

// NewHost is silent until it is asked, or told to Announce or to Resolve.
func NewHost(o Options) *Host {
	if o.Every <= 0 {
		o.Every = 30 * time.Second
	}
	if o.MaxFrame <= 0 {
		o.MaxFrame = 1514
	}
	o.MaxFrame = min(max(o.MaxFrame, 128), 9216)
	h := &Host{o: o, conflicts: make([]Conflict, 0, conflictsMax), due: clock.Never, announceAt: clock.Never}
	h.ring.open(o.MaxFrame)
	for _, a := range o.Addresses {
		if a.MAC == [6]byte{} {
			a.MAC = o.MAC
		}
		h.places = append(h.places, place{Address: a, askAt: clock.Never})
	}
	return h
}

// Announce makes an announcement of every address due at the next Step, and each Every after it.
func (h *Host) Announce() { h.announceAt, h.announced, h.due = math.MinInt64, 0, math.MinInt64 }

// Resolve asks anew for every gateway from the next Step: 3 tries, 1 s apart.
func (h *Host) Resolve() {
	for i := range h.places {
		if p := &h.places[i]; p.Gateway.IsValid() {
			p.known, p.failed, p.tries, p.askAt = false, false, 3, math.MinInt64
		}
	}
	h.due = math.MinInt64
}

// Gateways are those of the addresses, in their order.
func (h *Host) Gateways() (all []Gateway) {
	for _, p := range h.places {
		if p.Gateway.IsValid() {
			all = append(all, Gateway{p.Address, p.gateway, p.known, p.failed})
		}
	}
	return all
}

// settled tells whether each gateway is known or given up.
func (h *Host) settled() bool {
	return !slices.ContainsFunc(h.places, func(p place) bool { return p.askAt != clock.Never })
}

// Counts are since the Host was made.
func (h *Host) Counts() Counts {
	c := h.counts
	c.Dropped += h.tooLong.Load()
	return c
}

// Conflicts are the first few that were heard.
func (h *Host) Conflicts() []Conflict { return slices.Clone(h.conflicts) }

// Answers tells whether the tester answers for ip, in any VLAN.
func (h *Host) Answers(ip netip.Addr) bool {
	return slices.ContainsFunc(h.places, func(p place) bool { return h.answering(ip, p.VLAN) != nil })
}

// answering is the place that answers for ip in a VLAN, nil without one.
func (h *Host) answering(ip netip.Addr, vlan uint16) (found *place) {
	gateway := false
	for i := range h.places {
		p := &h.places[i]
		gateway = gateway || p.Gateway == ip
		switch {
		case p.VLAN != vlan:
		case p.Prefix.Addr() == ip:
			return p
		case found == nil && h.o.Serves != nil && p.Prefix.Contains(ip):
			found = p
		}
	}
	if found == nil || gateway || !h.o.Serves(ip) {
		return nil
	}
	return found
}

// mine tells whether a MAC address is one of this Host, own whether it is one of the tester's.
func (h *Host) mine(mac [6]byte) bool {
	for i := range h.places {
		if h.places[i].MAC == mac {
			return true
		}
	}
	return mac == h.o.MAC
}

func (h *Host) own(mac [6]byte) bool { return h.mine(mac) || h.o.Own != nil && h.o.Own(mac) }

// group tells whether a MAC address stands for several stations.
func group(mac [6]byte) bool { return mac[0]&1 == 1 }

// claim notes that somebody says to have ip: a gateway that is looked for, or a conflict. A claim that does not override leaves
// a gateway that is known as it was (RFC 4861 section 7.2.5).
func (h *Host) claim(ip netip.Addr, mac [6]byte, vlan uint16, override bool) {
	for i := range h.places {
		if p := &h.places[i]; p.VLAN == vlan && p.Gateway == ip && (override || !p.known) {
			p.gateway, p.known, p.failed, p.askAt = mac, true, false, clock.Never
		}
	}
	c := Conflict{ip, mac}
	if !h.own(mac) && len(h.conflicts) < conflictsMax && h.answering(ip, vlan) != nil && !slices.Contains(h.conflicts, c) {
		h.conflicts = append(h.conflicts, c)
	}
}
