//go:build amd64 || arm64 || riscv64

package netmap

import (
	"fmt"
	"net"

	"loadtest/internal/link"
	"loadtest/nic"
)

// look asks for what Go's net package knows.
func look(r request) (i nic.Info, err error) {
	it, err := net.InterfaceByName(r.name)
	if err != nil {
		return i, fmt.Errorf("port %q: no such interface. All: ifconfig -l", r.name)
	}
	i = nic.Info{MTU: it.MTU, MaxFrame: it.MTU + ethernet, NUMA: -1, Down: it.Flags&net.FlagUp == 0}
	copy(i.MAC[:], it.HardwareAddr)
	return i, nil
}

// A watch knows nothing of the link here: a port is down when the kernel does not move its rings.
type watch struct{}

func newWatch(request) (watcher, error) { return watch{}, nil }

func (watch) status() nic.Status { return nic.Status{} }
func (watch) wire() link.Wire    { return link.Unknown() }
func (watch) close() error       { return nil }
