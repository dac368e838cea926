package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"loadtest/genconf"
	"loadtest/testbed"
)

func newGenconf() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:       "genconf [KIND=vita] [flags] < gentest.conf",
		Short:     "Write a gateway's configuration from a description of the test",
		Long:      "genconf reads a description of a test in Vita's gentest syntax and writes the configuration of the gateway under test.",
		Example:   "  loadtest genconf < gentest-node1.conf | snabb config set node1 /\n  loadtest genconf vita -o node1.conf < gentest-node1.conf",
		ValidArgs: genconf.Kinds(),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("genconf takes one KIND, got %q beside %q", args[1], args[0])
			}
			kind := "vita"
			if len(args) == 1 {
				kind = args[0]
			}
			bed, err := readTestbed(c)
			if err != nil {
				return err
			}
			var text bytes.Buffer
			if err := genconf.Write(&text, kind, bed); err != nil {
				return usageError{err}
			}
			return writeOutput(c, output, text.Bytes())
		},
	}
	outputVar(c, &output)
	return c
}

func outputVar(c *cobra.Command, output *string) {
	c.Flags().StringVarP(output, "output", "o", "-", "`file` to write; - is standard output")
}

// readTestbed reads a description from standard input.
func readTestbed(c *cobra.Command) (*testbed.Testbed, error) {
	const name, most = "standard input", 1 << 20
	if f, ok := c.InOrStdin().(*os.File); ok && terminal(f) {
		fmt.Fprintln(c.ErrOrStderr(), "loadtest: reading a gentest description from the terminal; Ctrl-D ends it")
	}
	var text []byte
	if err := heed(c.Context(), func() (err error) {
		text, err = io.ReadAll(io.LimitReader(c.InOrStdin(), most+1))
		return err
	}); err != nil {
		return nil, usagef("%s: %w", name, err)
	}
	if len(text) > most {
		return nil, usagef("%s: more than %d bytes: want a gentest description", name, most)
	}
	bed, err := testbed.Parse(name, text)
	if err != nil {
		return nil, usageError{err}
	}
	return bed, nil
}
