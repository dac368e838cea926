package netmap

import (
	"sync/atomic"
	"unsafe"
)

// A ring is one of netmap's: slots from head up to tail are ours, the rest the kernel's. We move head and cur, the kernel tail, and
// only while it is called. cur is how far we have seen: Wait waits for more.
type ring struct {
	memory  region
	at      int
	slots   uint32
	size    int64 // of a buffer
	buffers int64 // where buffer 0 is
}

func (r *ring) word(off int) *uint32 { return (*uint32)(unsafe.Pointer(&r.memory[r.at+off])) }

// load reads an index; whoever wrote it, it is one of a slot.
func (r *ring) load(off int) uint32 { return atomic.LoadUint32(r.word(off)) % r.slots }

// from is how many slots there are from one that is ours up to tail.
func (r *ring) from(i uint32) uint32 {
	t := r.load(ringTail)
	if t >= i {
		return t - i
	}
	return t + r.slots - i
}

func (r *ring) next(i uint32) uint32 {
	if i++; i == r.slots {
		return 0
	}
	return i
}

// see keeps the slots before i ours, and says that they are known.
func (r *ring) see(i uint32) { atomic.StoreUint32(r.word(ringCur), i) }

// give gives the slots before i to the kernel, with its next call.
func (r *ring) give(i uint32) {
	r.see(i) // first: the kernel may look, and head must not be ahead of it
	atomic.StoreUint32(r.word(ringHead), i)
}

func (r *ring) slot(i uint32) int { return r.at + ringFirst + int(i)*slotBytes }

// buffer is the memory of a slot; nil where its number is of none. Numbers change: the kernel swaps buffers.
func (r *ring) buffer(i uint32) []byte {
	n := int64(read[uint32](r.memory, r.slot(i)))
	at := r.buffers + n*r.size
	if n < firstBuffer || at > int64(len(r.memory))-r.size {
		return nil
	}
	return r.memory[at : at+r.size : at+r.size]
}

// longest is the longest frame that a slot takes: lengths have 16 bits.
func (r *ring) longest() int { return int(min(r.size, 1<<16-1)) }

func (r *ring) length(i uint32) int   { return int(read[uint16](r.memory, r.slot(i)+slotLength)) }
func (r *ring) flags(i uint32) uint16 { return read[uint16](r.memory, r.slot(i)+slotFlags) }

// set says how long a slot's frame is, whole in one buffer.
func (r *ring) set(i uint32, length int) {
	*(*uint16)(unsafe.Pointer(&r.memory[r.slot(i)+slotLength])) = uint16(length)
	*(*uint16)(unsafe.Pointer(&r.memory[r.slot(i)+slotFlags])) = 0
}
