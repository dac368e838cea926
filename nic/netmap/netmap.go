// Package netmap opens ports of the netmap framework, ABI 14: hardware rings, host rings, VALE switches and pipes, on Linux and FreeBSD.
//
//	Send ─copy→ slots of a tx ring ─NIOCTXSYNC→ wire ─→ slots of an rx ring ─NIOCRXSYNC→ lend → Recv
//
// The module itself was not run where this was written and tested: the layout of its memory and the numbers of its calls are those
// of net/netmap.h, what it refuses is in its sources, and the ports are tested against a stand-in that holds them to netmap(4).
//
// A frame is one slot: Send refuses longer ones with nic.ErrTooLong, and a received frame of several slots (NS_MOREFRAG) is counted
// as missed, once. Frames are copied into slots each time: to keep them there, buffers would have to be swapped back after each
// sending, which the kernel tells late and not for each slot. Ports do not stamp.
//
// On Linux an interface is promiscuous while it is open. On FreeBSD say so yourself: ifconfig em0 promisc. Host rings (eth2^) see what
// the host sends only while some program has the interface's own rings.
package netmap

// Options of a port.
type Options struct {
	// Epoch is the run's time zero in ns of CLOCK_MONOTONIC. Ports do not stamp; it is here as for other backends.
	Epoch int64
}
