package rewrite_test

import (
	"fmt"

	"loadtest/packet"
	"loadtest/packet/rewrite"
)

// A capture of raw IP becomes one of Ethernet, and its other direction.
func ExampleSwap() {
	raw := &packet.Store{Link: packet.LinkRaw}
	p := []byte{0x45, 0, 0, 20, 0, 0, 0, 0, 64, 253, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2}
	raw.Append(p, 0, len(p))

	there, err := rewrite.Ethernet(raw, rewrite.MACs{Dst: [6]byte{2, 0, 0, 0, 0, 2}, Src: [6]byte{2, 0, 0, 0, 0, 1}, SetDst: true, SetSrc: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	back, skipped := rewrite.Swap(there)
	fmt.Printf("%x\n%x, %d skipped\n", there.Frame(0).Data, back.Frame(0).Data, skipped)
	// Output:
	// 0200000000020200000000010800450000140000000040fd00000a0000010a000002
	// 0200000000010200000000020800450000140000000040fd00000a0000020a000001, 0 skipped
}
