package netmap

import (
	"errors"
	"fmt"
	"unsafe"
)

// A region is the memory that the kernel shares. Other programs may map it, too: nothing that it says is believed unchecked.
type region []byte

func read[T uint16 | uint32 | int64](m region, at int) T { return *(*T)(unsafe.Pointer(&m[at])) }

// within says whether n bytes at an offset lie in the memory, aligned to 8.
func (m region) within(at, n int64) bool {
	return at >= 0 && n >= 0 && at%8 == 0 && at <= int64(len(m)) && n <= int64(len(m))-at
}

// pair finds the rings that were registered, of the port whose struct netmap_if is at an offset. rx is nil if the flags leave it out.
func (m region) pair(at uint64, g register) (tx, rx *ring, err error) {
	if at > uint64(len(m)) || !m.within(int64(at), ifRings) {
		return nil, nil, fmt.Errorf("the kernel says that the port lies at byte %d of %d", at, len(m))
	}
	base := int64(at)
	count := func(off int) int64 { return int64(read[uint32](m, int(base)+off)) }
	nTx, nRx, nHostTx, nHostRx := count(ifTxRings), count(ifRxRings), count(ifHostTx), count(ifHostRx)
	if n := nTx + nRx + nHostTx + nHostRx; n > 4*mostRings || !m.within(base, ifRings+8*n) {
		return nil, nil, fmt.Errorf("the kernel says that the port has %d rings", n)
	}
	firstTx, firstRx := int64(0), nTx+nHostTx
	if g.mode == modeHost || g.mode == modeOneHost {
		firstTx, nTx, firstRx, nRx = nTx, nHostTx, firstRx+nRx, nHostRx
	}
	if tx, err = m.find(base, firstTx, nTx, int64(g.ring)); err != nil {
		return nil, nil, fmt.Errorf("tx ring %d: %w", g.ring, err)
	}
	if g.flags&flagTxOnly == 0 {
		if rx, err = m.find(base, firstRx, nRx, int64(g.ring)); err != nil {
			return nil, nil, fmt.Errorf("rx ring %d: %w", g.ring, err)
		}
	}
	return tx, rx, nil
}

// find is ring number i of the n whose offsets begin with the first.
func (m region) find(base, first, n, i int64) (*ring, error) {
	if i >= n {
		return nil, fmt.Errorf("the kernel says that there are %d", n)
	}
	off := read[int64](m, int(base+ifRings+8*(first+i)))
	if off == 0 {
		return nil, errors.New("the kernel did not give it")
	}
	if off < -base || off > int64(len(m))-base || !m.within(base+off, ringFirst) {
		return nil, fmt.Errorf("the kernel says that it lies %d bytes behind byte %d of %d", off, base, len(m))
	}
	return m.ring(base + off)
}

// ring checks that a ring's slots and all their buffers lie in the memory.
func (m region) ring(at int64) (*ring, error) {
	r := &ring{memory: m, at: int(at), slots: read[uint32](m, int(at)+ringSlots), size: int64(read[uint32](m, int(at)+ringSize))}
	buffers := read[int64](m, int(at)+ringBuffers)
	switch {
	case r.slots < 2 || r.slots > 1<<20 || !m.within(at, ringFirst+int64(r.slots)*slotBytes):
		return nil, fmt.Errorf("the kernel says that it has %d slots", r.slots)
	case r.size < 64 || r.size > 1<<16:
		return nil, fmt.Errorf("the kernel says that its buffers have %d bytes", r.size)
	case buffers < -at || buffers > int64(len(m))-at:
		return nil, fmt.Errorf("the kernel says that its buffers begin %d bytes behind it", buffers)
	}
	r.buffers = at + buffers
	for i := range r.slots {
		if r.buffer(i) == nil {
			return nil, fmt.Errorf("the kernel says that slot %d has buffer %d, which is none", i, read[uint32](m, r.slot(i)))
		}
	}
	for _, w := range []int{ringHead, ringCur, ringTail} {
		if v := *r.word(w); v >= r.slots {
			return nil, fmt.Errorf("the kernel says that it is at slot %d of %d", v, r.slots)
		}
	}
	return r, nil
}
