package netmap

import (
	"testing"
	"unsafe"
)

// The structs of net/netmap.h, ABI 14, on 64 bits, in its own words.
type (
	netmapSlot struct {
		bufIdx     uint32
		len, flags uint16
		ptr        uint64
	}
	netmapRing struct {
		bufOfs              int64
		numSlots, nrBufSize uint32
		ringid, dir         uint16
		head, cur, tail     uint32
		flags               uint32
		ts                  [2]int64
		_                   [128 - 56]byte // sem is aligned to 128; later modules put offset_mask and buf_align before it
		sem                 [128]byte
		slot                [1]netmapSlot
	}
	netmapIf struct {
		niName               [16]byte
		niVersion, niFlags   uint32
		niTxRings, niRxRings uint32
		niBufsHead           uint32
		niHostTx, niHostRx   uint32
		niSpare1             [3]uint32
		ringOfs              [1]int64
	}
)

func TestLayout(t *testing.T) {
	var (
		h  header
		g  register
		f  facts
		s  netmapSlot
		r  netmapRing
		ni netmapIf
	)
	for name, n := range map[string][2]uintptr{
		"sizeof(struct nmreq_header)": {unsafe.Sizeof(h), 88}, "nr_version": {unsafe.Offsetof(h.version), 0}, "nr_reqtype": {unsafe.Offsetof(h.kind), 2},
		"nr_name": {unsafe.Offsetof(h.name), 8}, "nr_options": {unsafe.Offsetof(h.options), 72}, "nr_body": {unsafe.Offsetof(h.body), 80},

		"sizeof(struct nmreq_register)": {unsafe.Sizeof(g), 56}, "nr_offset": {unsafe.Offsetof(g.offset), 0}, "nr_memsize": {unsafe.Offsetof(g.size), 8},
		"nr_tx_slots": {unsafe.Offsetof(g.txSlots), 16}, "nr_rx_slots": {unsafe.Offsetof(g.rxSlots), 20},
		"nr_tx_rings": {unsafe.Offsetof(g.txRings), 24}, "nr_rx_rings": {unsafe.Offsetof(g.rxRings), 26},
		"nr_host_tx_rings": {unsafe.Offsetof(g.hostTx), 28}, "nr_host_rx_rings": {unsafe.Offsetof(g.hostRx), 30},
		"nr_mem_id": {unsafe.Offsetof(g.memory), 32}, "nr_ringid": {unsafe.Offsetof(g.ring), 34}, "nr_mode": {unsafe.Offsetof(g.mode), 36},
		"nr_extra_bufs": {unsafe.Offsetof(g.extra), 40}, "nr_flags": {unsafe.Offsetof(g.flags), 48},

		"sizeof(struct nmreq_port_info_get)": {unsafe.Sizeof(f), 32}, "tx rings of it": {unsafe.Offsetof(f.txRings), 16}, "rx rings of it": {unsafe.Offsetof(f.rxRings), 18},
		"host tx rings of it": {unsafe.Offsetof(f.hostTx), 20}, "host rx rings of it": {unsafe.Offsetof(f.hostRx), 22}, "nr_mem_id of it": {unsafe.Offsetof(f.memory), 24},

		"ni_tx_rings": {ifTxRings, unsafe.Offsetof(ni.niTxRings)}, "ni_rx_rings": {ifRxRings, unsafe.Offsetof(ni.niRxRings)},
		"ni_host_tx_rings": {ifHostTx, unsafe.Offsetof(ni.niHostTx)}, "ni_host_rx_rings": {ifHostRx, unsafe.Offsetof(ni.niHostRx)},
		"ring_ofs": {ifRings, unsafe.Offsetof(ni.ringOfs)},

		"buf_ofs": {ringBuffers, unsafe.Offsetof(r.bufOfs)}, "num_slots": {ringSlots, unsafe.Offsetof(r.numSlots)}, "nr_buf_size": {ringSize, unsafe.Offsetof(r.nrBufSize)},
		"head": {ringHead, unsafe.Offsetof(r.head)}, "cur": {ringCur, unsafe.Offsetof(r.cur)}, "tail": {ringTail, unsafe.Offsetof(r.tail)},
		"slot": {ringFirst, unsafe.Offsetof(r.slot)},

		"sizeof(struct netmap_slot)": {slotBytes, unsafe.Sizeof(s)}, "buf_idx": {0, unsafe.Offsetof(s.bufIdx)},
		"len": {slotLength, unsafe.Offsetof(s.len)}, "flags": {slotFlags, unsafe.Offsetof(s.flags)},
	} {
		if n[0] != n[1] {
			t.Errorf("%s is %d, want %d", name, n[0], n[1])
		}
	}
}

// The numbers are those that a C compiler makes of the macros on each system.
func TestNumbers(t *testing.T) {
	for system, want := range map[string]calls{
		"linux":   {0xc0586997, 0x6994, 0x6995},
		"freebsd": {0xc0586997, 0x20006994, 0x20006995},
	} {
		if got := numbers(system); got != want {
			t.Errorf("%s: %#x, want %#x", system, got, want)
		}
	}
}
