package match

import "math/bits"

// windowBits is how far back a Window remembers: a packet that comes more than so many behind the newest is too old to tell.
const (
	windowBits = 1 << 20
	words      = windowBits / 64
)

// Horizon is how many packets behind the newest a missing one counts as certainly lost: deeper reordering than any queue of a
// device makes within a stream.
const Horizon = 4096

// A Window knows which sequence numbers of one lane and trial have arrived, each once.
type Window struct {
	Received, Duplicated, Reordered, TooOld int64

	// Limit is how many sequence numbers the sender has given out so far. What claims a higher one is not ours.
	Limit int64

	// Missing is how many packets at least Horizon behind the newest have not arrived. It falls if one still does.
	Missing int64

	top  int64 // highest sequence seen + 1
	bits *[words]uint64
}

// Top is the highest sequence number seen + 1.
func (w *Window) Top() int64 { return w.top }

// Answers of a Window.
const (
	New   = iota // taken for received
	Again        // a copy of one that was
	Old          // too far behind the newest to tell
	Ahead        // not below Limit; not counted
)

// Reset forgets all, the Limit too; it allocates only the first time.
func (w *Window) Reset() {
	if w.bits == nil {
		w.bits = new([words]uint64)
	}
	clear(w.bits[:min(words, (w.top+63)/64)])
	*w = Window{bits: w.bits}
}

// See takes note of a packet with the lower 32 bits of its sequence: the nearest one to the newest is meant.
func (w *Window) See(low uint32) int {
	seq := w.top + int64(int32(low-uint32(w.top)))
	if seq < 0 {
		w.TooOld++
		return Old
	}
	if seq >= w.Limit {
		return Ahead
	}
	if seq == w.top { // the usual case: one more
		if h := seq - Horizon; h >= 0 && w.bits[uint64(h)/64%words]&(1<<(h%64)) == 0 {
			w.Missing++
		}
		if seq%64 == 0 {
			w.bits[uint64(seq)/64%words] = 0
		}
		w.top++
		w.set(seq)
		w.Received++
		return New
	}
	if seq > w.top {
		w.forward(seq + 1)
		w.set(seq)
		w.Received++
		return New
	}
	if seq < w.top-(windowBits-64) { // the newest word's room was cleared whole
		w.TooOld++
		return Old
	}
	if w.bits[uint64(seq)/64%words]&(1<<(seq%64)) != 0 {
		w.Duplicated++
		return Again
	}
	w.set(seq)
	w.Received++
	w.Reordered++
	if seq < w.top-Horizon {
		w.Missing--
	}
	return New
}

func (w *Window) set(seq int64) { w.bits[uint64(seq)/64%words] |= 1 << (seq % 64) }

// forward moves the top: counts what passes the horizon and clears what will be used again.
func (w *Window) forward(top int64) {
	for from, to := max(w.top-Horizon, 0), max(top-Horizon, 0); from < to; {
		n := min(64-from%64, to-from)
		if from >= w.top { // a jump beyond all that came: nothing of it did
			w.Missing += to - from
			break
		}
		n = min(n, w.top-from)
		word := w.bits[uint64(from)/64%words] >> (from % 64)
		if n < 64 {
			word &= 1<<n - 1
		}
		w.Missing += n - int64(bits.OnesCount64(word))
		from += n
	}
	if top-w.top >= windowBits {
		clear(w.bits[:])
	} else {
		for word := (w.top + 63) / 64; word <= (top-1)/64; word++ {
			w.bits[uint64(word)%words] = 0
		}
	}
	w.top = top
}
