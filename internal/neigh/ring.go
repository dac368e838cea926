package neigh

import (
	"errors"
	"sync/atomic"

	"loadtest/nic"
	"loadtest/packet"
)

// slots is how many frames wait at most; a power of two.
const slots = 64

// A ring carries frames from the receive half, which writes them, to the send half. Both count slots since the beginning.
type ring struct {
	bytes  []byte
	stride int
	length [slots]int32
	nanos  [slots]int64

	tail  atomic.Uint64 // slots filled
	_     [64]byte
	head  atomic.Uint64 // slots given back
	batch [16]packet.Frame
}

func (r *ring) open(maxFrame int) {
	r.stride = maxFrame + 4 // for a VLAN tag
	r.bytes = make([]byte, slots*r.stride)
}

func (r *ring) full() bool { return r.tail.Load()-r.head.Load() == slots }

// slot is the next one to write to, zeros for a frame of so many bytes; the ring is not full. It is sent after push.
func (r *ring) slot(length int) []byte {
	i := int(r.tail.Load() % slots)
	r.length[i] = int32(length)
	b := r.bytes[i*r.stride:][:length]
	clear(b)
	return b
}

// push hands the slot to the send half. The frame is due at now.
func (r *ring) push(now int64) {
	tail := r.tail.Load()
	r.nanos[tail%slots] = now
	r.tail.Store(tail + 1)
}

// lend hands out the oldest frames that wait; release gives the first n back.
func (r *ring) lend() []packet.Frame {
	head := r.head.Load()
	n := min(r.tail.Load()-head, uint64(len(r.batch)))
	for k := range n {
		i := int((head + k) % slots)
		at, end := i*r.stride, i*r.stride+int(r.length[i])
		r.batch[k] = packet.Frame{Data: r.bytes[at:end:end], Nanos: r.nanos[i]}
	}
	return r.batch[:n]
}

func (r *ring) release(n int) { r.head.Store(r.head.Load() + uint64(n)) }

// Pending tells whether something waits to be sent.
func (h *Host) Pending() bool { return h.ring.tail.Load() != h.ring.head.Load() }

// Flush sends what waits. What the port does not take now stays for the next time; what is too long for it is dropped and counted.
func (h *Host) Flush(p nic.Port) error {
	for {
		frames := h.ring.lend()
		if len(frames) == 0 {
			return nil
		}
		n, err := p.Send(frames)
		if errors.Is(err, nic.ErrTooLong) {
			h.tooLong.Add(1)
			h.ring.release(n + 1)
			continue
		}
		h.ring.release(n)
		if err != nil || n < len(frames) {
			return err
		}
	}
}
