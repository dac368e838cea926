package dut_test

import (
	"testing"

	"loadtest/nic/nictest"
)

// The tester's ports at a cable in software are ports like others.
func TestPortsConform(t *testing.T) {
	nictest.Run(t, func(t *testing.T) nictest.Pair {
		n := load(t, "wire")
		now := int64(0)
		return nictest.Pair{A: open(t, n, "a"), B: open(t, n, "b"), Single: true, Settle: func() {
			now += 1e6
			n.Step(now)
		}}
	})
}
