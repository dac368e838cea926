package netmap

import (
	"loadtest/nic"
	"loadtest/packet"
)

// Recv lends slots; the next call gives them back.
func (p *port) Recv(frames []packet.Frame) (n int, err error) {
	if !p.gate.Enter() {
		return 0, nic.ErrClosed
	}
	if p.rx != nil {
		n, err = p.recv(frames)
	}
	p.gate.Leave()
	return n, err
}

func (p *port) recv(frames []packet.Frame) (n int, err error) {
	at := p.rx.load(ringCur)
	p.rx.give(at) // what was lent
	if p.rx.from(at) == 0 {
		if err := p.sync(p.kernel.rxSync); err != nil {
			return 0, err
		}
	}
	for left := p.rx.from(at); n < len(frames) && left > 0; left-- {
		length, b := p.rx.length(at), p.rx.buffer(at)
		more := p.rx.flags(at)&moreFragments != 0
		switch {
		case p.cut: // counted with its first slot
		case more || length < ethernet || length > len(b): // no frame of one buffer
			p.missed.Add(1)
		default:
			frames[n] = packet.Frame{Data: b[:length:length]}
			n++
		}
		p.cut = more
		at = p.rx.next(at)
	}
	p.rx.see(at)
	return n, nil
}
