package mem

import "loadtest/packet"

// An Action is what a wire does to one frame.
type Action uint8

// The actions.
const (
	Pass  Action = iota
	Drop         // it never arrives
	Twice        // it arrives two times
	Swap         // it arrives after the next one; if none follows, never
)

// A Filter decides about frame number i (from 0) of one direction. It runs in Send, so one goroutine calls it, and may look
// at the frame but not keep it.
type Filter func(i int64, f packet.Frame) Action

// Every does a to each nth frame: the frames n-1, 2n-1, … counted from 0.
func Every(n int64, a Action) Filter {
	return func(i int64, _ packet.Frame) Action {
		if i%n == n-1 {
			return a
		}
		return Pass
	}
}

// First asks each filter in turn; the first that does not pass the frame decides.
func First(filters ...Filter) Filter {
	return func(i int64, f packet.Frame) Action {
		for _, filter := range filters {
			if a := filter(i, f); a != Pass {
				return a
			}
		}
		return Pass
	}
}

// fanOut is how many slots one frame may need: itself, its double and one that was held back.
func (f Filter) fanOut() int {
	if f == nil {
		return 1
	}
	return 3
}

// apply puts into the ring what the filter leaves of a frame, and says how many slots that took.
func (p *port) apply(f *packet.Frame) (slots int) {
	action := p.filter(p.passed, *f)
	p.passed++
	hold := action == Swap && len(p.held) == 0
	if action == Drop || hold {
		if hold {
			p.held, p.heldAt = append(p.held, f.Data...), p.left(f)
		}
		return 0
	}
	p.tx.put(f.Data, p.left(f))
	slots = 1
	if action == Twice {
		p.tx.put(f.Data, p.left(f))
		slots++
	}
	if len(p.held) > 0 {
		p.tx.put(p.held, p.heldAt)
		p.held = p.held[:0]
		slots++
	}
	return slots
}
