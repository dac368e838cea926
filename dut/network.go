package dut

import (
	"fmt"
	"math"
	"slices"

	"loadtest/internal/clock"
	"loadtest/nic"
)

// A Network is a network of simulated devices in virtual time, described in YAML (networks/vita-1gbe.yaml explains the
// format). It is exact and repeats itself: results depend on what was sent when, and on the seed, not on bursts.
//
//	port.Send ─hop→ node ─hop→ node ─hop→ port.Recv        hop: queue, rate, delay; node: faults, capacity, forwarding
//
// A packet is taken along its whole way at once, as arithmetic: departure = max(arrival, free) + size / rate. It stops only at
// an ordered node, which several inputs share: there it waits in a heap of events until Step comes to its time.
//
// Network is a clock.Stepper, a device of the virtual clock; it and its ports belong to one goroutine. Times inside are in
// picoseconds since the run's epoch, so a run may last 100 days.
type Network struct {
	name   string
	mode   string // of its ports; "" is virtual
	seed   uint64
	now    int64 // ps, of the last Step
	ports  []*port
	hops   []*hop
	nodes  []*node
	events eventHeap // the inputs of ordered nodes that hold frames
	slab   slab

	chatty []*iface // interfaces with chatter
	chatAt int64    // ps, the earliest chatter of all
	totals Totals
}

const (
	psPerNano = 1000
	far       = math.MaxInt64 // ps: never

	ethernet = 14         // bytes of header
	lastNano = far / 1200 // ns; a later time is no time of a run
)

// Totals are the books of a Network: Sent + Copied + Chatter + ICMP + Fragments = Delivered + Dropped + InFlight.
type Totals struct {
	Sent      int64 // taken by Send
	Copied    int64 // duplicates, and copies that a bridge floods
	Chatter   int64 // frames that nodes sent on their own
	ICMP      int64 // errors that nodes sent
	Fragments int64 // made beyond the first of each packet
	Delivered int64 // handed out by Recv
	Dropped   int64 // as Drops lists them
	InFlight  int64 // anywhere between Send and Recv
}

// A Drop is how many frames an element dropped for one cause. Frames are taken along their way ahead of the time, so
// drops may be counted a little before they happen; once all has arrived they are exact.
type Drop struct {
	Element string // a port, link or node
	From    string // where the frames came from: for a link its end, for a node its interface
	Cause   string
	Packets int64
}

// Totals are the books as of now.
func (n *Network) Totals() Totals {
	t := n.totals
	t.InFlight = n.slab.live
	for _, p := range n.ports {
		t.InFlight -= int64(len(p.lent))
	}
	for _, d := range n.Drops() {
		t.Dropped += d.Packets
	}
	return t
}

// Drops lists what was dropped: the truth that tests compare a tester's count with.
func (n *Network) Drops() []Drop {
	var all []Drop
	add := func(element, from string, c *causes) {
		for i, packets := range c {
			if packets > 0 {
				all = append(all, Drop{element, from, cause(i).String(), packets})
			}
		}
	}
	for _, p := range n.ports {
		add(p.name, p.name, &p.drops)
	}
	for _, h := range n.hops {
		add(h.link, h.from, &h.drops)
	}
	for _, nd := range n.nodes {
		for _, in := range nd.ifaces {
			add(nd.name, in.name, &in.drops)
		}
	}
	return all
}

// Name is the name that the network was loaded under.
func (n *Network) Name() string { return n.name }

// Ports lists the tester's ports in the order of the YAML.
func (n *Network) Ports() []string {
	names := make([]string, len(n.ports))
	for i, p := range n.ports {
		names[i] = p.name
	}
	return names
}

// Port opens a port of the tester. It lives until its Close; opened again, it is empty.
func (n *Network) Port(name string) (nic.Device, error) {
	i := slices.IndexFunc(n.ports, func(p *port) bool { return p.name == name })
	if i < 0 {
		return nic.Device{}, fmt.Errorf("network %s: no port %q; it has %s", n.name, name, list(n.Ports()))
	}
	p := n.ports[i]
	p.open()
	return nic.Device{Info: p.info(), Queues: []nic.Port{p}}, nil
}

// SetSeed replaces the seed of all chance. Call it before the first frame.
func (n *Network) SetSeed(seed uint64) {
	n.seed = seed
	for i, nd := range n.nodes {
		nd.setSeed(mix(seed) + uint64(i)<<32)
	}
}

// Step processes all that happens until now (ns) and answers now if frames arrived at a port, else when something happens next.
func (n *Network) Step(now int64) (next int64) {
	t := now * psPerNano
	n.run(t)
	n.now = t
	soon := min(n.events.first(), n.chatAt)
	arrived := false
	for _, p := range n.ports {
		arrived = p.settle(t) || arrived
		soon = min(soon, p.next())
	}
	switch {
	case arrived:
		return now
	case soon == far:
		return clock.Never
	}
	return max(nanos(soon), now)
}

// run processes events and chatter until t in the order of time.
func (n *Network) run(t int64) {
	for {
		at := n.events.first()
		switch {
		case n.chatAt <= at && n.chatAt <= t:
			n.chat()
		case at <= t:
			n.event()
		default:
			return
		}
	}
}

// nanos is the first whole ns at which a time in ps has come.
func nanos(ps int64) int64 { return (ps + psPerNano - 1) / psPerNano }

var (
	_ clock.Stepper = (*Network)(nil)
	_ nic.Port      = (*port)(nil)
	_ nic.Reporter  = (*port)(nil)
)
