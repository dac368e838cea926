package hello

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"loadtest/internal/clock"
	"loadtest/internal/diagnose"
	"loadtest/internal/neigh"
	"loadtest/nic"
	"loadtest/packet"
)

// A port owns both halves of one port: it sends the probes of the streams that leave there, hears what comes, and lets the host there
// answer.
type port struct {
	run      *run
	name     string
	device   nic.Device
	queue    nic.Port
	optional nic.Optional
	host     *neigh.Host // nil: none
	streams  []*stream   // that leave here
	frames   []packet.Frame
	probe    []byte // that is sent

	before  nic.Status // when the round began
	offered int64      // frames that the queue took in the round
	hearing
}

// How long a port is left alone, in ns.
const (
	idle     = int64(time.Millisecond)      // that is silent
	fullWait = int64(10 * time.Microsecond) // that took nothing
)

func newPort(r *run, name string) *port {
	d := r.o.Ports[name]
	q := d.Port()
	return &port{run: r, name: name, device: d, queue: q, optional: nic.Of(q), host: r.o.Hosts[name],
		frames: make([]packet.Frame, 64)}
}

// begin starts a round.
func (p *port) begin() { p.before, p.offered = p.status(), 0 }

func (p *port) status() nic.Status {
	if p.optional.Reporter == nil {
		return nic.Status{TxFrames: -1}
	}
	return p.optional.Reporter.Status()
}

// Step hears what has come and sends what is due.
func (p *port) Step(now int64) (next int64) {
	next, heard := p.step(now)
	switch {
	case next == clock.Never || p.run.o.Clock.Virtual():
		return next
	case p.optional.Waiter == nil:
		return min(next, now+idle)
	case heard == 0:
		p.optional.Waiter.Wait(time.Duration(min(next-now, idle)))
	}
	return now
}

func (p *port) step(now int64) (next int64, heard int) {
	r := p.run
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return clock.Never, 0
	}
	heard, err := p.queue.Recv(p.frames)
	for i := range p.frames[:heard] {
		p.hear(&p.frames[i], now)
	}
	p.check(err, now)
	r.advance(now)
	next = min(p.send(now), p.neighbour(now), r.wake(), now+idle)
	if r.over {
		return clock.Never, heard
	}
	if heard == len(p.frames) {
		next = now
	}
	return next, heard
}

// check ends the run at an error of the port; a link that is down is for the diagnosis.
func (p *port) check(err error, now int64) {
	if err != nil && !errors.Is(err, nic.ErrDown) {
		p.run.fail(fmt.Errorf("%s: %w", p.name, err), now)
	}
}

// neighbour lets the host say what it has to, and says when it will have more.
func (p *port) neighbour(now int64) (next int64) {
	if p.host == nil {
		return clock.Never
	}
	next = p.host.Step(now)
	if p.host.Pending() {
		p.check(p.host.Flush(counted{p.queue, &p.offered}), now)
	}
	return next
}

// counted counts what its port takes.
type counted struct {
	nic.Port
	taken *int64
}

func (c counted) Send(frames []packet.Frame) (int, error) {
	n, err := c.Port.Send(frames)
	*c.taken += int64(n)
	return n, err
}

// send sends the probes that are due, and says when the next one is.
func (p *port) send(now int64) (next int64) {
	next = clock.Never
	for _, s := range p.streams {
		for s.pos < s.end && !p.run.over {
			due := p.run.begun + int64(s.pos)*gap
			if due > now {
				next = min(next, due)
				break
			}
			if !p.sendOne(s, due, now) {
				next = min(next, now+fullWait)
				break
			}
		}
	}
	return next
}

// sendOne sends the next probe of a stream; false: the port is full. On a link that is down the probe is given up.
func (p *port) sendOne(s *stream, due, now int64) (done bool) {
	r, probe := p.run, &s.probes[s.pos]
	p.probe = append(p.probe[:0], probe.frame...)
	if probe.tag >= 0 {
		tag := packet.Tag{Magic: r.o.Magic, Lane: s.lane, Seq: uint32(s.pos + (r.round-1)*len(s.probes)), Nanos: now}
		tag.Put(p.probe[probe.tag:])
	}
	n, err := p.queue.Send([]packet.Frame{{Data: p.probe, Nanos: due}})
	switch {
	case errors.Is(err, nic.ErrDown):
	case err != nil:
		r.fail(fmt.Errorf("%s: packet of stream %s: %w", p.name, s.Name, err), now)
	case n == 0:
		s.full = true
		return false
	default:
		probe.sent, probe.sentAt, r.ended = true, now, now
		s.sent++
		p.offered++
	}
	s.pos++
	return true
}

// seen is what a diagnosis looks at.
func (p *port) seen() diagnose.Port {
	now := p.status()
	d := diagnose.Port{
		Name: p.name, Down: now.LinkDown, Line: p.device.Info.LineRate, MAC: p.device.Info.MAC, Addrs: p.run.o.Addrs[p.name],
		Offered: p.offered, Driver: -1, TxErrors: now.TxErrors - p.before.TxErrors,
	}
	if p.before.TxFrames >= 0 && now.TxFrames >= 0 {
		d.Driver = now.TxFrames - p.before.TxFrames
	}
	if p.host != nil {
		for _, g := range p.host.Gateways() {
			if g.Known {
				d.Gateways = append(d.Gateways, g.Gateway)
				p.neighbor(g.MAC, g.Gateway, "")
			}
		}
	}
	p.hearing.tell(&d, p.host, func(a netip.Addr) bool {
		return slices.ContainsFunc(p.run.streams, func(s *stream) bool { return s.ends(a, p.name) })
	})
	return d
}
