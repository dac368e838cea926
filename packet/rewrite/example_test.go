package rewrite_test

import (
	"fmt"

	"loadtest/packet"
	"loadtest/packet/rewrite"
)

// A capture of raw IP becomes one of Ethernet, and its other direction.
func ExampleRules() {
	raw := &packet.Store{Link: packet.LinkRaw}
	p := []byte{0x45, 0, 0, 20, 0, 0, 0, 0, 64, 253, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2}
	raw.Append(p, 0, len(p))
	in, _ := raw.Open()

	macs := rewrite.MACs{Dst: [6]byte{2, 0, 0, 0, 0, 2}, Src: [6]byte{2, 0, 0, 0, 0, 1}, SetDst: true, SetSrc: true}
	r := rewrite.Rules{MACs: macs, Swap: true}.Reader(in)
	var rec packet.Record
	if err := r.Next(&rec); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%x\n%v\n", rec.Data, r.Touched())
	// Output:
	// 0200000000020200000000010800450000140000000040fd00000a0000020a000001
	// 1 packets: an Ethernet header for 1, 1 turned round, MAC addresses of 1
}
