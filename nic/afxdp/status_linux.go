package afxdp

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"loadtest/internal/link"
	"loadtest/nic"
)

// Status asks the kernel. What concerns the whole interface is told by the first queue.
func (p *port) Status() nic.Status {
	if !p.gate.Enter() {
		return nic.Status{LinkDown: true, TxFrames: -1}
	}
	defer p.gate.Leave()
	p.mu.Lock()
	defer p.mu.Unlock()
	s := nic.Status{Missed: p.missed()}
	now, err := p.link.Ask()
	if err != nil { // the interface is gone
		s.LinkDown, s.Downs, s.TxFrames = true, 1, -1
		return s
	}
	s.LinkDown, s.Downs = !now.Up, now.Downs-p.first.Downs
	if p.queue > 0 {
		return s
	}
	all := now.RxMissed - p.first.RxMissed // drivers count among theirs what a socket had no room for
	for _, q := range p.queues[1:] {
		all -= q.missed()
	}
	s.Missed = max(s.Missed, all)
	s.TxErrors = now.TxErrors - p.first.TxErrors
	s.TxFrames = now.TxFrames - p.first.TxFrames
	return s
}

// missed is what the socket had no room for.
func (p *port) missed() int64 {
	if !p.gate.Enter() {
		return 0
	}
	defer p.gate.Leave()
	x := statistics(p.fd)
	return int64(x.Rx_dropped + x.Rx_ring_full)
}

// statistics are what the kernel counts at a socket.
func statistics(fd int) (x unix.XDPStatistics) {
	_ = getsockopt(fd, unix.XDP_STATISTICS, unsafe.Pointer(&x), unsafe.Sizeof(x))
	return x
}

// Wire tells what the driver counts on the line.
func (p *port) Wire() link.Wire {
	if !p.gate.Enter() {
		return link.Unknown()
	}
	defer p.gate.Leave()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link.Wire()
}

// down says whether the interface cannot send: it is set down, has no carrier, or is gone.
func (d *device) down() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.link.Ask()
	return err != nil || !f.Up
}
