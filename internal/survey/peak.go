package survey

// A Peak is the busiest time of a length. It is looked for in steps of a tenth of that.
type Peak struct {
	Window int64   `json:"window_ns"`
	Pps    float64 `json:"pps"`
	Bps    float64 `json:"wire_bps"`
}

const steps = 10

// A window slides over the time in steps, and keeps what is in it by step.
type window struct {
	step int64 // length, ns
	now  int64 // number of the step at hand
	end  int64 // of it, ns
	ring [steps]amount
	in   amount // sum of ring
	most amount // each by itself
}

type amount struct{ packets, bits int64 }

// add counts a packet at a time that is not before the one of the last packet.
func (w *window) add(at, bits int64) {
	if at >= w.end {
		w.slide(at)
	}
	a := &w.ring[w.now%steps]
	a.packets++
	a.bits += bits
	w.in.packets++
	w.in.bits += bits
	w.most.packets = max(w.most.packets, w.in.packets)
	w.most.bits = max(w.most.bits, w.in.bits)
}

// slide moves on to the step that holds a time.
func (w *window) slide(at int64) {
	to := at / w.step
	for range min(to-w.now, steps) {
		w.now++
		a := &w.ring[w.now%steps]
		w.in.packets -= a.packets
		w.in.bits -= a.bits
		*a = amount{}
	}
	if w.now < to { // all is empty
		w.now = to
	}
	w.end = (to + 1) * w.step
}

func (w *window) peak() Peak {
	length := w.step * steps
	s := float64(length) / 1e9
	return Peak{Window: length, Pps: float64(w.most.packets) / s, Bps: float64(w.most.bits) / s}
}
