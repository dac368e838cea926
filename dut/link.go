package dut

// A policy is what happens to a packet that is longer than a link's MTU.
type policy uint8

const (
	policyDrop     policy = iota
	policyFragment        // IPv4 without DF, and what is in a tunnel; else like policyTooBig
	policyTooBig          // drop it and tell its sender by ICMP
)

// A hop is one direction of a link.
type hop struct {
	server
	net    *Network
	link   string // name
	from   string // the end where frames enter
	delay  int64  // ps
	mtu    int    // longest IP packet
	policy policy
	port   *port  // where it leads: a port
	in     *iface // or an interface
	drops  causes
}

// cross takes a frame over the hop at time t.
func (h *hop) cross(f *frame, t int64) {
	size := f.size()
	if size > h.mtu+ethernet {
		h.oversize(f, t)
		return
	}
	done, ok := h.serve(t, size)
	if !ok {
		h.drop(f, queueFull)
		return
	}
	h.arrive(f, done+h.delay)
}

func (h *hop) arrive(f *frame, t int64) {
	if h.port != nil {
		h.port.flight.push(arrival{t, f})
		return
	}
	h.in.enter(f, t)
}

func (h *hop) drop(f *frame, c cause) {
	h.drops[c]++
	h.net.slab.put(f)
}
