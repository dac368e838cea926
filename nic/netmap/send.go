package netmap

import (
	"encoding/binary"
	"errors"

	"loadtest/nic"
	"loadtest/packet"
)

var (
	errTooShort = errors.New("frame is shorter than an Ethernet header, 14 bytes")
	errBuffer   = errors.New("netmap gave a slot whose buffer is none of its memory")
)

// Send copies frames to the slots that are free, and tells the kernel once.
func (p *port) Send(frames []packet.Frame) (n int, err error) {
	if !p.gate.Enter() {
		return 0, nic.ErrClosed
	}
	if len(frames) > 0 {
		n, err = p.send(frames)
	}
	p.gate.Leave()
	return n, err
}

func (p *port) send(frames []packet.Frame) (n int, err error) {
	at := p.tx.load(ringHead)
	if p.tx.from(at) < uint32(len(frames)) { // ask for what is sent by now
		if err := p.sync(p.kernel.txSync); err != nil {
			return 0, err
		}
	}
	for left := p.tx.from(at); n < len(frames) && left > 0; left-- {
		data := frames[n].Data
		if err = p.fits(data); err != nil {
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
		p.tx.give(at)
		if e := p.sync(p.kernel.txSync); e != nil {
			return n, e
		}
	}
	return n, err
}

// fits says why a frame may not be sent. A VLAN tag may make it 4 bytes longer than others, if there is room in a buffer.
func (p *port) fits(data []byte) error {
	const tag, tagged = 4, 0x8100
	switch n := len(data); {
	case n < ethernet:
		return errTooShort
	case n <= p.max, n <= min(p.max+tag, p.tx.longest()) && binary.BigEndian.Uint16(data[12:]) == tagged:
		return nil
	}
	return nic.ErrTooLong
}
