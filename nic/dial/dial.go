// Package dial gives devices for names of ports, and the clock they live on.
//
//	sim:NETWORK/PORT ─→ dut.Network, virtual clock      afpacket: afxdp: xdp: IF[@NETNS] or PCI address ─→ nic/…, real clock
//	pcap:FILE        ─→ nic/mem, either clock           dpdk:DEVICE ─→ nic/dpdk     netmap:IF, vale… ─→ nic/netmap
//	IF, PCI address  ─→ the fastest of xdp, afxdp and afpacket that works; a device that was given to programs: nic/dpdk
package dial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"loadtest/dut"
	"loadtest/internal/clock"
	"loadtest/nic"
	"loadtest/nic/afpacket"
	"loadtest/nic/afxdp"
	"loadtest/nic/dpdk"
	"loadtest/nic/mem"
	"loadtest/nic/netmap"
)

// Options are what names do not say. The zero value is good.
type Options struct {
	Queues int      // threads that send out of a port, where it does not have as many as it has queues; 0 is 1
	EAL    []string // arguments for DPDK's environment
}

// Open opens every named port, or none: then the error says which one and why. Ports of one simulated network share it. The
// devices are keyed by the names as given; Close closes them.
func (o Options) Open(ctx context.Context, names ...string) (map[string]nic.Device, clock.Clock, error) {
	addresses, err := parseAll(names)
	if err != nil {
		return nil, nil, err
	}
	networks, c, err := world(addresses)
	if err != nil {
		return nil, nil, err
	}
	devices := make(map[string]nic.Device)
	for _, a := range addresses {
		if _, ok := devices[a.name]; ok {
			continue
		}
		d, err := nic.Device{}, context.Cause(ctx)
		if err == nil {
			d, err = open(a, networks, c, o)
		}
		if err != nil {
			return nil, nil, errors.Join(err, Close(devices))
		}
		devices[a.name] = d
	}
	if err := settle(addresses, devices, c, o); err != nil {
		return nil, nil, errors.Join(err, Close(devices))
	}
	for name, d := range devices {
		d.Info.Name = name
		devices[name] = d
	}
	return devices, c, nil
}

// Close closes all queues of all devices.
func Close(devices map[string]nic.Device) error {
	var all []error
	for name, d := range devices {
		for _, q := range d.Queues {
			if err := q.Close(); err != nil {
				all = append(all, fmt.Errorf("close port %q: %w", name, err))
			}
		}
	}
	return errors.Join(all...)
}

// world makes the simulated networks, and the clock that drives them; without any it is the machine's clock.
func world(addresses []address) (map[string]*dut.Network, clock.Clock, error) {
	networks := make(map[string]*dut.Network)
	var steppers []clock.Stepper
	for _, a := range addresses {
		if a.backend != "sim" || networks[a.network] != nil {
			continue
		}
		n, err := load(a.network)
		if err != nil {
			return nil, nil, fmt.Errorf("port %q: %w", a.name, err)
		}
		networks[a.network] = n
		steppers = append(steppers, n)
	}
	if len(steppers) > 0 {
		return networks, clock.NewVirtual(steppers...), nil
	}
	return networks, clock.NewReal(), nil
}

func open(a address, networks map[string]*dut.Network, c clock.Clock, o Options) (nic.Device, error) {
	epoch := epochOf(c)
	switch a.backend {
	case "sim":
		return simulated(a, networks)
	case "pcap":
		return capture(a, c)
	case "afxdp":
		return afxdp.Open(a.device, afxdp.Options{Epoch: epoch})
	case "xdp":
		return live(a.device, epoch, o)
	case "dpdk":
		return kit(a, dpdk.Options{Epoch: epoch, EAL: o.EAL, Queues: o.Queues})
	case "netmap":
		return netmap.Open(a.device, netmap.Options{Epoch: epoch})
	case fastest:
		return choose(a.device, epoch, o)
	}
	return afpacket.Open(a.device, afpacket.Options{Epoch: epoch})
}

// kit opens a device of DPDK's, which can be added while others are open.
func kit(a address, o dpdk.Options) (nic.Device, error) {
	d, err := dpdk.Open([]string{a.device}, o)
	switch {
	case errors.Is(err, dpdk.ErrNotBuilt) && a.driver != "":
		return nic.Device{}, fmt.Errorf("%s is bound to %s and %w; or give it back: driverctl unset-override %s", a.name, a.driver, err, a.device)
	case err != nil:
		return nic.Device{}, fmt.Errorf("port %q: %w", a.name, err)
	}
	return d[0], nil
}

func simulated(a address, networks map[string]*dut.Network) (nic.Device, error) {
	d, err := networks[a.network].Port(a.device)
	if err != nil {
		err = fmt.Errorf("port %q: %w", a.name, err)
	}
	return d, err
}

// capture makes the file. Its times are of the day on the real clock, and since 1970 on a virtual one, so that the same run
// writes the same file.
func capture(a address, c clock.Clock) (nic.Device, error) {
	f, err := os.Create(a.device)
	if err != nil {
		return nic.Device{}, fmt.Errorf("port %q: %w", a.name, err)
	}
	var zero int64
	if !c.Virtual() {
		zero = time.Now().UnixNano() - c.Now()
	}
	d, err := mem.Capture(a.name, f, zero)
	if err != nil {
		f.Close()
		return d, fmt.Errorf("port %q: %s: %w", a.name, a.device, err)
	}
	return d, nil
}

// Open is Options.Open with none.
func Open(ctx context.Context, names ...string) (map[string]nic.Device, clock.Clock, error) {
	return Options{}.Open(ctx, names...)
}
