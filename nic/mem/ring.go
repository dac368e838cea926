package mem

import (
	"sync/atomic"

	"loadtest/packet"
)

// A ring carries copies of frames from one producer to one consumer, without a lock. Both ends count slots since the
// beginning; each sits on cache lines of its own, remembers what it last saw of the other, and publishes once per burst.
type ring struct {
	slots  []byte
	length []int32
	nanos  []int64
	stride int
	mask   uint64

	_        [64]byte
	tail     atomic.Uint64 // slots filled, as the consumer may see it
	filled   uint64        // the producer's own tail
	headSeen uint64        // head when the producer last looked

	_        [64]byte
	head     atomic.Uint64 // slots given back
	lent     uint64        // the consumer's own head: all before it are lent or given back
	tailSeen uint64        // tail when the consumer last looked

	_      [64]byte
	closed [2]atomic.Bool // by the producer, by the consumer
}

// newRing has room for n frames, rounded up to a power of two, and at least for what a Filter makes of one. The stride is a cache line longer than the frames need:
// slots whose distance is a power of two fight for the same lines of the cache.
func newRing(n, maxFrame int) *ring {
	size := 4
	for size < n {
		size *= 2
	}
	stride := (maxFrame+63)/64*64 + 64
	return &ring{
		slots: make([]byte, size*stride), length: make([]int32, size), nanos: make([]int64, size),
		stride: stride, mask: uint64(size - 1),
	}
}

// room is how many slots the producer may fill, asking the consumer only when fewer than want are known.
func (r *ring) room(want int) int {
	size := r.mask + 1
	if free := size - (r.filled - r.headSeen); free < uint64(want) {
		r.headSeen = r.head.Load()
	}
	return int(size - (r.filled - r.headSeen))
}

// put copies a frame into the next slot; there must be room. It is seen after publish.
func (r *ring) put(data []byte, nanos int64) {
	i := r.filled & r.mask
	copy(r.slots[int(i)*r.stride:], data)
	r.length[i] = int32(len(data))
	r.nanos[i] = nanos
	r.filled++
}

func (r *ring) publish() { r.tail.Store(r.filled) }

// takeBefore is take of the frames that went in at a time or before, without their times.
func (r *ring) takeBefore(frames []packet.Frame, at int64) int {
	if r.tailSeen-r.lent < uint64(len(frames)) {
		r.tailSeen = r.tail.Load()
	}
	n, most := 0, min(int(r.tailSeen-r.lent), len(frames))
	for n < most && r.nanos[(r.lent+uint64(n))&r.mask] <= at {
		n++
	}
	n = r.take(frames[:n], 0)
	for i := range frames[:n] {
		frames[i].Nanos = 0
	}
	return n
}

// take gives back what it lent before and lends the next frames.
func (r *ring) take(frames []packet.Frame, delay int64) int {
	if r.head.Load() != r.lent {
		r.head.Store(r.lent)
	}
	if r.tailSeen-r.lent < uint64(len(frames)) {
		r.tailSeen = r.tail.Load()
	}
	n := int(min(r.tailSeen-r.lent, uint64(len(frames))))
	for k := range frames[:n] {
		i := r.lent & r.mask
		start, end := int(i)*r.stride, int(i)*r.stride+int(r.length[i])
		frames[k] = packet.Frame{Data: r.slots[start:end:end], Nanos: r.nanos[i] + delay}
		r.lent++
	}
	return n
}
