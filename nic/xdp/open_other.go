//go:build !linux

package xdp

import (
	"fmt"
	"runtime"

	"loadtest/nic"
)

// Open says that only Linux has XDP.
func Open(name string, _ nic.Device, _ Options) (nic.Device, error) {
	return nic.Device{}, fmt.Errorf("port %q: XDP needs Linux, this is %s", name, runtime.GOOS)
}

// Takes says that only Linux has XDP.
func Takes(name string) error {
	_, err := Open(name, nic.Device{}, Options{})
	return err
}
