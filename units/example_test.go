package units_test

import (
	"fmt"

	"loadtest/units"
)

func Example() {
	rate, err := units.ParseRate("40%")
	if err != nil {
		fmt.Println(err)
		return
	}
	load, err := rate.Load(10*units.Gbps, 60)
	if err != nil {
		fmt.Println(err)
		return
	}
	wire := units.BitRate(load.Value)
	packets := units.PacketRate(load.Value / float64(units.WireBits(60)))
	fmt.Println(rate, "of the line:", wire, "of", packets)

	_, err = units.ParseRate("10GB")
	fmt.Println("--rate", err)
	// Output:
	// 40% of the line: 4.000 Gbps of 5.952 Mpps
	// --rate "10GB": bytes are no rate here. 10 Gbit/s on the wire: 10G; packets: 1.2Mpps; share of the line: 40%
}
