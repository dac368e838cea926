package netmap

import "unsafe"

// header is struct nmreq_header (net/netmap.h).
type header struct {
	version, kind uint16
	_             uint32
	name          [nameBytes]byte
	options, body uint64
}

// register is struct nmreq_register. Zeros in what both sides write leave the choice to the kernel.
type register struct {
	offset, size                     uint64 // of the port's struct netmap_if in the memory, and of the memory
	txSlots, rxSlots                 uint32
	txRings, rxRings, hostTx, hostRx uint16
	memory, ring                     uint16
	mode, extra                      uint32
	flags                            uint64
}

// facts is struct nmreq_port_info_get.
type facts struct {
	size                             uint64
	txSlots, rxSlots                 uint32
	txRings, rxRings, hostTx, hostRx uint16
	memory                           uint16
	_                                [3]uint16
}

const (
	version = 14 // NETMAP_API

	kindRegister, kindFacts = 1, 2 // NETMAP_REQ_REGISTER, NETMAP_REQ_PORT_INFO_GET

	modeAll, modeHost        = 1, 2            // NR_REG_ALL_NIC, NR_REG_SW
	modeOne, modeOneHost     = 4, 8            // NR_REG_ONE_NIC, NR_REG_ONE_SW
	flagTxOnly, flagNoTxPoll = 0x4000, 0x20000 // NR_TX_RINGS_ONLY, NR_NO_TX_POLL

	moreFragments = 0x20 // NS_MOREFRAG
)

// Offsets in struct netmap_if, struct netmap_ring and struct netmap_slot.
const (
	ifTxRings, ifRxRings  = 24, 28
	ifHostTx, ifHostRx    = 36, 40
	ifRings               = 56 // offsets of the rings from the struct: tx, host tx, rx, host rx
	ringBuffers           = 0
	ringSlots, ringSize   = 8, 12
	ringHead, ringCur     = 20, 24
	ringTail              = 28
	ringFirst             = 256
	slotBytes             = 16
	slotLength, slotFlags = 4, 6

	firstBuffer = 2 // those before it are the kernel's own
)

// calls are the numbers of ioctl(2): control is _IOWR('i', 151, struct nmreq_header), txSync _IO('i', 148), rxSync _IO('i', 149).
type calls struct{ control, txSync, rxSync uintptr }

// numbers encodes them. Linux (asm-generic/ioctl.h) and FreeBSD (sys/ioccom.h) agree about _IOWR; _IO has a bit on FreeBSD (IOC_VOID).
func numbers(system string) calls {
	const group, inOut = 'i' << 8, 3 << 30
	var void uintptr
	if system == "freebsd" {
		void = 1 << 29
	}
	return calls{inOut | unsafe.Sizeof(header{})<<16 | group | 151, void | group | 148, void | group | 149}
}
