package afxdp

import (
	"errors"

	"loadtest/internal/link"
)

// Hides says what the interface's driver keeps from XDP programs, and so from here: a frame without the VLAN tag that it came with is
// another one. nil: nothing.
func Hides(name string) error {
	return link.At(name, func(iface string) error {
		l, _, err := link.Open(iface)
		if err != nil {
			return err
		}
		defer l.Close()
		return hidden(l.Driver(), l.Settings().Features)
	})
}

func hidden(driver string, features map[string]link.Feature) error {
	switch f := features["rx-vlan-hw-parse"]; {
	case driver == "veth":
		return errors.New("a veth keeps VLAN tags of received frames from it that its other end left out of the frame")
	case f.On:
		return errors.New("the driver takes VLAN tags out of received frames before it sees them; ethtool -K IF rxvlan off")
	}
	return nil
}
