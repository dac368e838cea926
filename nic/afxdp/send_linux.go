package afxdp

import (
	"encoding/binary"
	"errors"
	"math"
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
		if err = p.fits(data); err != nil {
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

// fits says why the driver may not be given a frame. One with a VLAN tag may be that much longer.
func (p *port) fits(data []byte) error {
	switch {
	case len(data) < ethernet:
		return errTooShort
	case len(data) > p.maxFrame && !(len(data) <= p.maxFrame+vlanTag && binary.BigEndian.Uint16(data[12:]) == unix.ETH_P_8021Q):
		return nic.ErrTooLong
	}
	return nil
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

// submit hands the last n descriptors of the ring to the driver, and says how many it took. An error comes with none.
func (p *port) submit(n int) (sent int, err error) {
	p.tx.publish()
	if !p.zeroCopy {
		return p.offer(n)
	}
	if p.tx.wakeup() {
		err = p.answer(p.kick()) // those in the ring leave when the link is back
	}
	return n, err
}

// offer is submit where the kernel copies. It takes frames from the ring only while it is called, one by one, and says which one the
// driver dropped. What it did not take is out of the ring then. end is how far it is, which it shows only after it sent something.
func (p *port) offer(n int) (sent int, err error) {
	start := p.tx.own - uint32(n)
	var errno unix.Errno
	for end := start; ; {
		before := end
		errno = p.kick()
		if c := atomic.LoadUint32(p.tx.consumer); int32(c-end) > 0 {
			end = c
		}
		sent = min(n, int(end-start))
		if errno == unix.EBUSY { // the last one that it took was dropped
			if end == before {
				end++
			}
			sent = int(end-start) - 1
		}
		goesOn := errno == 0 || errno == unix.EAGAIN // its budget for one call is used up
		if sent == n || end == before || !goesOn {
			p.withdraw(end)
			break
		}
	}
	if sent == 0 { // else the next call tells why
		err = p.answer(errno)
	}
	return sent, err
}

// withdraw takes out of the ring what the kernel has not taken: end is how far it is. It would read those slots all the same, so they
// are made void until they are filled anew: it passes over them.
func (p *port) withdraw(end uint32) {
	for i := end; int32(p.tx.own-i) > 0; i++ {
		d := &p.tx.slots[i%ringFrames]
		p.busy[int(d.Addr)/p.chunk] = false
		d.Addr = math.MaxUint64
	}
	p.tx.own = end
}

// answer says what an answer of sendto means: nil if there is no room now, or an error about the port.
func (p *port) answer(errno unix.Errno) error {
	switch errno {
	case 0, unix.EINTR:
		return nil
	case unix.EAGAIN, unix.EBUSY, unix.ENOBUFS, unix.ENOMEM:
		if p.device.down() { // without a carrier all is dropped
			return nic.ErrDown
		}
		return nil
	case unix.ENETDOWN, unix.ENXIO, unix.ENODEV:
		return nic.ErrDown
	}
	return os.NewSyscallError("sendto", errno)
}
