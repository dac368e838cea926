package neigh

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"

	"loadtest/internal/clock"
	"loadtest/nic"
)

// Attended is a port and the tester's presence at it.
type Attended struct {
	Name string // of the port, for errors
	Port nic.Port
	Host *Host
}

// Unresolved says that a gateway did not answer.
type Unresolved struct {
	Port    string
	Gateway netip.Addr
	VLAN    uint16
}

func (u *Unresolved) Error() string {
	question, vlan := "neighbour solicitation", ""
	if u.Gateway.Is4() {
		question = "ARP"
	}
	if u.VLAN != 0 {
		vlan = fmt.Sprintf(" in VLAN %d", u.VLAN)
	}
	return fmt.Sprintf("%s: gateway %s answers no %s%s (3 tries, 1 s each)", u.Port, u.Gateway, question, vlan)
}

// Resolve attends all ports until the gateways of all are known or given up, and answers meanwhile. see, unless nil, hears every
// frame, one call at a time; the bytes are lent until it returns. The error has an *Unresolved for each gateway without an answer.
func Resolve(ctx context.Context, c clock.Clock, ports []Attended, see func(port string, b []byte, at int64)) error {
	var open atomic.Int64
	open.Store(int64(len(ports)))
	var one sync.Mutex
	var all []*resolver
	var steppers []clock.Stepper
	for _, p := range ports {
		p.Host.Resolve()
		r := &resolver{Attendant{Host: p.Host, Port: p.Port, Virtual: c.Virtual()}, &open, false}
		if see != nil {
			r.See = func(b []byte, at int64, _ bool) {
				one.Lock()
				defer one.Unlock()
				see(p.Name, b, at)
			}
		}
		all, steppers = append(all, r), append(steppers, r)
	}
	if err := c.Run(ctx, steppers...); err != nil {
		return err
	}
	var errs []error
	for i, p := range ports {
		if err := all[i].Err; err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.Name, err))
			continue
		}
		for _, g := range p.Host.Gateways() {
			if !g.Known {
				errs = append(errs, &Unresolved{p.Name, g.Gateway, g.VLAN})
			}
		}
	}
	return errors.Join(errs...)
}

// A resolver attends a port until all ports are done.
type resolver struct {
	Attendant
	open *atomic.Int64 // ports that are not done
	done bool
}

func (r *resolver) Step(now int64) (next int64) {
	next = r.Attendant.Step(now)
	if !r.done && (r.Err != nil || r.Host.settled()) {
		r.done = true
		r.open.Add(-1)
	}
	if r.open.Load() == 0 {
		return clock.Never
	}
	return next
}
