package xdp

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"sync"
	"time"

	"loadtest/internal/link"
	"loadtest/internal/xdp"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/trial"
)

// A device is an interface: a classifier, a packet socket for all else, and a player for each queue.
type device struct {
	under nic.Port
	can   nic.Optional // of under
	class *classifier

	sending sync.Mutex // queues share the socket; it is taken once a burst, and only where nothing is played
	mu      sync.Mutex
	open    int // queues
}

// A port is one queue.
type port struct {
	*device
	player
	first bool
	gate  nic.Gate
}

// Open opens the interface name, IF or IF@NETNS, above a packet socket on it, which the port closes.
func Open(name string, under nic.Device, o Options) (d nic.Device, err error) {
	var l *link.Link
	var c *classifier
	err = link.At(name, func(iface string) (err error) {
		if l, _, err = link.Open(iface); err != nil {
			return err
		}
		defer l.Close()
		if c, err = newClassifier(l.Index, o.Epoch); errors.Is(err, fs.ErrPermission) {
			err = errors.New("an XDP program needs CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON: use sudo") // the verifier's many words say no more
		}
		return err
	})
	if err != nil {
		return d, err
	}
	queues := max(1, o.Queues)
	d.Info = under.Info
	d.Info.Backend, d.Info.Mode = "xdp", fmt.Sprintf("live frames, %s classifier, %d threads at most", c.attachment.Mode, queues)
	d.Info.Arrived, d.Info.Played = trial.Kernel, trial.Kernel // programs of ours at the driver read its clock
	if queues == 1 {
		d.Info.Mode = fmt.Sprintf("live frames, %s classifier", c.attachment.Mode)
	}
	shared := &device{under: under.Port(), class: c, open: queues}
	shared.can = nic.Of(shared.under)
	for i := range queues {
		d.Queues = append(d.Queues, &port{device: shared, first: i == 0, player: player{name: name, index: l.Index, epoch: o.Epoch}})
	}
	return d, nil
}

// Takes says why the driver of an interface takes no live frames; nil: it does, or this kernel cannot tell. For a veth that depends on
// what is at its other end when it is asked.
func Takes(name string) error {
	return link.At(name, func(iface string) error {
		i, err := net.InterfaceByName(iface)
		if err != nil {
			return err
		}
		return xdp.Takes(i.Index)
	})
}

// Send goes out of the packet socket.
func (p *port) Send(frames []packet.Frame) (int, error) {
	if !p.gate.Enter() {
		return 0, nic.ErrClosed
	}
	p.sending.Lock()
	n, err := p.under.Send(frames)
	p.sending.Unlock()
	p.gate.Leave()
	return n, err
}

// Recv is what the classifier passed on, at the first queue.
func (p *port) Recv(frames []packet.Frame) (n int, err error) {
	if !p.gate.Enter() {
		return 0, nic.ErrClosed
	}
	if p.first {
		n, err = p.under.Recv(frames)
	}
	p.gate.Leave()
	return n, err
}

// Wait waits for what Recv gives.
func (p *port) Wait(d time.Duration) {
	if !p.gate.Enter() {
		return
	}
	if p.first && p.can.Waiter != nil {
		p.can.Waiter.Wait(d)
	} else {
		time.Sleep(d)
	}
	p.gate.Leave()
}

// Status is the interface's, told by the first queue.
func (p *port) Status() nic.Status {
	if p.can.Reporter == nil {
		return nic.Status{TxFrames: -1}
	}
	s := p.can.Reporter.Status()
	if !p.first {
		return nic.Status{LinkDown: s.LinkDown, Downs: s.Downs}
	}
	return s
}

// Wire is the interface's.
func (p *port) Wire() link.Wire {
	if p.can.Wired == nil {
		return link.Unknown()
	}
	return p.can.Wired.Wire()
}

// Play plays; a link that is down refuses all.
func (p *port) Play(now int64) (next int64, err error) {
	if !p.gate.Enter() {
		return 0, nic.ErrClosed
	}
	before, issued := p.refusals()
	next, err = p.player.Play(now)
	if refused, all := p.refusals(); err == nil && refused > before && refused-before == all-issued && p.can.Reporter != nil && p.can.Reporter.Status().LinkDown {
		err = nic.ErrDown
	}
	p.gate.Leave()
	return next, err
}

// refusals are how many counted packets the driver refused, of how many.
func (p *player) refusals() (refused, all int64) {
	for i := range p.plan.Lanes {
		l := p.lane(i)
		refused += get(&l.refused)
		all += get(&l.sent)
	}
	return refused, all
}

// Classify is done by the first queue.
func (p *port) Classify(a nic.Await) error {
	if !p.first {
		return nil
	}
	return p.class.begin(a)
}

// Classified is what the interface has counted.
func (p *port) Classified(lane uint8) nic.Arrivals {
	if !p.first {
		return nic.Arrivals{}
	}
	return p.class.read(lane)
}

// Latency is what the interface has counted.
func (p *port) Latency(lane uint8, into *trial.Histogram) {
	if p.first {
		p.class.latency(lane, into)
	}
}

// Close closes a queue; the last one takes the interface with it.
func (p *port) Close() error {
	if !p.gate.Close() {
		return nil
	}
	p.player.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open--; p.open > 0 {
		return nil
	}
	return errors.Join(p.class.close(), p.under.Close())
}
