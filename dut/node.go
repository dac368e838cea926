package dut

// A kind is how a node forwards.
type kind uint8

const (
	bridge kind = iota
	router      // a gateway is a router with tunnels
	patch       // what comes in at one interface goes out at another, always the same
)

// A node takes frames in at its interfaces and sends them on. On their way in they pass, in this order: faults, the capacity
// of their direction, the order of time if the node is ordered, the capacity of the whole node.
type node struct {
	net     *Network
	name    string
	kind    kind
	ifaces  []*iface
	ordered bool   // frames are forwarded in the order of time over all inputs
	shared  server // capacity of both directions together; only if ordered

	start           int64  // ps; silent until then
	loss, duplicate uint64 // thresholds of random.hit
	every           int64  // drops each Nth; 0 = none
	faulty          bool   // any of these

	icmp, hairpin bool
	routing
	table *macTable // of a bridge with more than two links
}

// An iface is where a link enters a node.
type iface struct {
	node  *node
	name  string // node.interface
	order int    // in which links stand in the YAML: the order of ties
	mac   [6]byte
	next  [6]byte // MAC of the next hop
	out   *hop

	to   *iface // of a patch; nil: nowhere
	loss uint64 // of a patch: threshold of random.hit

	server // capacity of this direction
	random random
	count  int64 // frames that came in
	drops  causes

	events     ring[arrival] // that wait for their time at an ordered node
	head, last int64         // ps, of the first and last of them

	chats  []chat
	chatAt int64 // ps, of the earliest
}

func (nd *node) setSeed(seed uint64) {
	for i, in := range nd.ifaces {
		in.random = random(mix(seed + uint64(i)))
		if in.stall != nil {
			in.stall.setSeed(mix(seed - 1))
		}
	}
	if nd.shared.stall != nil {
		nd.shared.stall.setSeed(mix(seed - 1))
	}
}

// enter takes a frame from a link at time t.
func (in *iface) enter(f *frame, t int64) {
	if !in.node.faulty {
		in.pass(f, t)
		return
	}
	nd := in.node
	in.count++
	switch {
	case t < nd.start:
		in.drop(f, notStarted)
	case nd.every > 0 && in.count%nd.every == 0:
		in.drop(f, byEvery)
	case nd.loss > 0 && in.random.hit(nd.loss), in.loss > 0 && in.random.hit(in.loss):
		in.drop(f, byLoss)
	case nd.duplicate > 0 && in.random.hit(nd.duplicate):
		twin := nd.net.slab.clone(f)
		nd.net.totals.Copied++
		in.pass(f, t)
		in.pass(twin, t)
	default:
		in.pass(f, t)
	}
}

// pass takes a frame through the capacity of its direction.
func (in *iface) pass(f *frame, t int64) {
	done, ok := in.serve(t, f.size())
	switch {
	case !ok:
		in.drop(f, queueFull)
	case in.node.ordered:
		in.node.net.queue(in, f, done)
	default:
		in.node.forward(in, f, done)
	}
}

// share takes a frame through the capacity of the whole node.
func (nd *node) share(in *iface, f *frame, t int64) {
	done, ok := nd.shared.serve(t, f.size())
	if !ok {
		in.drop(f, queueFull)
		return
	}
	nd.forward(in, f, done)
}

func (nd *node) forward(in *iface, f *frame, t int64) {
	switch nd.kind {
	case bridge:
		nd.bridge(in, f, t)
		return
	case patch:
		if in.to == nil {
			in.drop(f, noRoute)
			return
		}
		in.to.emit(f, t)
		return
	}
	if [6]byte(f.data) != in.mac {
		in.drop(f, otherMAC)
		return
	}
	if f.tunnel != nil {
		nd.routeOuter(in, f, t)
		return
	}
	nd.route(in, f, t)
}

// emit sends a frame out at time t, after what the interface has said on its own until then.
func (in *iface) emit(f *frame, t int64) {
	for in.chatAt <= t {
		in.say()
	}
	in.out.cross(f, t)
}

func (in *iface) drop(f *frame, c cause) {
	in.drops[c]++
	in.node.net.slab.put(f)
}
