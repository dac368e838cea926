package main

import (
	"embed"
	"fmt"

	"github.com/spf13/cobra"

	"loadtest/genpcap"
	"loadtest/testbed"
	"loadtest/units"
)

//go:embed demo/gentest-node1.conf demo/gentest-node2.conf
var demoFiles embed.FS

func newDemo() *cobra.Command {
	f := &findLimit{}
	c := &cobra.Command{
		Use:     "demo",
		Short:   "Find the limit of a simulated pair of IPsec gateways: no hardware, no root",
		Long:    "demo is find-limit on an embedded pair of VPN gateways with 1 GbE links, in simulated time, with 60-byte packets both ways.",
		Example: "  loadtest demo\n  loadtest demo -v -r 0",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			seed := uint64(1) // genpcap's: the walk-through has these packets
			if c.Flags().Changed("seed") {
				seed = f.seed
			}
			streams, err := demoStreams(seed)
			if err != nil {
				return err
			}
			if f.rate == (units.Rate{}) {
				f.rate = units.Rate{Value: 1e9}
			}
			if f.precision == (units.Rate{}) {
				f.precision = units.Rate{Value: 1e6}
			}
			fmt.Fprintln(c.ErrOrStderr(), "The same by hand, N being 1 and 2:\n"+
				"  loadtest genconf < testdata/vita-pair/gentest-nodeN.conf     the gateways' configuration\n"+
				"  loadtest genpcap < testdata/vita-pair/gentest-nodeN.conf > nodeN.pcap\n"+
				"  loadtest find-limit -b 1e9 -p 1e6 node1.pcap node1 node2 sim:vita-1gbe/node1 node2.pcap node2 node1 sim:vita-1gbe/node2")
			return f.run(c, streams)
		},
	}
	f.shared(c.Flags())
	f.flags(c.Flags(), "1G", "1M")
	return c
}

// demoStreams are the walk-through's two directions.
func demoStreams(seed uint64) ([]stream, error) {
	streams := []stream{
		{name: "node1", tx: "sim:vita-1gbe/node1", rx: "sim:vita-1gbe/node2"},
		{name: "node2", tx: "sim:vita-1gbe/node2", rx: "sim:vita-1gbe/node1"},
	}
	for i := range streams {
		s := &streams[i]
		name := "gentest-" + s.name + ".conf"
		text, err := demoFiles.ReadFile("demo/" + name)
		if err != nil {
			return nil, err
		}
		t, err := testbed.Parse(name, text)
		if err != nil {
			return nil, err
		}
		s.source = s.name + " (generated)"
		if s.packets, err = genpcap.Packets(t, seed); err != nil {
			return nil, err
		}
	}
	return streams, nil
}
