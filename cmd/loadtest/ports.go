package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"loadtest/internal/clock"
	"loadtest/internal/diagnose"
	"loadtest/internal/guard"
	"loadtest/internal/host"
	"loadtest/internal/neigh"
	"loadtest/nic"
	"loadtest/nic/dial"
	"loadtest/packet"
)

// openPorts opens the ports of the streams, after those were refused that should not be loaded.
func (s *session) openPorts(ctx context.Context) (err error) {
	if err := s.guard(); err != nil {
		return err
	}
	if s.devices, s.clock, err = (dial.Options{Queues: len(s.cpus), EAL: strings.Fields(s.eal)}).Open(ctx, ports(s.streams)...); err != nil {
		return usageError{err}
	}
	s.process()
	return nil
}

// look learns of the ports what there is to know without opening them.
func (s *session) look() error {
	infos, err := dial.Look(ports(s.streams)...)
	if err != nil {
		return usageError{err}
	}
	s.devices, s.clock = map[string]nic.Device{}, clock.NewReal()
	for name, i := range infos {
		s.devices[name] = nic.Device{Info: i}
		if i.Backend == "sim" {
			s.clock = clock.NewVirtual()
		}
	}
	return nil
}

// guard tells other loadtests of our ports until Close, and refuses those that one of them uses or whose load would do harm.
func (s *session) guard() error {
	var all []guard.Port
	for _, name := range ports(s.streams) {
		iface, ns, ok := dial.Interface(name)
		if !ok {
			continue
		}
		all = append(all, guard.Port{Name: name, Interface: iface, Namespace: ns, Forced: slices.Contains(s.force, name)})
	}
	release, err := guard.Hold(all, "") // first: Check would call another loadtest a program that receives
	if err != nil {
		return usageError{err}
	}
	s.close = append(s.close, closer(release))
	for _, p := range all {
		if err := guard.Check(p, os.Getenv); err != nil {
			return usageError{err}
		}
	}
	return nil
}

// closer is a function that gives something back.
type closer func()

func (c closer) Close() error { c(); return nil }

// process sets what belongs to the whole process: processors enough for threads that never yield, and no collector at work
// while packets are counted.
func (s *session) process() {
	if real, ok := s.clock.(*clock.Real); ok {
		real.CPUs, real.Spin = s.cpus, len(s.cpus) > 0
		if len(s.cpus) == 0 {
			place(nodes, node(s.devices))
		}
		threads := len(s.devices) // that receive; each queue has one that sends
		for _, d := range s.devices {
			threads += len(d.Queues)
		}
		runtime.GOMAXPROCS(runtime.NumCPU() + threads)
	}
	if s.clock.Virtual() {
		s.unsent = 0 // there nothing but the device may hold a packet up
	}
	runtime.GC()
	debug.SetGCPercent(-1)
	if memory := host.Read().Memory; memory > 0 {
		debug.SetMemoryLimit(memory / 4 * 3)
	} else {
		debug.SetMemoryLimit(4 << 30)
	}
}

// checkPorts refuses flags that name a port which is none of this run's.
func (s *session) checkPorts() error {
	all := ports(s.streams)
	known := func(flag, port string) error {
		if port == "" || slices.Contains(all, port) {
			return nil
		}
		return usagef("--%s %s=…: no port of this run; ports: %s", flag, port, strings.Join(all, ", "))
	}
	for i := range s.addrs { // a stream's name stands for its transmitting port, as in Snabb's form
		a := &s.addrs[i]
		if n := slices.IndexFunc(s.streams, func(st stream) bool { return st.name == a.port }); n >= 0 && !slices.Contains(all, a.port) {
			a.port = s.streams[n].tx
		}
		if err := known("addr", a.port); err != nil {
			return err
		}
		if b, _, _ := strings.Cut(a.port, ":"); b == "pcap" {
			return usagef("--addr %s: a file answers nobody", a.port)
		}
		if slices.ContainsFunc(s.addrs[:i], func(b portAddress) bool { return b.Prefix.Addr() == a.Prefix.Addr() && b.VLAN == a.VLAN }) {
			return usagef("--addr: %s stands twice", a.Prefix.Addr())
		}
	}
	if s.eal != "" && !slices.ContainsFunc(all, dial.Kit) {
		return usagef("--eal %q: no port of this run is DPDK's; ports: %s", s.eal, strings.Join(all, ", "))
	}
	for _, f := range s.force {
		if !slices.Contains(all, f) {
			return usagef("--force-port %s: no port of this run; ports: %s", f, strings.Join(all, ", "))
		}
	}
	for _, r := range s.macDst {
		if err := known("mac-dst", r.port); err != nil {
			return err
		}
	}
	for _, r := range s.macSrc {
		if err := known("mac-src", r.port); err != nil {
			return err
		}
	}
	for _, r := range s.vlan {
		if err := known("vlan", r.port); err != nil {
			return err
		}
	}
	return nil
}

// attend makes the tester a neighbour at its ports: at those with an address, and on wires at all, for switches to learn them.
func (s *session) attend() {
	s.hosts = map[string]*neigh.Host{}
	own := map[[6]byte]bool{}
	for _, d := range s.devices {
		own[d.Info.MAC] = true
	}
	for _, a := range s.addrs {
		own[a.MAC] = true
	}
	delete(own, [6]byte{})
	for name, d := range s.devices {
		var addresses []neigh.Address
		for _, a := range s.addrs {
			if a.port == name {
				addresses = append(addresses, a.Address)
			}
		}
		if len(addresses) == 0 && (s.clock.Virtual() || d.Info.Backend == "pcap") {
			continue
		}
		played := map[netip.Addr]bool{}
		if len(addresses) > 0 {
			s.ends(name, played)
		}
		s.hosts[name] = neigh.NewHost(neigh.Options{MAC: d.Info.MAC, Addresses: addresses, MaxFrame: d.Info.MaxFrame,
			Serves: func(a netip.Addr) bool { return played[a] }, Own: func(mac [6]byte) bool { return own[mac] }})
	}
}

// mostEnds is how many ends of streams a port plays at most: a device's own table of neighbours is much smaller.
const mostEnds = 1 << 20

// ends adds the addresses that a port plays: of what it sends the sources, of what it expects the destinations.
func (s *session) ends(port string, played map[netip.Addr]bool) {
	add := func(st *stream, source bool) {
		for b := range s.passes(st) {
			if src, dst, ok := packet.Addresses(b); ok && source {
				played[src] = true
			} else if ok {
				played[dst] = true
			}
			if len(played) >= mostEnds {
				break
			}
		}
	}
	for i := range s.streams {
		if st := &s.streams[i]; st.tx == port {
			add(st, true)
		}
		if st := &s.streams[i]; st.rx == port {
			add(st, false)
		}
	}
}

// passes are the packets of a stream as all its passes have them, as far as their addresses differ.
func (s *session) passes(st *stream) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var buf []byte
		for i := range st.packets.Len() {
			b := st.packets.Frame(i).Data
			if !yield(b) {
				return
			}
			for _, v := range s.vary {
				place, ok := v.Place(b, st.server[i/64]>>(i%64)&1 == 1)
				buf = append(buf[:0], b...)
				for pass := int64(1); ok && pass < v.Values(); pass++ {
					if v.Put(buf, place, uint64(pass)); !yield(buf) {
						return
					}
				}
			}
		}
	}
}

// resolve finds the gateways, and answers meanwhile. The error says what was heard instead.
func (s *session) resolve(ctx context.Context) error {
	var all []neigh.Attended
	asked := false
	for _, name := range ports(s.streams) {
		h := s.hosts[name]
		if h == nil {
			continue
		}
		h.Announce()
		asked = asked || len(h.Gateways()) > 0
		all = append(all, neigh.Attended{Name: name, Port: s.devices[name].Port(), Host: h})
	}
	if !asked {
		return nil
	}
	heard := map[string]*diagnose.Heard{}
	err := neigh.Resolve(ctx, s.clock, all, func(port string, b []byte, _ int64) {
		if heard[port] == nil {
			heard[port] = &diagnose.Heard{}
		}
		heard[port].See(b)
	})
	var no *neigh.Unresolved
	if !errors.As(err, &no) {
		return err
	}
	h := heard[no.Port]
	if h == nil {
		h = &diagnose.Heard{}
	}
	return notMeasured(fmt.Sprintf("%v. Heard there: %v", no, h))
}
