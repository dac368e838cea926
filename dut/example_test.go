package dut_test

import (
	"fmt"

	"loadtest/dut"
	"loadtest/packet"
)

// A cable of 10 Gbit/s with a delay of 1 µs: 60 bytes take 67.2 ns on the wire.
func ExampleNetwork() {
	n, err := dut.LoadNetwork("wire")
	if err != nil {
		fmt.Println(err)
		return
	}
	a, _ := n.Port("a")
	b, _ := n.Port("b")
	if _, err := a.Queues[0].Send([]packet.Frame{{Data: make([]byte, 60), Nanos: 500}}); err != nil {
		fmt.Println(err)
		return
	}
	next := n.Step(500) // nothing has arrived yet: when does it?
	n.Step(next)
	got := make([]packet.Frame, 1)
	k, _ := b.Queues[0].Recv(got)
	fmt.Println(k, "frame of", len(got[0].Data), "bytes at", got[0].Nanos, "ns")
	// Output: 1 frame of 60 bytes at 1568 ns
}
