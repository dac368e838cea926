// Package xdp puts programs where an interface hands frames over first, and asks what its driver can do there.
//
//	program ─bpf link→ driver, or the stack where the driver cannot (generic)      interface → Features
//
// A link ends with its last descriptor: however the process ends, nothing stays attached.
package xdp

// Features are what a driver offers to XDP (enum netdev_xdp_act of linux/netdev.h).
type Features uint64

// The Features.
const (
	Basic     Features = 1 << iota // runs programs natively
	Redirect                       // takes part in redirection as its source
	Transmit                       // takes frames that are redirected to it
	ZeroCopy                       // AF_XDP without a copy
	Offload                        // runs programs in hardware
	Scatter                        // programs see frames of several buffers
	TxScatter                      // takes redirected frames of several buffers
)

// The modes of an attached program, as they are told to the user.
const (
	Native  = "native"
	Generic = "generic"
)
