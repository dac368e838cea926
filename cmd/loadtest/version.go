package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// tags are the build's: what it can do beside the usual.
func tags() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-tags" && s.Value != "" {
				return " tags=" + s.Value
			}
		}
	}
	return ""
}

// release is set by the linker.
var release = "devel"

// version is the tool's version as results carry it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && release == "devel" && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return release
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print version, Go version and platform",
		Example: "  loadtest version\n  loadtest version | head -1",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(c.OutOrStdout(), "loadtest %s %s %s/%s%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, tags())
			return err
		},
	}
}

// noArgs refuses arguments.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments, got %q", c.Name(), args[0])
	}
	return nil
}
