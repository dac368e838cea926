//go:build !((linux || freebsd) && (amd64 || arm64 || riscv64))

package netmap

import (
	"fmt"
	"runtime"

	"loadtest/nic"
)

// Open says that there is no netmap here.
func Open(name string, _ Options) (nic.Device, error) {
	_, err := Look(name)
	return nic.Device{}, err
}

// Look says so, too.
func Look(name string) (nic.Info, error) {
	return nic.Info{}, fmt.Errorf("port %q: netmap needs Linux or FreeBSD on amd64, arm64 or riscv64, this is %s on %s", name, runtime.GOOS, runtime.GOARCH)
}
