// Command search measures how fast and how right the searches of package search are, on simulated devices whose true limit is known,
// under a virtual clock, beside what other tools needed for the same devices.
//
//	instances.json, truth.csv, runs.csv ─→ dut.Model ←─trials─ search.Run ─→ tables, results.csv, runs.csv
//
// A set of devices is a folder: what a device is and how the rows of others were measured is told in its README.md and models.md. A set
// may lack classes, columns, and the rows of others.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	set := flag.String("set", "", "folder with instances.json, truth.csv and, for ratios, runs.csv")
	out := flag.String("out", "search-out", "folder for results.csv and runs.csv")
	only := flag.String("only", "", "one algorithm")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx, *set, *out, *only); err != nil {
		fmt.Fprintf(os.Stderr, "search: %v\n", err)
		os.Exit(1)
	}
}

// bench runs all algorithms over a set.
func bench(ctx context.Context, folder, out, only string) error {
	s, err := read(folder)
	if err != nil {
		return err
	}
	var all []result
	for _, a := range algorithms() {
		if only != "" && a.name != only {
			continue
		}
		r, err := measure(ctx, s, a)
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		return fmt.Errorf("no algorithm %q", only)
	}
	if err := write(out, s, all); err != nil {
		return err
	}
	print(os.Stdout, s, all)
	return nil
}
