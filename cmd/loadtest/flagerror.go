package main

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError says in our words what is wrong with a flag: --rate "10GB": bytes are no rate here.
func flagError(c *cobra.Command, err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return usagef("%s: %w; see loadtest %s --help", c.Name(), err, c.Name())
	}
	f := bad.GetFlag()
	name := f.Name
	if name == "d" { // the other letter of the same flag
		name = "duration"
	}
	want, ok := map[string]string{"int": "a whole number", "uint64": "a whole number, 0 or more", "bool": "true or false"}[f.Value.Type()]
	switch {
	case !ok: // our own parsers name the value themselves
		return usagef("--%s %w", name, bad.Unwrap())
	case errors.Is(err, strconv.ErrRange):
		return usagef("--%s %q: out of range", name, bad.GetValue())
	}
	return usagef("--%s %q: want %s", name, bad.GetValue(), want)
}
