//go:build !linux

package afpacket

import (
	"fmt"

	"loadtest/nic"
)

// Open says that there are no packet sockets here.
func Open(name string, _ Options) (nic.Device, error) {
	_, err := Look(name)
	return nic.Device{}, err
}

// Look says so, too.
func Look(name string) (nic.Info, error) {
	return nic.Info{}, fmt.Errorf("port %q: afpacket needs Linux", name)
}
