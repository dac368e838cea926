package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"loadtest/internal/device"
	"loadtest/internal/guard"
)

func newPorts() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "ports",
		Short: "List what could be a port, and how fast each way of opening it is",
		Long: "ports lists the Ethernet interfaces of this machine, also those in named network namespaces, and the network devices on the PCI\n" +
			"bus, with the backends that would open each of them. Nothing is opened or changed.",
		Example: "  loadtest ports\n  loadtest ports --json",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := device.All(os.Getenv)
			if all == nil && err != nil {
				return usageError{err}
			}
			write := portsTable
			if asJSON {
				write = portsJSON
			}
			if err := write(c.OutOrStdout(), all, built()); err != nil {
				return err
			}
			if err != nil {
				fmt.Fprintf(c.ErrOrStderr(), "not listed: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "a JSON line for each port")
	return c
}

// built is what there is to open ports of hardware with.
func built() device.Build {
	b := device.Build{Backends: []string{"xdp", "afxdp", "afpacket"}, Machine: device.Local()}
	if strings.Contains(tags(), "dpdk") {
		b.Backends = append(b.Backends, "dpdk")
	}
	return b
}

// portsTable has a row for each device, and below it what is in the way of some.
func portsTable(out io.Writer, all []device.Device, b device.Build) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(out, "no port: this machine has no Ethernet interface and no network device on the PCI bus. Without hardware: loadtest demo")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "port\tPCI\tdriver\tline\tlink\tNUMA\topens with (a core sends, 64 B)")
	var notes []string
	for i := range all {
		d := &all[i]
		numa := ""
		if d.NUMA >= 0 {
			numa = fmt.Sprint(d.NUMA)
		}
		opens, faster := openings(d, b)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", d.Port(), dash(d.PCI), dash(d.Driver), dash(d.Line()), linkState(d), dash(numa), dash(opens))
		if len(d.Refused) > 0 {
			notes = append(notes, (&guard.Refused{Port: d.Port(), Reasons: d.Refused}).Error())
		}
		notes = append(notes, faster...)
	}
	if err := w.Flush(); err != nil || notes == nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s\n", strings.Join(notes, "\n"))
	return err
}

// openings are the backends that open a device, fastest first, and what it would take to open it with a faster one.
func openings(d *device.Device, b device.Build) (opens string, faster []string) {
	var works []string
	told := ""
	for _, w := range d.Ways(b) {
		name := strings.TrimSpace(w.Backend + " " + w.Mode)
		switch {
		case w.Why == "":
			works = append(works, name+" "+w.Speed)
		case w.Mend != "" && w.Mend != told && works == nil: // which may help a slower one, too
			told = w.Mend
			faster = append(faster, fmt.Sprintf("%s is not opened with %s, %s: %s\n    %s", d.Port(), name, w.Speed, w.Why, w.Mend))
		}
	}
	return strings.Join(works, ", "), faster
}

func linkState(d *device.Device) string {
	switch {
	case d.Name == "":
		return "–"
	case !d.Set:
		return "set down"
	case !d.Up:
		return "no carrier"
	}
	return "up"
}

func dash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// A portLine is a device in JSON. What is not known is null.
type portLine struct {
	Port      string    `json:"port"`
	Interface *string   `json:"interface"`
	Namespace *string   `json:"namespace"`
	Kind      string    `json:"kind"`
	PCI       *string   `json:"pci"`
	Driver    *string   `json:"driver"`
	IOMMU     *string   `json:"iommu_group"`
	NUMA      *int      `json:"numa"`
	Link      *string   `json:"link"`
	SpeedBps  *float64  `json:"speed_bps"`
	MAC       *string   `json:"mac"`
	MTU       *int      `json:"mtu_bytes"`
	Addresses []string  `json:"addresses"`
	XDP       *uint32   `json:"xdp_program"`
	Refused   []string  `json:"refused"`
	Ways      []wayLine `json:"ways"`
}

// A wayLine is a backend in JSON; Why: not, null if it works.
type wayLine struct {
	Backend string  `json:"backend"`
	Mode    *string `json:"mode"`
	Speed   string  `json:"speed"`
	Why     *string `json:"why_not"`
	Mend    *string `json:"command"`
}

// portsJSON has a line for each device.
func portsJSON(out io.Writer, all []device.Device, b device.Build) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	for i := range all {
		d := &all[i]
		line := portLine{Port: d.Port(), Interface: known(d.Name), Namespace: known(d.Namespace), Kind: d.Kind, PCI: known(d.PCI), Driver: known(d.Driver),
			IOMMU: known(d.IOMMU), XDP: d.XDP, Addresses: []string{}, Refused: []string{}}
		if d.NUMA >= 0 {
			line.NUMA = &d.NUMA
		}
		if d.Name != "" {
			line.Link, line.MTU = new(linkState(d)), &d.MTU
			line.MAC = new(macText(d.MAC))
		}
		if d.Speed > 0 {
			line.SpeedBps = new(float64(d.Speed) * 1e6)
		}
		for _, a := range d.Addresses {
			line.Addresses = append(line.Addresses, a.String())
		}
		for _, r := range d.Refused {
			line.Refused = append(line.Refused, r.Fact)
		}
		for _, w := range d.Ways(b) {
			line.Ways = append(line.Ways, wayLine{w.Backend, known(w.Mode), w.Speed, known(w.Why), known(w.Mend)})
		}
		if err := e.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// known is a text that may not be known.
func known(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
