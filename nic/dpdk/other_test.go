//go:build !(dpdk && cgo && linux)

package dpdk

import "testing"

func TestOpenSaysHowToBuild(t *testing.T) {
	const want = "this program was built without DPDK. Linux only, as root: apt install libdpdk-dev && make build DPDK=1"
	if all, err := Open([]string{"net_null0"}, Options{}); all != nil || err == nil || err.Error() != want {
		t.Errorf("Open = %v, %v; want %s", all, err, want)
	}
}
