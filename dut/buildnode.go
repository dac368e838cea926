package dut

import (
	"net/netip"
	"slices"
	"strings"

	"loadtest/ipsec"
)

// node is the node of a name, or nil.
func (b *builder) node(name string) *node {
	i := slices.IndexFunc(b.n.nodes, func(nd *node) bool { return nd.name == name })
	if i < 0 {
		return nil
	}
	return b.n.nodes[i]
}

// iface makes an interface of a node.
func (b *builder) iface(nd *node, name string) *iface {
	in := &iface{node: nd, name: name, chatAt: far}
	in.mac = [6]byte{2, 0, 0, 2, byte(slices.Index(b.n.nodes, nd)), byte(len(nd.ifaces))}
	nd.ifaces = append(nd.ifaces, in)
	return in
}

func (b *builder) nodes() {
	for i, y := range b.y.Nodes {
		at := place("$.nodes").at(i)
		nd := &node{net: b.n, name: b.name(at.key("name"), y.Name), kind: router, icmp: y.ICMP, hairpin: y.Hairpin}
		switch y.Kind {
		case "bridge":
			nd.kind = bridge
		case "router", "gateway":
		default:
			b.fail(at.key("kind"), "kind %q: want bridge, router, gateway", y.Kind)
		}
		if b.node(nd.name) != nil || b.ends[nd.name] != nil {
			b.fail(at.key("name"), "name %q stands twice: want each once among ports and nodes", nd.name)
		}
		b.n.nodes = append(b.n.nodes, nd)
		for j, yi := range y.Interfaces {
			at := at.key("interfaces").at(j)
			in := b.iface(nd, nd.name+"."+b.name(at.key("name"), yi.Name))
			in.mac = b.mac(at.key("mac"), yi.MAC, in.mac)
			b.end(at.key("name"), in.name, &end{in: in})
			if nd.kind == bridge {
				b.only(at, map[string]bool{"addresses": len(yi.Addresses) > 0, "next-hop-mac": yi.NextHopMAC != ""})
				continue
			}
			b.addresses(at.key("addresses"), in, yi.Addresses)
		}
		if nd.kind == bridge {
			b.only(at, map[string]bool{"tunnels": len(y.Tunnels) > 0, "routes": len(y.Routes) > 0, "icmp": y.ICMP, "hairpin": y.Hairpin})
		} else if y.Kind == "router" && len(y.Tunnels) > 0 {
			b.fail(at.key("tunnels"), "a router has no tunnels: want kind: gateway")
		}
		b.faults(at, nd, y)
	}
}

// only refuses what a bridge cannot have.
func (b *builder) only(at place, given map[string]bool) {
	for key, is := range given {
		if is {
			b.fail(at.key(key), "a bridge has no %s: want kind: router or gateway", key)
		}
	}
}

func (b *builder) addresses(at place, in *iface, texts []string) {
	for i, text := range texts {
		a := b.address(at.at(i), text)
		own := &in.node.own4
		if a.Is6() {
			own = &in.node.own6
		}
		*own = append(*own, ownAddress{addressOf(a), in})
		in.node.add(netip.PrefixFrom(a, a.BitLen()), via{})
	}
}

func (b *builder) faults(at place, nd *node, y yamlNode) {
	nd.start = b.duration(at.key("start"), y.Start, 0)
	nd.loss = b.chance(at.key("loss"), y.Loss)
	nd.duplicate = b.chance(at.key("duplicate"), y.Duplicate)
	nd.every = b.number(at.key("every"), y.Every, 0, 1, 1<<40)
	nd.faulty = nd.start > 0 || nd.loss > 0 || nd.duplicate > 0 || nd.every > 0
}

// finish does what needs the links.
func (b *builder) finish() {
	for name, e := range b.ends {
		if e.port != nil && e.link == "" {
			b.fail("$.links", "port %s has no link: want one with between: [%s, …]", name, name)
		}
	}
	for i, y := range b.y.Nodes {
		at, nd := place("$.nodes").at(i), b.n.nodes[i]
		for j, yi := range y.Interfaces {
			at, in := at.key("interfaces").at(j), nd.ifaces[j]
			if in.out == nil {
				b.fail(at, "interface %s has no link: want one with between: [%s, …]", in.name, in.name)
				return
			}
			in.next = b.mac(at.key("next-hop-mac"), yi.NextHopMAC, in.next)
			own := slices.Concat(nd.own4, nd.own6)
			if len(yi.Chatter) > 0 && yi.Chatter[0].Kind == "nd" {
				own = slices.Concat(nd.own6, nd.own4)
			}
			b.chatter(at.key("chatter"), in, own, yi.Chatter, nd.start)
		}
		for j, yt := range y.Tunnels {
			b.tunnel(at.key("tunnels").at(j), nd, yt)
		}
		for j, yr := range y.Routes {
			b.route(at.key("routes").at(j), nd, yr)
		}
		nd.sort()
		nd.ordered = len(nd.ifaces) > 2 || nd.hairpin || nd.answers()
		if nd.kind == bridge && len(nd.ifaces) > 2 {
			nd.table = new(macTable)
		}
		b.capacity(at, nd, y)
		if b.err != nil {
			return
		}
	}
	b.peers()
	b.loops()
}

func (b *builder) tunnel(at place, nd *node, y yamlTunnel) {
	t := &tunnel{name: b.name(at.key("name"), y.Name), node: nd}
	local, remote := b.address(at.key("local"), y.Local), b.address(at.key("remote"), y.Remote)
	if local.Is4() != remote.Is4() {
		b.fail(at.key("remote"), "tunnel from %s to %s: want addresses of one family", local, remote)
	}
	t.Tunnel = ipsec.Tunnel{IPv6: local.Is6(), UDP: y.UDP}
	t.local, t.remote, t.out = addressOf(local), addressOf(remote), b.outOf(at.key("interface"), nd, y.Interface)
	if slices.ContainsFunc(nd.tunnels, func(o *tunnel) bool { return o.name == t.name }) {
		b.fail(at.key("name"), "name %q stands twice: want each tunnel's once in a node", t.name)
	}
	nd.tunnels = append(nd.tunnels, t)
}

// outOf is the interface that a route or tunnel names.
func (b *builder) outOf(at place, nd *node, name string) *iface {
	i := slices.IndexFunc(nd.ifaces, func(in *iface) bool { return in.name == nd.name+"."+name })
	if i < 0 {
		b.fail(at, "%s has no interface %q: want one of %s", nd.name, name, strings.ReplaceAll(list(b.names(nd)), nd.name+".", ""))
		return nil
	}
	return nd.ifaces[i]
}

func (b *builder) route(at place, nd *node, y yamlRoute) {
	to := b.prefix(at.key("to"), y.To)
	var v via
	switch {
	case (y.Interface == "") == (y.Tunnel == ""):
		b.fail(at, "route to %s: want either interface or tunnel", y.To)
		return
	case y.Interface != "":
		v.out = b.outOf(at.key("interface"), nd, y.Interface)
	default:
		i := slices.IndexFunc(nd.tunnels, func(t *tunnel) bool { return t.name == y.Tunnel })
		if i < 0 {
			var names []string
			for _, t := range nd.tunnels {
				names = append(names, t.name)
			}
			b.fail(at.key("tunnel"), "%s has no tunnel %q: want one of %s", nd.name, y.Tunnel, list(names))
			return
		}
		v.tunnel, v.out = nd.tunnels[i], nd.tunnels[i].out
	}
	if v.out != nil {
		v.mac = b.mac(at.key("next-hop-mac"), y.NextHopMAC, v.out.next)
	}
	nd.add(to, v)
}

// capacity sets the servers of a node or of its directions.
func (b *builder) capacity(at place, nd *node, y yamlNode) {
	var s server
	s.limit = defaultQueue
	shared := false
	if c := y.Capacity; c != nil {
		at := at.key("capacity")
		s.rate, s.packets = b.rate(at.key("rate"), c.Rate, true)
		b.queue(at, c.Queue, c.QueueBytes, &s)
		switch c.Per {
		case "node", "":
			shared = true
		case "direction":
		default:
			b.fail(at.key("per"), "per %q: want node, direction", c.Per)
		}
		if until := b.duration(at.key("cold-until"), c.ColdUntil, 0); until > 0 {
			rate, packets := b.rate(at.key("cold-rate"), c.ColdRate, true)
			if packets != s.packets {
				b.fail(at.key("cold-rate"), "cold-rate %q of rate %q: want both in bits or both in packets", c.ColdRate, c.Rate)
			}
			s.cold = &cold{until, rate}
		} else if c.ColdRate != "" {
			b.fail(at.key("cold-rate"), "cold-rate without cold-until: want both")
		}
	}
	var mean, length int64
	if y.Stall != nil {
		at := at.key("stall")
		mean, length = b.duration(at.key("mean"), y.Stall.Mean, 1000), b.duration(at.key("length"), y.Stall.Length, 1)
		if mean == 0 || length == 0 {
			b.fail(at, "stall: want mean and length, such as mean: 100ms, length: 1ms")
		}
	}
	set := func(to *server) {
		*to = s
		if length > 0 && mean > 0 {
			to.stall = &stalls{mean: mean, length: length}
		}
	}
	if shared && len(nd.ifaces) > 1 {
		nd.ordered = true
		set(&nd.shared)
		return
	}
	for _, in := range nd.ifaces {
		set(&in.server)
	}
}

// peers finds the other end of each tunnel.
func (b *builder) peers() {
	for i, nd := range b.n.nodes {
		for j, t := range nd.tunnels {
			for _, other := range b.n.nodes {
				for _, o := range other.tunnels {
					if other != nd && o.local == t.remote && o.remote == t.local && o.Tunnel == t.Tunnel {
						t.peer = o
					}
				}
			}
			if t.peer == nil {
				b.fail(place("$.nodes").at(i).key("tunnels").at(j), "tunnel %s has no peer: want one in another gateway, with local and remote the other way round and the same udp", t.name)
			}
		}
	}
}

// loops refuses bridges in a circle: they would send a broadcast round for ever.
func (b *builder) loops() {
	group := make(map[*node]*node)
	var root func(nd *node) *node
	root = func(nd *node) *node {
		if up := group[nd]; up != nil {
			return root(up)
		}
		return nd
	}
	for i := range b.y.Links {
		to, from := b.n.hops[2*i].in, b.n.hops[2*i+1].in
		if to == nil || from == nil || to.node.kind != bridge || from.node.kind != bridge {
			continue
		}
		x, y := root(to.node), root(from.node)
		if x == y {
			b.fail(place("$.links").at(i), "bridges in a circle: want a tree, as no spanning tree is spoken")
			return
		}
		group[x] = y
	}
}
