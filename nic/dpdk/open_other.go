//go:build !(dpdk && cgo && linux)

package dpdk

import (
	"fmt"

	"loadtest/nic"
)

// Open says how to build a program that has DPDK.
func Open([]string, Options) ([]nic.Device, error) {
	return nil, fmt.Errorf("%w: apt install libdpdk-dev && make build DPDK=1", ErrNotBuilt)
}
