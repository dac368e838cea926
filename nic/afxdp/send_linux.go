package afxdp

import (
	"encoding/binary"
	"errors"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"loadtest/nic"
	"loadtest/packet"
)

var errTooShort = errors.New("frame is shorter than an Ethernet header, 14 bytes")

// Send copies frames to chunks, and hands those to the driver, in bursts.
func (p *port) Send(frames []packet.Frame) (n int, err error) {
	if !p.gate.Enter() {
		return 0, nic.ErrClosed
	}
	for n < len(frames) && err == nil {
		var k, sent int
		k, err = p.copy(frames[n:min(n+burst, len(frames))])
		if k > 0 {
			var refused error
			sent, refused = p.submit(k)
			if n += sent; refused != nil {
				err = refused
			}
		}
		if sent < k || k == 0 {
			break
		}
	}
	p.gate.Leave()
	return n, err
}

// copy puts frames into the ring, as many as there is room for; err is about the next one, if that is the very first.
func (p *port) copy(frames []packet.Frame) (n int, err error) {
	p.reap()
	room := int(p.tx.room())
	for n < len(frames) && n < room && !p.busy[p.next] {
		data := frames[n].Data
		switch {
		case len(data) > p.maxFrame && !(len(data) <= p.maxFrame+vlanTag && binary.BigEndian.Uint16(data[12:]) == unix.ETH_P_8021Q):
			err = nic.ErrTooLong
		case len(data) < ethernet:
			err = errTooShort
		}
		if err != nil {
			if n > 0 {
				err = nil // it is the next call's
			}
			return n, err
		}
		at := p.next * p.chunk
		copy(p.umem[at:at+p.chunk], data)
		p.tx.put(unix.XDPDesc{Addr: uint64(at), Len: uint32(len(data))})
		p.busy[p.next] = true
		if p.next++; p.next == keepAt {
			p.next = sendAt
		}
		n++
	}
	return n, nil
}

// reap takes back the chunks that are sent.
func (p *port) reap() {
	n := p.complete.ready()
	for range n {
		p.busy[int(p.complete.get())/p.chunk] = false
	}
	if n > 0 {
		p.complete.release()
	}
}

// submit hands the last n descriptors of the ring to the driver, and says how many it took. Those that it did not take are in the ring
// no more.
func (p *port) submit(n int) (sent int, err error) {
	p.tx.publish()
	if p.zeroCopy {
		if p.tx.wakeup() {
			if err := p.answer(p.kick()); err != nil && err != errFull {
				return n, err
			}
		}
		return n, nil
	}
	first := p.tx.own - uint32(n)
	for sent < n {
		errno := p.kick()
		taken := int(atomic.LoadUint32(p.tx.consumer) - first)
		if errno == unix.EBUSY { // the last one that was taken was dropped
			err, taken = p.answer(errno), taken-1
		} else if errno != 0 && errno != unix.EINTR {
			err = p.answer(errno)
		} else if taken == sent {
			err = errFull
		}
		if sent = taken; err != nil {
			break
		}
	}
	p.withdraw()
	if err == errFull {
		err = nil
	}
	return sent, err
}

// withdraw takes out of the ring what the kernel has not taken. It reads the ring only while it is called, where it copies.
func (p *port) withdraw() {
	left := p.tx.own - atomic.LoadUint32(p.tx.consumer)
	for range left {
		p.tx.own--
		p.busy[int(p.tx.slots[p.tx.own%ringFrames].Addr)/p.chunk] = false
	}
	if left > 0 {
		p.tx.publish()
	}
}

var errFull = errors.New("full")

// answer says what an answer of sendto means: nil, errFull, or an error about the port.
func (p *port) answer(errno unix.Errno) error {
	switch errno {
	case 0, unix.EINTR:
		return nil
	case unix.EAGAIN, unix.EBUSY, unix.ENOBUFS, unix.ENOMEM:
		if p.device.down() {
			return nic.ErrDown
		}
		return errFull
	case unix.ENETDOWN, unix.ENXIO, unix.ENODEV:
		return nic.ErrDown
	}
	return os.NewSyscallError("sendto", errno)
}
