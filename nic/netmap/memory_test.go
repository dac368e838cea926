package netmap

import (
	"encoding/binary"
	"unsafe"
)

// shape is a port's: how many rings, slots in each, and bytes of a buffer.
type shape struct {
	tx, rx, hostTx, hostRx int
	slots, size            int
}

func (s shape) rings() int { return s.tx + s.hostTx + s.rx + s.hostRx }

// ports is how many struct netmap_if there is room for, one for each descriptor.
const ports = 16

func (s shape) ifBytes() int   { return ifRings + 8*s.rings() }
func (s shape) ringBytes() int { return ringFirst + s.slots*slotBytes }
func (s shape) ringAt(i int) int {
	return ports*s.ifBytes() + i*s.ringBytes()
}

// aligned is memory as mmap(2) gives it: at a multiple of 8.
func aligned(n int) region {
	words := make([]uint64, n/8+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
}

// memory lays a port's memory out as the kernel does: struct netmap_if for each descriptor, rings, buffers.
func (s shape) memory() region {
	buffers := s.ringAt(s.rings())
	m := aligned(buffers + (firstBuffer+s.rings()*s.slots)*s.size)
	buffer := firstBuffer
	for i := range s.rings() {
		at := s.ringAt(i)
		m.put64(at+ringBuffers, int64(buffers-at))
		m.put32(at+ringSlots, s.slots)
		m.put32(at+ringSize, s.size)
		for k := range s.slots {
			m.put32(at+ringFirst+k*slotBytes, buffer)
			buffer++
		}
		if i < s.tx+s.hostTx { // all free but one
			m.put32(at+ringTail, s.slots-1)
		}
	}
	return m
}

// describe fills a struct netmap_if with the rings that some descriptor has.
func (s shape) describe(m region, at int, has func(ring int) bool) {
	for off, n := range map[int]int{ifTxRings: s.tx, ifRxRings: s.rx, ifHostTx: s.hostTx, ifHostRx: s.hostRx} {
		m.put32(at+off, n)
	}
	for i := range s.rings() {
		if has(i) {
			m.put64(at+ifRings+8*i, int64(s.ringAt(i)-at))
		}
	}
}

func (m region) put16(at, v int)       { binary.NativeEndian.PutUint16(m[at:], uint16(v)) }
func (m region) put32(at, v int)       { binary.NativeEndian.PutUint32(m[at:], uint32(v)) }
func (m region) put64(at int, v int64) { binary.NativeEndian.PutUint64(m[at:], uint64(v)) }
