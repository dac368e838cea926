//go:build !linux

package afxdp

import (
	"fmt"
	"runtime"

	"loadtest/nic"
)

// Open says that only Linux has AF_XDP.
func Open(name string, _ Options) (nic.Device, error) { return nic.Device{}, absent(name) }

// Look says that only Linux has AF_XDP.
func Look(name string) (nic.Info, error) { return nic.Info{}, absent(name) }

// Hides says that only Linux has AF_XDP.
func Hides(name string) error { return absent(name) }

func absent(name string) error {
	return fmt.Errorf("port %q: AF_XDP needs Linux, this is %s", name, runtime.GOOS)
}
