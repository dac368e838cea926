//go:build !(dpdk && cgo && linux)

package dpdk

import (
	"errors"

	"loadtest/nic"
)

// Open says how to build a program that has DPDK.
func Open([]string, Options) ([]nic.Device, error) {
	return nil, errors.New("this program was built without DPDK. Linux only, as root: apt install libdpdk-dev && make build DPDK=1")
}
