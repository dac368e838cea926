package dut

import (
	"cmp"
	"errors"
	"sync/atomic"

	"loadtest/nic"
	"loadtest/packet"
	"loadtest/units"
)

// A port is one of the tester's. What its link cannot take yet waits in its ring of descriptors.
type port struct {
	net    *Network
	name   string
	mac    [6]byte
	ring   int  // descriptors to send
	out    *hop // into the network
	closed bool

	last    int64 // ps, of the last frame sent
	refused bool  // a frame since the last Step

	flight ring[arrival] // comes later
	ready  ring[arrival] // has come
	lent   []*frame      // until the next Recv
	drops  causes
	missed atomic.Int64
}

// readyMax is how many frames wait at most for Recv.
const readyMax = 1 << 16

var errShort = errors.New("frame is shorter than an Ethernet header: want 14 bytes or more")

func (p *port) info() nic.Info {
	return nic.Info{
		Name: "sim:" + p.net.name + "/" + p.name, Backend: "sim", Mode: cmp.Or(p.net.mode, "virtual"), NUMA: -1, MAC: p.mac,
		LineRate: units.BitRate(p.out.rate), MTU: p.out.mtu, MaxFrame: p.out.mtu + ethernet,
	}
}

// open empties the port.
func (p *port) open() {
	p.closed = false
	p.release()
	for p.ready.len() > 0 {
		p.drop(p.ready.pop().f, portClosed)
	}
}

// Send takes a frame's Nanos as its time of departure, 0 as that of the last Step. It takes no frame that finds the ring full.
func (p *port) Send(frames []packet.Frame) (int, error) {
	n := p.net
	if p.closed {
		return 0, nic.ErrClosed
	}
	for i := range frames {
		data := frames[i].Data
		switch {
		case len(data) > p.out.mtu+ethernet:
			return i, nic.ErrTooLong
		case len(data) < ethernet:
			return i, errShort
		}
		at := n.now
		if due := frames[i].Nanos; due > 0 && due < lastNano {
			at = due * psPerNano
		}
		if at = max(at, p.last); p.full(at) {
			if at = max(at, n.now); p.full(at) {
				p.refused = true
				return i, nil
			}
		}
		f := n.slab.get(len(data))
		copy(f.data, data)
		p.last = at
		n.totals.Sent++
		p.out.cross(f, at)
	}
	return len(frames), nil
}

// full tells whether no descriptor is free at t.
func (p *port) full(t int64) bool {
	p.out.forget(t)
	return p.out.waiting.len() >= p.ring
}

// Recv hands out what had arrived by the last Step.
func (p *port) Recv(frames []packet.Frame) (int, error) {
	if p.closed {
		return 0, nic.ErrClosed
	}
	p.release()
	n := min(len(frames), p.ready.len())
	for i := range frames[:n] {
		a := p.ready.pop()
		frames[i] = packet.Frame{Data: a.f.data[:len(a.f.data):len(a.f.data)], Nanos: nanos(a.at)}
		p.lent = append(p.lent, a.f)
	}
	p.net.totals.Delivered += int64(n)
	return n, nil
}

func (p *port) release() {
	for _, f := range p.lent {
		p.net.slab.put(f)
	}
	p.lent = p.lent[:0]
}

// Close ends Send and Recv; what arrives later is dropped.
func (p *port) Close() error {
	p.open()
	p.closed = true
	return nil
}

// Status tells what the port dropped because nobody received it. There is no driver that counts.
func (p *port) Status() nic.Status { return nic.Status{Missed: p.missed.Load(), TxFrames: -1} }

// settle makes ready what has come by t, and tells whether anything has.
func (p *port) settle(t int64) (arrived bool) {
	for p.flight.len() > 0 && p.flight.front().at <= t {
		a := p.flight.pop()
		switch {
		case p.closed:
			p.drop(a.f, portClosed)
		case p.ready.len() == readyMax:
			p.missed.Add(1)
			p.drop(a.f, ringFull)
		default:
			p.ready.push(a)
			arrived = true
		}
	}
	return arrived
}

// gather is how long, in ps, arrivals are gathered before the receivers are stepped for them: frames carry their own time.
const gather = 20_000 * psPerNano

// next is when frames are to be received, or the ring that refused one has room; ps.
func (p *port) next() int64 {
	next := int64(far)
	if p.flight.len() > 0 {
		next = p.flight.front().at + gather
	}
	if p.refused && p.out.waiting.len() > 0 {
		next = min(next, p.out.waiting.front().start)
	}
	p.refused = false
	return next
}

func (p *port) drop(f *frame, c cause) {
	p.drops[c]++
	p.net.slab.put(f)
}
