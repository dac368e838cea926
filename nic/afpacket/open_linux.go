package afpacket

import (
	"errors"
	"sync"

	"golang.org/x/sys/unix"

	"loadtest/internal/link"
	"loadtest/nic"
)

const (
	ethernet = 14 // bytes of an Ethernet header
	vlanTag  = 4  // bytes of a VLAN tag: a frame that has one may be that much longer
)

// A port is an interface: two sockets, and a third that asks for the interface's state.
type port struct {
	tx   sender
	rx   receiver
	gate nic.Gate

	mu     sync.Mutex // Status may be called by any goroutine
	link   *link.Link
	first  link.Facts // of the interface when the port was opened
	missed int64      // drops of the receiving socket so far
}

// Open opens the interface name, or name@NETNS in a named network namespace (or in the one a path stands for).
func Open(name string, o Options) (d nic.Device, err error) {
	err = link.At(name, func(iface string) (err error) {
		d, err = open(name, iface, o)
		return err
	})
	return d, err
}

// Look tells what Open would say about the interface, over a route socket: that needs no privilege. How long the receive ring
// gets is only seen when it is made.
func Look(name string) (i nic.Info, err error) {
	err = link.At(name, func(iface string) error {
		l, f, err := link.Open(iface)
		if err == nil {
			i = info(l, name, f, defaultRing)
			l.Close()
		}
		return err
	})
	return i, err
}

// open runs in the interface's namespace.
func open(name, iface string, o Options) (d nic.Device, err error) {
	p := &port{tx: sender{fd: -1, name: iface}, rx: receiver{fd: -1}}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	if p.link, p.first, err = link.Open(iface); err != nil {
		return d, err
	}
	if err = p.tx.open(p.link.Index, p.first.MTU+ethernet); err != nil {
		return d, err
	}
	if err = p.rx.open(p.link.Index, o); err != nil {
		return d, err
	}
	return nic.Device{Info: info(p.link, name, p.first, len(p.rx.ring)), Queues: []nic.Port{p}}, nil
}

// Status asks the kernel. What the interface itself dropped before a socket could see it is missed, too: the driver had no
// buffer (rx_missed) or the backlog of the stack was full (rx_dropped).
func (p *port) Status() nic.Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gate.Closed() {
		return nic.Status{LinkDown: true, Missed: p.missed, TxFrames: -1}
	}
	if s, err := unix.GetsockoptTpacketStatsV3(p.rx.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
		p.missed += int64(s.Drops) // the kernel counts anew after each call
	}
	now, err := p.link.Ask()
	if err != nil { // the interface is gone
		return nic.Status{LinkDown: true, Downs: 1, Missed: p.missed, TxFrames: -1}
	}
	return nic.Status{
		LinkDown: !now.Up,
		Downs:    now.Downs - p.first.Downs,
		Missed:   p.missed + now.RxMissed - p.first.RxMissed,
		TxErrors: now.TxErrors - p.first.TxErrors,
		TxFrames: now.TxFrames - p.first.TxFrames,
	}
}

// Close ends both halves; neither may be in a call, and what Recv lent is gone.
func (p *port) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gate.Close() {
		return nil
	}
	var errs []error
	if p.rx.ring != nil {
		errs = append(errs, unix.Munmap(p.rx.ring))
	}
	for _, fd := range []int{p.rx.fd, p.tx.fd} {
		if fd >= 0 {
			errs = append(errs, unix.Close(fd))
		}
	}
	if p.link != nil {
		errs = append(errs, p.link.Close())
	}
	return errors.Join(errs...)
}

// Wire tells what the driver counts on the line.
func (p *port) Wire() link.Wire {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gate.Closed() {
		return link.Unknown()
	}
	return p.link.Wire()
}
