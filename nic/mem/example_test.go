package mem_test

import (
	"fmt"

	"loadtest/nic/mem"
	"loadtest/packet"
)

// A wire that loses each third frame.
func ExampleNew() {
	a, b := mem.New(mem.Options{AB: mem.Every(3, mem.Drop)})
	sent, _ := a.Queues[0].Send(make([]packet.Frame, 9))
	received, _ := b.Queues[0].Recv(make([]packet.Frame, 64))
	fmt.Println("sent", sent, "received", received)
	// Output: sent 9 received 6
}
