package netmap

import (
	"errors"
	"fmt"

	"loadtest/nic"
)

// A system is what a port is opened on.
type system struct {
	open  func() (handle, error)            // a new descriptor of /dev/netmap
	look  func(r request) (nic.Info, error) // of the interface behind a port, if there is one
	watch func(r request) (watcher, error)
}

// A handle is a descriptor of /dev/netmap. Errors of ask and register are numbers of errno(3).
type handle interface {
	kernel
	ask(name string) (facts, error)          // of no name: of the module
	register(name string, g *register) error // rings become this descriptor's
	share(bytes uint64) (region, error)      // the memory in which they are
}

// device opens a port by its name, or nothing.
func (s system) device(name string) (d nic.Device, err error) {
	r, err := parse(name)
	if err != nil {
		return d, err
	}
	if d.Info, err = s.info(name, r); err != nil {
		return d, err
	}
	shared := &device{}
	var ports []*port
	defer func() {
		if err == nil {
			return
		}
		for _, p := range ports {
			err = errors.Join(err, p.kernel.close())
		}
		if shared.watch != nil {
			err = errors.Join(err, shared.watch.close())
		}
		d = nic.Device{}
		err = fmt.Errorf("port %q: %w", name, err)
	}()
	has, err := s.facts(r)
	if err != nil {
		return d, err
	}
	todo, err := plan(r, has)
	if err != nil {
		return d, err
	}
	for _, g := range todo {
		p, err := s.port(r, g)
		if err != nil {
			return d, err
		}
		p.device, p.number = shared, len(ports)
		ports = append(ports, p)
		d.Queues = append(d.Queues, p)
	}
	if shared.watch, err = s.watch(r); err != nil { // last: a driver that gives its rings away may take its link down for that
		return d, err
	}
	shared.open.Store(int32(len(ports)))
	d.Info, shared.max = sized(d.Info, ports)
	return d, nil
}

// facts asks how many rings a port has.
func (s system) facts(r request) (has facts, err error) {
	h, err := s.open()
	if err != nil {
		return has, err
	}
	if has, err = h.ask(r.name); err != nil {
		err = refused(err, r, h)
	}
	return has, errors.Join(err, h.close())
}

// port registers a pair of rings.
func (s system) port(r request, g register) (*port, error) {
	h, err := s.open()
	if err != nil {
		return nil, err
	}
	p := &port{kernel: h}
	if err = h.register(r.name, &g); err != nil {
		err = refused(err, r, h)
	} else if m, e := h.share(g.size); e != nil {
		err = e
	} else {
		p.tx, p.rx, err = m.pair(g.offset, g)
	}
	if err != nil {
		return nil, errors.Join(err, h.close())
	}
	return p, nil
}

// info is what is known of a port before it is opened.
func (s system) info(name string, r request) (i nic.Info, err error) {
	i.NUMA = -1
	if !r.virtual {
		if i, err = s.look(r); err != nil {
			return nic.Info{}, err
		}
	}
	i.Name, i.Backend, i.Mode = name, "netmap", r.String()
	return i, nil
}

// sized is what is known of it afterwards. Frames are as long as the MTU lets them, and as a slot takes.
func sized(i nic.Info, ports []*port) (nic.Info, int) {
	most := ports[0].tx.longest()
	if i.MTU == 0 || i.MTU+ethernet > most {
		i.MTU = most - ethernet
	}
	i.MaxFrame = i.MTU + ethernet
	i.Mode += fmt.Sprintf(", %d × %d slots", len(ports), ports[0].tx.slots)
	return i, i.MaxFrame
}
