//go:build !(dpdk && cgo && linux)

package dpdk

import (
	"errors"
	"testing"
)

func TestOpenSaysHowToBuild(t *testing.T) {
	const want = "this build has no DPDK: apt install libdpdk-dev && make build DPDK=1"
	if all, err := Open([]string{"net_null0"}, Options{}); all != nil || !errors.Is(err, ErrNotBuilt) || err.Error() != want {
		t.Errorf("Open = %v, %v; want %s", all, err, want)
	}
}
