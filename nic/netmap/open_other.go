//go:build !linux && !freebsd

package netmap

import (
	"fmt"
	"runtime"

	"loadtest/nic"
)

// Open says that there is no netmap here.
func Open(name string, _ Options) (nic.Device, error) {
	return nic.Device{}, fmt.Errorf("port %q: netmap needs Linux or FreeBSD, this is %s", name, runtime.GOOS)
}
