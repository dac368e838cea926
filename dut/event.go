package dut

// An eventHeap holds the inputs of ordered nodes that have frames waiting, the earliest first. Ties go by the order of the
// links in the YAML; within an input frames keep their order.
type eventHeap []*iface

// first is the time of the first event in ps.
func (h eventHeap) first() int64 {
	if len(h) == 0 {
		return far
	}
	return h[0].head
}

func (h eventHeap) less(i, j int) bool {
	return h[i].head < h[j].head || h[i].head == h[j].head && h[i].order < h[j].order
}

func (h *eventHeap) push(in *iface) {
	*h = append(*h, in)
	s := *h
	for i := len(s) - 1; i > 0; {
		up := (i - 1) / 2
		if !s.less(i, up) {
			return
		}
		s[i], s[up] = s[up], s[i]
		i = up
	}
}

// sink puts the first one where it belongs after its head has moved on.
func (h eventHeap) sink() {
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if h.less(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// drop takes the first one out.
func (h *eventHeap) drop() {
	s := *h
	last := len(s) - 1
	s[0] = s[last]
	s[last] = nil
	*h = s[:last]
	h.sink()
}

// queue makes an event of a frame's arrival at an ordered node. What comes later than it should is taken now.
func (n *Network) queue(in *iface, f *frame, t int64) {
	t = max(t, n.now, in.last)
	in.last = t
	in.events.push(arrival{t, f})
	if in.events.len() == 1 {
		in.head = t
		n.events.push(in)
	}
}

// event lets the first frame of all ordered inputs into its node.
func (n *Network) event() {
	in := n.events[0]
	a := in.events.pop()
	if in.events.len() > 0 {
		in.head = in.events.front().at
		n.events.sink()
	} else {
		n.events.drop()
	}
	in.node.share(in, a.f, a.at)
}
