//go:build !linux

package afpacket

import (
	"fmt"

	"loadtest/nic"
)

// Open says that there are no packet sockets here.
func Open(name string, _ Options) (nic.Device, error) {
	return nic.Device{}, fmt.Errorf("port %q: afpacket needs Linux", name)
}
