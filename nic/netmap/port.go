package netmap

import (
	"errors"
	"sync/atomic"
	"time"

	"loadtest/internal/link"
	"loadtest/nic"
)

// A kernel is the other side of a pair of rings.
type kernel interface {
	txSync() error // sends what is before head, and gives back what is sent
	rxSync() error // takes back what is before head, and gives what has come
	wait(d time.Duration)
	close() error
}

// A watcher knows the interface behind the rings. Any goroutine may ask.
type watcher interface {
	status() nic.Status
	wire() link.Wire
	close() error
}

// A device is what the queues of an open port share.
type device struct {
	watch watcher
	open  atomic.Int32 // queues
	max   int          // longest frame without a VLAN tag
}

// A port is a pair of rings, with a descriptor of its own: its thread moves nobody else's frames.
type port struct {
	*device
	kernel  kernel
	number  int
	tx, rx  *ring // rx nil: it has none
	gate    nic.Gate
	cut     bool // Recv is within a frame of several slots
	missed  atomic.Int64
	stalled atomic.Bool // the kernel does not move the rings
	stalls  atomic.Int64
}

const ethernet = 14

// sync calls the kernel; rings that it does not move any more are those of an interface that is gone or being reset.
func (p *port) sync(call func() error) error {
	err := call()
	if err == nil {
		if p.stalled.Load() {
			p.stalled.Store(false)
		}
		return nil
	}
	if !p.stalled.Swap(true) {
		p.stalls.Add(1)
	}
	return errors.Join(nic.ErrDown, err)
}

// Wait waits until a frame may be there, or d.
func (p *port) Wait(d time.Duration) {
	if !p.gate.Enter() {
		return
	}
	if d > 0 && p.rx != nil && p.rx.from(p.rx.load(ringCur)) == 0 {
		p.kernel.wait(d)
	}
	p.gate.Leave()
}

// Status asks the system. What concerns the whole interface is told by the first queue. Netmap does not tell how many frames left.
func (p *port) Status() nic.Status {
	if !p.gate.Enter() {
		return nic.Status{LinkDown: true, Missed: p.missed.Load(), TxFrames: -1}
	}
	defer p.gate.Leave()
	s := p.watch.status()
	if p.number > 0 {
		s.Missed, s.TxErrors = 0, 0
	}
	s.LinkDown = s.LinkDown || p.stalled.Load()
	s.Downs = max(s.Downs, p.stalls.Load())
	s.Missed += p.missed.Load()
	s.TxFrames = -1
	return s
}

// Wire tells what the driver counts on the line.
func (p *port) Wire() link.Wire {
	if !p.gate.Enter() {
		return link.Unknown()
	}
	defer p.gate.Leave()
	return p.watch.wire()
}

// Close gives the rings back; with the last queue the interface is the host's again.
func (p *port) Close() error {
	if !p.gate.Close() {
		return nil
	}
	err := p.kernel.close()
	if p.open.Add(-1) == 0 {
		err = errors.Join(err, p.watch.close())
	}
	return err
}
