package netmap

import (
	"sync/atomic"
	"unsafe"
)

// A ring is one of netmap's: slots from head up to tail are ours, the rest the kernel's. We move head and cur, the kernel tail, and
// only while it is called.
type ring struct {
	memory  region
	at      int
	slots   uint32
	size    int   // of a buffer
	buffers int64 // where buffer 0 is
}

func (r *ring) word(off int) *uint32 { return (*uint32)(unsafe.Pointer(&r.memory[r.at+off])) }

func (r *ring) head() uint32 { return atomic.LoadUint32(r.word(ringHead)) % r.slots }
func (r *ring) tail() uint32 { return atomic.LoadUint32(r.word(ringTail)) % r.slots }

// ours is how many slots are ours.
func (r *ring) ours() uint32 {
	h, t := r.head(), r.tail()
	if t >= h {
		return t - h
	}
	return t + r.slots - h
}

func (r *ring) next(i uint32) uint32 {
	if i++; i == r.slots {
		return 0
	}
	return i
}

// move gives the slots before i to the kernel.
func (r *ring) move(i uint32) {
	atomic.StoreUint32(r.word(ringCur), i)
	atomic.StoreUint32(r.word(ringHead), i)
}

func (r *ring) slot(i uint32) int { return r.at + ringFirst + int(i)*slotBytes }

// buffer is the memory of a slot; nil where its number is of none.
func (r *ring) buffer(i uint32) []byte {
	at := r.buffers + int64(read[uint32](r.memory, r.slot(i)))*int64(r.size)
	if at < 0 || at+int64(r.size) > int64(len(r.memory)) {
		return nil
	}
	return r.memory[at : at+int64(r.size) : at+int64(r.size)]
}

func (r *ring) length(i uint32) int   { return int(read[uint16](r.memory, r.slot(i)+slotLength)) }
func (r *ring) flags(i uint32) uint16 { return read[uint16](r.memory, r.slot(i)+slotFlags) }

// set says how long a slot's frame is, whole in one buffer.
func (r *ring) set(i uint32, length int) {
	*(*uint16)(unsafe.Pointer(&r.memory[r.slot(i)+slotLength])) = uint16(length)
	*(*uint16)(unsafe.Pointer(&r.memory[r.slot(i)+slotFlags])) = 0
}
