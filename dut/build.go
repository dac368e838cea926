package dut

import (
	"slices"
	"strings"
)

// Defaults of the YAML.
const (
	defaultQueue = 1024 // packets
	defaultMTU   = 1500
	leastMTU     = 68 // RFC 791: what every link must take
	mostMTU      = 65535
)

// ParseNetwork makes a Network of its description; errors say name:line:column and what would be right.
func ParseNetwork(name string, text []byte) (*Network, error) {
	src, y, err := decode(name, text)
	if err != nil {
		return nil, err
	}
	b := &builder{src: src, y: y, n: &Network{name: name, chatAt: far}, ends: make(map[string]*end)}
	for _, step := range []func(){b.ports, b.nodes, b.links, b.finish} {
		if step(); b.err != nil {
			return nil, b.err
		}
	}
	b.n.SetSeed(y.Seed)
	return b.n, nil
}

// A builder turns the YAML into a Network: names first, then links between them, then what needs to know the links.
type builder struct {
	src  *source
	y    *yamlNetwork
	n    *Network
	ends map[string]*end
	err  error // the first
}

// An end is what a link can be attached to.
type end struct {
	port *port
	in   *iface
	link string // attached already; "" if not
}

func (e *end) mac() ([6]byte, bool) {
	if e.port != nil {
		return e.port.mac, true
	}
	return e.in.mac, e.in.node.kind != bridge
}

func (b *builder) ports() {
	if len(b.y.Ports) == 0 {
		b.fail("$.ports", "no ports: want at least one, as the tester's way in")
	}
	for i, y := range b.y.Ports {
		at := place("$.ports").at(i)
		p := &port{
			net: b.n, name: b.name(at.key("name"), y.Name), closed: true,
			mac:  b.mac(at.key("mac"), y.MAC, [6]byte{2, 0, 0, 1, 0, byte(i)}),
			ring: int(b.number(at.key("ring"), y.Ring, defaultQueue, 1, maxQueue)),
		}
		b.n.ports = append(b.n.ports, p)
		b.end(at.key("name"), p.name, &end{port: p})
	}
}

// end makes something known that links may name.
func (b *builder) end(at place, name string, e *end) {
	if b.ends[name] != nil {
		b.fail(at, "name %q stands twice: want each once among ports and nodes", name)
	}
	b.ends[name] = e
}

func (b *builder) links() {
	seen := make(map[string]bool)
	for i, y := range b.y.Links {
		at := place("$.links").at(i)
		name := b.name(at.key("name"), y.Name)
		if seen[name] {
			b.fail(at.key("name"), "name %q stands twice: want each link's once", name)
		}
		seen[name] = true
		if len(y.Between) != 2 {
			b.fail(at.key("between"), "a link between %d ends: want two, such as [node1, gateway1.private]", len(y.Between))
			return
		}
		l := b.link(at, name, y)
		ends := [2]*end{b.attach(at.key("between").at(0), name, y.Between[0]), b.attach(at.key("between").at(1), name, y.Between[1])}
		if b.err != nil {
			return
		}
		for j, from := range ends {
			b.hop(l, from, ends[1-j], 2*i+j)
		}
	}
}

// link reads what both directions of a link have in common.
func (b *builder) link(at place, name string, y yamlLink) hop {
	h := hop{net: b.n, link: name, delay: b.duration(at.key("delay"), y.Delay, 0)}
	if y.Rate != "" {
		h.rate, _ = b.rate(at.key("rate"), y.Rate, false)
	}
	b.queue(at, y.Queue, y.QueueBytes, &h.server)
	h.mtu = int(b.number(at.key("mtu"), y.MTU, defaultMTU, leastMTU, mostMTU))
	policies := []string{"drop", "fragment", "too-big"} // in order of policy
	if y.TooLong != "" {
		i := slices.Index(policies, y.TooLong)
		if i < 0 {
			b.fail(at.key("too-long"), "too-long %q: want %s", y.TooLong, list(policies))
		}
		h.policy = policy(max(i, 0))
	}
	return h
}

func (b *builder) queue(at place, packets, bytes *int64, s *server) {
	s.limit = b.number(at.key("queue"), packets, defaultQueue, 0, maxQueue)
	if bytes != nil {
		if packets != nil {
			b.fail(at.key("queue-bytes"), "queue and queue-bytes: want one of them")
		}
		s.inBytes, s.limit = true, b.number(at.key("queue-bytes"), bytes, 0, 0, maxQueue)
	}
}

// attach finds the end that a link names.
func (b *builder) attach(at place, link, name string) *end {
	e := b.ends[name]
	node, _, dotted := strings.Cut(name, ".")
	if nd := b.node(name); nd != nil && nd.kind == bridge && !dotted { // a bridge's interfaces need no names
		e = &end{in: b.iface(nd, name+"."+link)}
		b.end(at, name+"."+link, e)
	}
	switch nd := b.node(node); {
	case e == nil && nd != nil:
		b.fail(at, "%s has no such interface: %q. It has %s", node, name, list(b.names(nd)))
	case e == nil:
		b.fail(at, "no port and no node %q: want one of %s", name, list(b.names(nil)))
	case e.link != "":
		b.fail(at, "%s has link %s already: want one link for each port and interface", name, e.link)
	default:
		e.link = link
		return e
	}
	return &end{}
}

// names lists a node's interfaces, or all ends.
func (b *builder) names(nd *node) (names []string) {
	for name, e := range b.ends {
		if nd == nil || e.in != nil && e.in.node == nd {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// hop makes one direction of a link.
func (b *builder) hop(l hop, from, to *end, order int) {
	h := l
	h.port, h.in = to.port, to.in
	if h.in != nil {
		h.in.order = order
	}
	switch {
	case from.port != nil:
		h.from = from.port.name
		h.limit, h.inBytes = int64(from.port.ring), false // a port refuses before that
		h.policy = policyDrop
		from.port.out = &h
	default:
		h.from = from.in.name
		if from.in.node.kind == bridge {
			h.policy = policyDrop
		}
		from.in.out = &h
		if mac, ok := to.mac(); ok && from.in.next == [6]byte{} {
			from.in.next = mac
		}
	}
	b.n.hops = append(b.n.hops, &h)
}

// chatter makes the frames that an interface sends on its own.
func (b *builder) chatter(at place, in *iface, own []ownAddress, y []yamlChat, start int64) {
	in.chatAt = far
	for i, c := range y {
		at := at.at(i)
		every := b.duration(at.key("every"), c.Every, 1000)
		if c.Every == "" {
			b.fail(at, "chatter without every: want a time, such as every: 5s")
			return
		}
		first := every
		if c.First != "" {
			first = b.duration(at.key("first"), c.First, 0)
		}
		if every > 0 && first < start {
			first += (start - first + every - 1) / every * every
		}
		in.chats = append(in.chats, chat{every, first, b.words(at, in, own, c)})
		in.chatAt = min(in.chatAt, first)
		b.n.chatAt = min(b.n.chatAt, first)
	}
	if len(in.chats) > 0 {
		b.n.chatty = append(b.n.chatty, in)
	}
}

// words is one chat's frame, padded by no one: as the software that sends it makes it.
func (b *builder) words(at place, in *iface, own []ownAddress, c yamlChat) []byte {
	var src, target address
	for _, o := range own {
		if o.in == in {
			src = o.address
			break
		}
	}
	if c.Target != "" {
		a := b.address(at.key("target"), c.Target)
		if a.Is4() != (c.Kind == "arp") {
			b.fail(at.key("target"), "target %s of %s: want IPv4 for arp, IPv6 for nd", c.Target, c.Kind)
		}
		target = addressOf(a)
	}
	switch c.Kind {
	case "arp":
		return arpRequest(in.mac, src, target)
	case "nd":
		return solicitation(in.mac, src, target)
	case "lldp":
		return lldp(in.mac)
	case "stp":
		return bpdu(in.mac)
	}
	b.fail(at.key("kind"), "chatter %q: want arp, nd, lldp, stp", c.Kind)
	return nil
}

// answers tells whether a node sends ICMP errors.
func (nd *node) answers() bool {
	return nd.icmp || slices.ContainsFunc(nd.ifaces, func(in *iface) bool { return in.out != nil && in.out.policy != policyDrop })
}
