package afxdp

import (
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A ring is one of a socket's four, shared with the kernel: one side moves the producer, the other the consumer, and neither wraps.
type ring[T any] struct {
	memory             []byte
	producer, consumer *uint32
	flags              *uint32
	slots              []T
	own                uint32 // our side's index, not yet published
}

// newRing maps a ring. Which is its page offset, o where its parts are.
func newRing[T any](fd int, which int64, o unix.XDPRingOffset) (r ring[T], err error) {
	var t T
	size := int(o.Desc) + ringFrames*int(unsafe.Sizeof(t))
	r.memory, err = unix.Mmap(fd, which, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return r, os.NewSyscallError("mmap", err)
	}
	word := func(at uint64) *uint32 { return (*uint32)(unsafe.Pointer(&r.memory[at])) }
	r.producer, r.consumer, r.flags = word(o.Producer), word(o.Consumer), word(o.Flags)
	r.slots = unsafe.Slice((*T)(unsafe.Pointer(&r.memory[o.Desc])), ringFrames)
	return r, nil
}

func (r *ring[T]) close() {
	if r.memory != nil {
		_ = unix.Munmap(r.memory)
	}
}

// Of a ring that we fill: room says how many slots are free, put fills the next one, publish shows them to the kernel. It remembers how
// far it may read, so retract takes back the last n only if it has not looked since. last is the ith of the last n.

func (r *ring[T]) room() uint32 { return ringFrames - (r.own - atomic.LoadUint32(r.consumer)) }
func (r *ring[T]) put(v T) {
	r.slots[r.own%ringFrames] = v
	r.own++
}
func (r *ring[T]) publish()         { atomic.StoreUint32(r.producer, r.own) }
func (r *ring[T]) empty() bool      { return atomic.LoadUint32(r.consumer) == r.own }
func (r *ring[T]) last(n, i int) *T { return &r.slots[(r.own-uint32(n-i))%ringFrames] }
func (r *ring[T]) retract(n int) {
	r.own -= uint32(n)
	r.publish()
}

// Of a ring that the kernel fills: ready says how many slots are, get takes the next one, release gives those taken back.

func (r *ring[T]) ready() uint32 { return atomic.LoadUint32(r.producer) - r.own }
func (r *ring[T]) get() T {
	v := r.slots[r.own%ringFrames]
	r.own++
	return v
}
func (r *ring[T]) release() { atomic.StoreUint32(r.consumer, r.own) }

// wakeup says whether the kernel waits to be called.
func (r *ring[T]) wakeup() bool { return atomic.LoadUint32(r.flags)&unix.XDP_RING_NEED_WAKEUP != 0 }
