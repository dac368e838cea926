package afxdp

import (
	"encoding/binary"
	"errors"
	"os"

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
		k, err = p.copy(frames[n:min(n+p.burst, len(frames))])
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

// offer is submit where the kernel copies. It takes frames from the ring only while it is called, one by one, until the driver drops one
// or there is no room. What it did not take is out of the ring then.
func (p *port) offer(n int) (sent int, err error) {
	errno := p.kick()
	if errno == 0 && p.tx.empty() {
		return n, nil
	}
	unseen := errno == unix.ENETDOWN || errno == unix.ENXIO
	if !unseen {
		if sent = n - p.drain(n); errno == unix.EBUSY {
			sent = max(0, sent-1) // the last one that it took was dropped
		}
	}
	for i := sent; i < n; i++ {
		p.busy[int(p.tx.last(n, i).Addr)/p.chunk] = false
	}
	if unseen {
		p.tx.retract(n)
	}
	if sent == 0 { // else the next call tells why
		err = p.answer(errno)
	}
	return sent, err
}

// drain empties the ring, and says how many of its last n descriptors the kernel had not taken. Before Linux 6.17 that is not to be seen
// once it has given up. But it counts descriptors that are void as it passes over them, one in a call, so all are made void: those
// that it has taken it sees no more.
func (p *port) drain(n int) (left int) {
	for i := range n {
		p.tx.last(n, i).Options = void
	}
	before := statistics(p.out).Tx_invalid_descs
	for range 2*burst + 2 {
		if p.tx.empty() {
			return min(n, int(statistics(p.out).Tx_invalid_descs-before))
		}
		p.kick()
	}
	return n // the interface or its queue has gone meanwhile
}

// void is an option of descriptors that no kernel knows.
const void = 1 << 31

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
