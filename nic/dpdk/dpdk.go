// Package dpdk opens network devices through the Data Plane Development Kit: poll mode drivers, past the kernel.
//
//	packets ─pace, tag: C→ mbufs ─rte_eth_tx_burst→ wire ─→ rte_eth_rx_burst ─┬─ own tag: C → counts, latency
//	frames ─Send: copied→                                                     └─ all else ─lent→ Recv
//
// It is built with cgo and the tag dpdk against libdpdk 22.11; without them Open says what to install. What is done for each packet
// is done in C, in memory of C: Go writes settings, reads counters, and makes one call a burst or, of a Player, a millisecond.
//
// The environment abstraction layer (EAL) of DPDK is one per process and cannot be started twice, so it is the one global here: the
// first Open starts it, and it stays. Devices are added and taken away while it runs. Of the process it changes:
//   - memory: 256 MiB of huge pages that no other process shares, more as ports need it; where there are none, up to 1 GiB of usual
//     pages, each taken when it is used;
//   - threads: one of EAL's own waits for interrupts and timers; each thread that sends or receives is known to EAL until it ends
//     (128 at most; more work, slower). The thread that starts EAL is pinned while it does, then has its affinity back;
//   - the C library's stdout and stderr, not Go's, go nowhere and to DPDK's log while EAL starts and devices come and go; the log
//     is in memory, and what it says of a failure is in the error;
//   - SIGBUS has EAL's handler for moments in which huge pages are taken;
//   - /var/run/dpdk/rte, an empty folder, is made.
//
// Interfaces of the kernel that a driver of DPDK uses (net_af_packet, net_af_xdp) are set promiscuous while they are open; if the
// process is killed they stay so (ip link set IF promisc off).
package dpdk

import "errors"

// ErrNotBuilt is what Open says in a program that was built without DPDK.
var ErrNotBuilt = errors.New("this build has no DPDK")

// Options of ports.
type Options struct {
	// Epoch is the run's time zero in ns of CLOCK_MONOTONIC.
	Epoch int64

	// EAL are options for EAL beside ours, as "--iova-mode=va". They matter to the first Open of a process. Those that say where
	// memory comes from (--no-huge, --in-memory, --legacy-mem, --file-prefix, --huge-dir, --proc-type) replace our choice.
	EAL []string

	// Queues is how many there are to be in each direction; default 1, at most what the device has.
	Queues int
}
