package netmap

import (
	"fmt"
	"unsafe"
)

// header is struct nmreq_header, register struct nmreq_register (net/netmap.h).
type header struct {
	version, kind uint16
	_             uint32
	name          [nameBytes]byte
	options, body uint64
}

type register struct {
	offset, size                     uint64 // of the port's struct netmap_if in the memory, and of the memory
	txSlots, rxSlots                 uint32
	txRings, rxRings, hostTx, hostRx uint16
	memory, ring                     uint16
	mode                             uint32
	flags                            uint64
	extra                            uint32
	_                                uint32
}

// Offsets in struct netmap_if, struct netmap_ring and struct netmap_slot.
const (
	ifTxRings, ifRxRings  = 24, 28
	ifHostTx, ifHostRx    = 36, 40
	ifRings               = 56 // offsets of the rings from the struct: tx, host tx, rx, host rx
	ringBuffers           = 0
	ringSlots, ringSize   = 8, 12
	ringHead, ringCur     = 20, 24
	ringTail, ringFlags   = 28, 32
	ringFirst             = 256
	slotBytes             = 16
	slotLength, slotFlags = 4, 6

	moreFragments = 0x20 // NS_MOREFRAG
	mostRings     = 4096
)

// A region is the memory that the kernel shares.
type region []byte

func read[T uint16 | uint32 | uint64 | int64](m region, at int) T {
	return *(*T)(unsafe.Pointer(&m[at]))
}

// within says whether n bytes at an offset lie in the memory, aligned to 8.
func (m region) within(at, n int64) bool {
	return at >= 0 && n >= 0 && at%8 == 0 && at <= int64(len(m)) && n <= int64(len(m))-at
}

// rings finds a port's rings: of the host's stack, or of the device. Whatever the memory says, nothing outside of it is believed.
func (m region) rings(at uint64, host bool) (tx, rx []*ring, err error) {
	base := int64(at)
	if at > uint64(len(m)) || !m.within(base, ifRings) {
		return nil, nil, fmt.Errorf("the kernel says that the port lies at byte %d of %d", at, len(m))
	}
	count := func(off int) int64 { return int64(read[uint32](m, int(base)+off)) }
	nTx, nRx, nHostTx, nHostRx := count(ifTxRings), count(ifRxRings), count(ifHostTx), count(ifHostRx)
	for _, n := range []int64{nTx, nRx, nHostTx, nHostRx} {
		if n > mostRings {
			return nil, nil, fmt.Errorf("the kernel says that the port has %d rings", n)
		}
	}
	if !m.within(base, ifRings+8*(nTx+nRx+nHostTx+nHostRx)) {
		return nil, nil, fmt.Errorf("the kernel says that the port has %d rings, more than there is memory", nTx+nRx+nHostTx+nHostRx)
	}
	get := func(first, n int64) (all []*ring, err error) {
		for i := range n {
			off := read[int64](m, int(base)+ifRings+8*int(first+i))
			if off == 0 { // not one of those asked for
				continue
			}
			r, err := m.ring(base + off)
			if err != nil {
				return nil, fmt.Errorf("ring %d: %w", first+i, err)
			}
			all = append(all, r)
		}
		return all, nil
	}
	firstTx, firstRx := int64(0), nTx+nHostTx
	if host {
		firstTx, nTx, firstRx, nRx = nTx, nHostTx, firstRx+nRx, nHostRx
	}
	if tx, err = get(firstTx, nTx); err != nil {
		return nil, nil, err
	}
	rx, err = get(firstRx, nRx)
	return tx, rx, err
}

// ring checks a ring: its slots lie in the memory. Its buffers are checked one by one, as their numbers change.
func (m region) ring(at int64) (*ring, error) {
	if !m.within(at, ringFirst) {
		return nil, fmt.Errorf("it lies at byte %d of %d", at, len(m))
	}
	r := &ring{memory: m, at: int(at), slots: read[uint32](m, int(at)+ringSlots), size: int(read[uint32](m, int(at)+ringSize))}
	buffers := read[int64](m, int(at)+ringBuffers)
	switch {
	case r.slots < 2 || r.slots > 1<<20 || !m.within(at, ringFirst+int64(r.slots)*slotBytes):
		return nil, fmt.Errorf("it has %d slots", r.slots)
	case r.size < 64 || r.size > 1<<16:
		return nil, fmt.Errorf("its buffers have %d bytes", r.size)
	case buffers < -at || buffers > int64(len(m))-at:
		return nil, fmt.Errorf("its buffers begin %d bytes behind it", buffers)
	}
	r.buffers = at + buffers
	return r, nil
}
