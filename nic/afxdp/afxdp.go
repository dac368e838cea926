// Package afxdp opens a Linux network interface through AF_XDP sockets, one for each queue.
//
//	Send, Play ─descriptors→ memory shared with the kernel (UMEM) ─→ driver ─→ wire ─→ driver ─XDP program→ UMEM ─lend→ Recv
//
// Without a copy where the driver can (zero-copy), else the kernel copies each frame, natively or, where the driver runs no XDP
// programs, generically: Info says which. All that arrives goes to the sockets, nothing to the host's stack. The program and the
// promiscuous mode end with the process, however it ends. A frame counts as sent when the driver took it: where the kernel copies,
// sendto tells which one it dropped.
// What drivers take out of received frames is lost here, as for any XDP program: VLAN tags. Hides tells, and Info.
package afxdp

// Options of a port.
type Options struct {
	// Epoch is the run's time zero in ns of CLOCK_MONOTONIC.
	Epoch int64

	generic bool // do not try to run natively
}

// Sizes, in frames: powers of two. A receive ring is how long the tester may pause.
const (
	ringFrames = 2048
	keepFrames = 16384 // of packets that are played: filled once
	smallChunk = 2048
	largeChunk = 4096
	headroom   = 256 // XDP_PACKET_HEADROOM: what the kernel keeps free in front of a received frame
	usualBurst = 32  // what the kernel takes in one call where it copies
	burst      = 64  // the same where it can be told, and where it does not copy
)
