// Package xdp sends and counts inside the kernel: an XDP program replays the packets (live frames), another knows them when they
// come back. What neither can do goes through the packet socket below.
//
//	templates ─generator, paced, tagged→ redirect ─→ driver ─→ wire ─→ classifier: own tag → counts, latency
//	                                                                       └ all else → stack → packet socket → Recv
//
// A packet counts as sent when the driver took it: two tracepoints tell which ones it refused. The programs are held by
// descriptors of this process alone, so nothing stays behind, however it ends. Needs Linux 5.18, its type information (BTF), and
// CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON; without CAP_SYS_ADMIN a tap is there beside while it plays.
//
// The driver must take redirected frames (ndo_xdp_xmit); a veth does where the program of the other end runs natively, or that end
// has GRO on. One that takes VLAN tags out of received frames hides them from any XDP program: such packets are known, but counted
// 4 bytes shorter. Switch that off (ethtool -K IF rxvlan off); doctor looks for it.
package xdp

// Options of a port.
type Options struct {
	// Epoch is the run's time zero in ns of CLOCK_MONOTONIC, which is also the clock of the programs.
	Epoch int64

	// Queues is how many threads may play at once; default 1. What is received comes from the first.
	Queues int
}
