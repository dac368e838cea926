package main

import (
	"bytes"

	"github.com/spf13/cobra"

	"loadtest/genpcap"
	"loadtest/pcap"
)

func newGenpcap() *cobra.Command {
	var output string
	var seed uint64
	c := &cobra.Command{
		Use:     "genpcap [flags] < gentest.conf > FILE",
		Short:   "Write a capture to send from a description of the test",
		Long:    "genpcap reads a description of a test in Vita's gentest syntax and writes a capture, the same for the same --seed.",
		Example: "  loadtest genpcap < gentest-node1.conf > node1.pcap\n  loadtest genpcap --seed 7 -o node1.pcap < gentest-node1.conf",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if output == "-" && terminal(c.OutOrStdout()) || output != "-" && terminalAt(output) {
				return usagef("a capture is not written to a terminal: want -o FILE or > FILE")
			}
			bed, err := readTestbed(c)
			if err != nil {
				return err
			}
			packets, err := genpcap.Packets(bed, seed)
			if err != nil {
				return usageError{err}
			}
			var file bytes.Buffer
			if err := pcap.Write(&file, packets); err != nil {
				return err
			}
			return writeOutput(c, output, file.Bytes())
		},
	}
	outputVar(c, &output)
	c.Flags().Uint64Var(&seed, "seed", 1, "`number` of all chance: the hosts that packets go to")
	return c
}
