package netmap

import (
	"errors"
	"sync/atomic"
	"time"

	"loadtest/nic"
	"loadtest/packet"
)

// A kernel is the other side of the rings.
type kernel interface {
	txSync() error // sends what is before head, and gives back what is sent
	rxSync() error // takes back what is before head, and gives what has come
	wait(d time.Duration)
	close() error
}

// A port is one pair of rings.
type port struct {
	kernel kernel
	tx, rx *ring // nil: it has none
	gate   nic.Gate
	lent   uint32 // slot up to which Recv has lent
	missed atomic.Int64
	down   atomic.Bool
	max    int
}

var errTooShort = errors.New("frame is shorter than an Ethernet header, 14 bytes")

const ethernet = 14

// Send copies frames to the slots that are free, and tells the kernel once.
func (p *port) Send(frames []packet.Frame) (n int, err error) {
	if !p.gate.Enter() {
		return 0, nic.ErrClosed
	}
	n, err = p.send(frames)
	p.gate.Leave()
	return n, err
}

func (p *port) send(frames []packet.Frame) (n int, err error) {
	if p.tx == nil || len(frames) == 0 {
		return 0, nil
	}
	if p.tx.ours() < uint32(len(frames)) {
		if err := p.sync(p.kernel.txSync); err != nil {
			return 0, err
		}
	}
	at := p.tx.head()
	for left := p.tx.ours(); n < len(frames) && left > 0; left-- {
		data := frames[n].Data
		if len(data) > p.max || len(data) < ethernet {
			if err = nic.ErrTooLong; len(data) < ethernet {
				err = errTooShort
			}
			break
		}
		b := p.tx.buffer(at)
		if b == nil {
			err = errBuffer
			break
		}
		copy(b, data)
		p.tx.set(at, len(data))
		at = p.tx.next(at)
		n++
	}
	if n > 0 {
		p.tx.move(at)
		if e := p.sync(p.kernel.txSync); e != nil && err == nil {
			err = e
		}
	}
	return n, err
}

var errBuffer = errors.New("netmap gave a slot whose buffer is none of its memory")

// sync calls the kernel; a port that is gone is down.
func (p *port) sync(call func() error) error {
	err := call()
	if err != nil {
		p.down.Store(true)
		return errors.Join(nic.ErrDown, err)
	}
	return nil
}

// Recv lends slots; the next call gives them back.
func (p *port) Recv(frames []packet.Frame) (n int, err error) {
	if !p.gate.Enter() {
		return 0, nic.ErrClosed
	}
	n, err = p.recv(frames)
	p.gate.Leave()
	return n, err
}

func (p *port) recv(frames []packet.Frame) (n int, err error) {
	if p.rx == nil {
		return 0, nil
	}
	p.rx.move(p.lent)
	if p.rx.ours() == 0 {
		if err := p.sync(p.kernel.rxSync); err != nil {
			return 0, err
		}
	}
	at := p.rx.head()
	for left := p.rx.ours(); n < len(frames) && left > 0; left-- {
		length, b := p.rx.length(at), p.rx.buffer(at)
		switch {
		case b == nil:
			return n, errBuffer
		case p.rx.flags(at)&moreFragments != 0 || length > len(b) || length < ethernet: // no frame of ours: it may be longer than a buffer
			p.missed.Add(1)
		default:
			frames[n] = packet.Frame{Data: b[:length:length]}
			n++
		}
		at = p.rx.next(at)
	}
	p.lent = at
	return n, nil
}

// Wait waits until a frame may be there, or d.
func (p *port) Wait(d time.Duration) {
	if !p.gate.Enter() {
		return
	}
	if d > 0 && p.rx != nil {
		p.kernel.wait(d)
	}
	p.gate.Leave()
}

// Status is what is known without the kernel's help: netmap has taken the interface, and counts nothing.
func (p *port) Status() nic.Status {
	s := nic.Status{LinkDown: p.down.Load(), Missed: p.missed.Load(), TxFrames: -1}
	if s.LinkDown {
		s.Downs = 1
	}
	return s
}

// Close gives the rings back.
func (p *port) Close() error {
	if !p.gate.Close() {
		return nil
	}
	return p.kernel.close()
}

// queues pairs the rings.
func queues(k kernel, tx, rx []*ring) (all []nic.Port) {
	for i := range max(len(tx), len(rx)) {
		p := &port{kernel: k, max: 1 << 16}
		if i < len(tx) {
			p.tx, p.max = tx[i], min(tx[i].size, 1<<16-1)
		}
		if i < len(rx) {
			p.rx, p.lent = rx[i], rx[i].head()
		}
		all = append(all, p)
	}
	return all
}
