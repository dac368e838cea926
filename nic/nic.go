// Package nic is the tester's edge to the wire: what a port is, whatever stands behind it.
//
//	replay, traffic ─Send→ Port ─→ wire ─→ device under test ─→ wire ─→ Port ─Recv→ replay, traffic
//
// Backends live in packages of their own below this one; nic/dial gives a Device for a name.
package nic

import (
	"errors"
	"time"

	"loadtest/internal/link"
	"loadtest/packet"
	"loadtest/trial"
	"loadtest/units"
)

// A Port is one queue with two halves, Send and Recv; each half has one owner goroutine (they may be one).
type Port interface {
	// Send borrows frames until it returns and takes frames[:n], n < len(frames) when there is no room for more now. An
	// error is about frames[n] (ErrTooLong) or about the port (ErrDown, ErrClosed). A frame's Nanos is when it was due;
	// ports in software take it as the time of departure.
	Send(frames []packet.Frame) (n int, err error)

	// Recv fills frames with what has arrived and never waits. The bytes are lent until the next Recv. Nanos is the
	// arrival on the run's clock, 0 if the port does not stamp. Frames that the tester itself sent are not among them.
	Recv(frames []packet.Frame) (n int, err error)

	Close() error
}

// A Device is what a name of a port stands for: facts and queues.
type Device struct {
	Info   Info
	Queues []Port
}

// Info describes a device.
type Info struct {
	Name, Backend, Driver, Mode string

	MAC           [6]byte
	LineRate      units.BitRate // 0: unknown
	MTU, MaxFrame int           // MaxFrame: longest frame without FCS that Send takes
	NUMA          int           // memory node of the device; -1: none
	Passed        string        // why no faster way to the same device was taken; "" where none is known
	Down          bool          // the link was, when it was asked
	Arrived       trial.Stamp   // who stamps arrivals; 0: the port does not, and its user does when Recv gives them
	Played        trial.Stamp   // who stamps what a Player sends; 0: this program
	Merges        bool          // receive offload may hand up several TCP segments as one frame
}

// Status is what a port tells about itself since it was opened.
type Status struct {
	LinkDown bool  // now
	Downs    int64 // how often the link went down
	Missed   int64 // dropped in the tester's own receive path: the socket's or ring's overflow
	TxErrors int64 // frames taken by Send that the driver could not send
	TxFrames int64 // frames that the driver says it sent, whoever gave them to it; -1: it does not tell
}

// A Reporter is a Port that tells its Status; any goroutine may ask.
type Reporter interface{ Status() Status }

// A Wired is a Port that tells how its line fares, in counts that only grow. Any goroutine may ask; it takes some system calls.
type Wired interface{ Wire() link.Wire }

// A Waiter is a Port that can wait for frames on behalf of its Recv half: until something may be there, or d.
type Waiter interface{ Wait(d time.Duration) }

// Optional is what a Port can do beside being one; nil where it cannot.
type Optional struct {
	Reporter   Reporter
	Wired      Wired
	Waiter     Waiter
	Player     Player
	Classifier Classifier
}

// Of asks a port for its optional abilities: the one place where they are asserted.
func Of(p Port) (o Optional) {
	if j, ok := p.(*joined); ok {
		return j.of()
	}
	o.Reporter, _ = p.(Reporter)
	o.Wired, _ = p.(Wired)
	o.Waiter, _ = p.(Waiter)
	o.Player, _ = p.(Player)
	o.Classifier, _ = p.(Classifier)
	return o
}

// What Send and Recv answer.
var (
	ErrTooLong = errors.New("frame is too long for the port")
	ErrDown    = errors.New("link is down")
	ErrClosed  = errors.New("port is closed")

	ErrNotPlayed = errors.New("not played by the port itself") // of a Player: these packets are sent by Send
)
