package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"loadtest/internal/gen"
	"loadtest/internal/host"
	"loadtest/internal/preflight"
	"loadtest/internal/split"
	"loadtest/nic"
	"loadtest/nic/dial"
	"loadtest/packet"
	"loadtest/packet/rewrite"
	"loadtest/units"
)

// inspect are the flags of inspect.
type inspect struct {
	sources
	rate units.Rate
	tag  packet.TagMode
	json bool
}

func newInspect() *cobra.Command {
	f := &inspect{}
	c := &cobra.Command{
		Use:   "inspect FILE ... [PORT ...]",
		Short: "Show what captures hold, and what ports would do with them",
		Long: "inspect reads captures and shows packets, sizes, pace, flows, what has room for a tag, and what keeps a PORT from sending them.\n" +
			"Flags that change packets are heeded. Nothing is opened or sent. Exit code 2: a port would refuse one of them as it is.",
		Example: "  loadtest inspect office.pcap\n  loadtest inspect --split office.pcap eth2 eth3",
		RunE:    f.run,
	}
	fs := c.Flags()
	fs.StringVar(&f.split, "split", "", "`rule` that divides clients and servers: auto, mac, sll, clients' NETs; or no")
	fs.Lookup("split").NoOptDefVal = "auto"
	f.changes.flags(fs)
	rateVar(fs, &f.rate, "rate", "b", "a load, to see whether the ports can make it (default x1, the captured pace)")
	fs.Var(&value[packet.TagMode]{to: &f.tag, text: "auto", parse: parseTag, kind: "mode"}, "tag", "which packets get a tag: auto (room of zeros), always (any room), never")
	fs.BoolVar(&f.json, "json", false, "a JSON line for each capture")
	fs.SortFlags = false
	return c
}

func (f *inspect) run(c *cobra.Command, args []string) error {
	files, ports, err := f.sort(args)
	if err != nil {
		return err
	}
	if err := f.changes.settle(files); err != nil {
		return err
	}
	if f.split != "" && f.split != "no" && len(ports) > 2 {
		return usagef("inspect --split: %d ports; want two, for clients and for servers", len(ports))
	}
	infos, err := dial.Look(ports...)
	if err != nil {
		return usageError{err}
	}
	var refused []string
	for i, file := range files {
		var in preflight.Inspection
		err := heed(c.Context(), func() (err error) {
			in, err = f.inspection(file, ports, infos, c.InOrStdin())
			return err
		})
		if err != nil {
			return err
		}
		if i > 0 && !f.json {
			fmt.Fprintln(c.OutOrStdout())
		}
		write := preflight.Text
		if f.json {
			write = preflight.JSON
		}
		if err := write(c.OutOrStdout(), in); err != nil {
			return err
		}
		if in.Refused() && len(ports) > 0 {
			refused = append(refused, in.Capture.Name)
		}
	}
	if refused != nil {
		return usagef("not to be sent as it is: %s", strings.Join(refused, ", "))
	}
	return nil
}

// sort parts captures and ports.
func (f *inspect) sort(args []string) (files, ports []string, err error) {
	for _, a := range args {
		switch {
		case gen.Is(a):
			return nil, nil, usagef("inspect: %s is made here; want a capture", a)
		case isSource(a):
			files = append(files, a)
		default:
			ports = append(ports, a)
		}
	}
	if absent := absent(ports); absent != "" {
		return nil, nil, usagef("inspect: %s", strings.TrimSuffix(absent, "; "))
	}
	if len(files) == 0 {
		return nil, nil, usagef("inspect: no capture; want FILE ... [PORT ...], as loadtest inspect office.pcap eth2")
	}
	return files, ports, nil
}

// inspection is all that is known of a capture, alone and with each port.
func (f *inspect) inspection(file string, ports []string, infos map[string]nic.Info, in io.Reader) (i preflight.Inspection, err error) {
	c, err := f.openCapture(file, in)
	if err != nil {
		return i, usageError{err}
	}
	rule := f.split
	if rule == "" || rule == "no" {
		rule = "auto"
	}
	o, err := split.Parse(rule)
	if err != nil {
		return i, usagef("--split %w", err)
	}
	sides, err := split.Decide(c.line, o)
	if err != nil && f.split != "" {
		return i, usagef("%s: %w", c.name, err)
	}
	var all []preflight.Port
	var tallies []preflight.Tally
	for n, name := range ports {
		rules, err := f.rules(name, infos[name].MaxFrame)
		if err != nil {
			return i, usageError{err}
		}
		rules.MACs = f.fixed(name, infos[name].MAC)
		w := &route{from: c.line, rules: rules, check: func() *preflight.Check { return preflight.NewCheck(c.file, preflight.PortOf(infos[name]), f.skips()) }}
		if f.split != "" && f.split != "no" && len(ports) == 2 {
			w.sides, w.side = sides, []side{clients, servers}[n]
		}
		raw := c.survey.Foreign() > packet.LinkEthernet && (!rules.SetDst || !rules.SetSrc || c.survey.Unreadable.Packets > 0)
		tally, touched, err := w.tally(raw)
		if err == nil {
			err = collided(touched, c.name)
		}
		if err != nil {
			return i, usagef("%s: %w", c.name, err)
		}
		all, tallies = append(all, preflight.PortOf(infos[name])), append(tallies, tally)
	}
	rate := f.rate
	if rate == (units.Rate{}) {
		rate = units.Rate{Kind: units.Factor, Value: 1}
	}
	return preflight.Inspect(c.facts(rule, sides), all, tallies, f.options(rate, f.tag)), nil
}

// fixed are the MAC addresses that flags give what leaves through a port, as far as they are known before anybody is asked.
func (a *changes) fixed(port string, own [6]byte) (m rewrite.MACs) {
	dst, src := rule(a.macDst, port), rule(a.macSrc, port)
	if dst != nil {
		m.Dst, m.SetDst = dst.mac, true
	}
	switch {
	case src != nil:
		m.Src, m.SetSrc = src.mac, true
	case dst != nil && dst.gw:
		m.Src, m.SetSrc = own, true
	}
	return m
}

// options are what the flags say about all captures.
func (a *sources) options(rate units.Rate, tag packet.TagMode) preflight.Options {
	machine := host.Read()
	return preflight.Options{Load: rate, Loops: a.loops, MACs: len(a.macDst) > 0 && (len(a.macSrc) > 0 || a.macDst[0].gw), Skip: a.skips(), TakeWhole: a.takeWhole,
		MaxGap: a.maxGap, Split: a.split != "", Vary: len(a.vary) > 0, Resegment: a.resegment != "", FixChecksums: a.checksums, Tag: tag,
		Memory: machine.Memory, Room: a.room(machine)}
}
