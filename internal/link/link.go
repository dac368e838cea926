// Package link asks the kernel what a network interface is and how it fares.
//
//	interface ─rtnetlink, ethtool, sysfs→ Facts: state, sizes, counters, driver, speed
package link

import "errors"

// Facts is what the kernel tells of an interface. Counters are since the interface was made.
type Facts struct {
	Kind   uint16 // ARPHRD_ number
	Up     bool   // set up, and there is a carrier
	MTU    int
	MAC    [6]byte
	Parent string // address on the parent's bus, as 0000:22:00.0

	Downs                        int64 // how often the carrier went
	RxMissed, TxErrors, TxFrames int64

	rxCRC, rxAlignment int64 // of Wire, where nobody else tells it
}

// ErrNoInterface is what Open says of a name that stands for none in the thread's namespace.
var ErrNoInterface = errors.New("no such interface")
