package dial

import (
	"errors"
	"fmt"

	"loadtest/internal/clock"
	"loadtest/nic"
	"loadtest/nic/afpacket"
	"loadtest/nic/afxdp"
	"loadtest/nic/xdp"
)

// epochOf is the time zero of a clock, for ports that stamp by the machine's.
func epochOf(c clock.Clock) int64 {
	if r, ok := c.(*clock.Real); ok {
		return r.Epoch()
	}
	return 0
}

// live opens an interface through XDP, above a packet socket.
func live(device string, epoch int64, o Options) (nic.Device, error) {
	under, err := afpacket.Open(device, afpacket.Options{Epoch: epoch})
	if err != nil {
		return under, err
	}
	d, err := xdp.Open(device, under, xdp.Options{Epoch: epoch, Queues: o.Queues})
	if err != nil {
		return d, errors.Join(err, under.Port().Close())
	}
	return d, nil
}

// choose opens an interface the fastest way that can be opened. Whether live frames get through shows when the other ports are open:
// settle looks.
func choose(device string, epoch int64, o Options) (nic.Device, error) {
	under, err := afpacket.Open(device, afpacket.Options{Epoch: epoch})
	if err != nil {
		return under, err
	}
	d, noLive := xdp.Open(device, under, xdp.Options{Epoch: epoch, Queues: o.Queues})
	if noLive == nil {
		return d, nil
	}
	return second(device, epoch, o, under, noLive)
}

// second opens an interface the fastest way but live frames that shows and takes each frame as it is. under is its packet socket.
func second(device string, epoch int64, o Options, under nic.Device, noLive error) (nic.Device, error) {
	var d nic.Device
	noXDP := afxdp.Hides(device)
	if noXDP == nil {
		d, noXDP = afxdp.Open(device, afxdp.Options{Epoch: epoch})
	}
	switch {
	case noXDP == nil && d.Info.MaxFrame >= under.Info.MaxFrame:
		d.Info.Passed = fmt.Sprintf("xdp: %v", noLive)
		return d, under.Port().Close()
	case noXDP == nil:
		noXDP = fmt.Errorf("frames up to %d bytes only", d.Info.MaxFrame)
		if err := d.Port().Close(); err != nil {
			return under, err
		}
	}
	under.Info.Passed = fmt.Sprintf("xdp: %v; afxdp: %v", noLive, noXDP)
	return under, nil
}

// settle opens ports another way that were opened for live frames by choice, and whose drivers take none: with all ports open that is
// known, since of a veth it is the other end that matters. One that changes may change another.
func settle(addresses []address, devices map[string]nic.Device, c clock.Clock, o Options) error {
	for range addresses {
		changed := false
		for _, a := range addresses {
			d := devices[a.name]
			if a.backend != fastest || d.Info.Backend != "xdp" {
				continue
			}
			none := xdp.Takes(a.device)
			if none == nil {
				continue
			}
			delete(devices, a.name)
			if err := d.Port().Close(); err != nil {
				return err
			}
			under, err := afpacket.Open(a.device, afpacket.Options{Epoch: epochOf(c)})
			if err != nil {
				return err
			}
			if d, err = second(a.device, epochOf(c), o, under, none); err != nil {
				return err
			}
			devices[a.name], changed = d, true
		}
		if !changed {
			break
		}
	}
	return nil
}
