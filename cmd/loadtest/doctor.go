package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"loadtest/internal/device"
	"loadtest/internal/doctor"
	"loadtest/nic/dial"
)

// doctorFlags are the flags of doctor.
type doctorFlags struct {
	cpus []int
	json bool
}

func newDoctor() *cobra.Command {
	f := &doctorFlags{}
	c := &cobra.Command{
		Use:   "doctor [PORT ...]",
		Short: "Look for what would spoil a measurement on this machine",
		Long: "doctor looks at ports, at all that a run would take if none is named, and at the machine, and says what would spoil a\n" +
			"measurement, worst first, with the command that mends it. It changes nothing. Exit code 3: with a fault nothing can be measured.",
		Example: "  loadtest doctor\n  loadtest doctor eth2 eth3",
		RunE:    f.run,
	}
	fs := c.Flags()
	fs.Var(&value[[]int]{to: &f.cpus, parse: parseCPUs, kind: "list"}, "cpu", "CPUs that the ports' threads are to have, as 2,3 or 2-5: are they near, and theirs alone?")
	fs.BoolVar(&f.json, "json", false, "a JSON line for each finding")
	fs.SortFlags = false
	return c
}

func (f *doctorFlags) run(c *cobra.Command, names []string) error {
	text, have := onlineCPUs()
	for _, cpu := range f.cpus {
		if !slices.Contains(have, cpu) {
			return usagef("--cpu %d: this machine has CPUs %s", cpu, text)
		}
	}
	build := built()
	ports, left, err := patients(names, build)
	if err != nil {
		return usageError{err}
	}
	slices.Sort(f.cpus)
	found := doctor.Judge(ports, build, f.cpus)
	write := findingsText
	if f.json {
		write = findingsJSON
	}
	if err := write(c.OutOrStdout(), found); err != nil {
		return err
	}
	if len(left) > 0 && !f.json {
		none := ""
		if len(ports) == 0 {
			none = "no port that a run would take; "
		}
		fmt.Fprintf(c.OutOrStdout(), "\n%s\n", wrapped(none+"left out: "+strings.Join(left, ", ")+". More of one: loadtest doctor PORT", 0))
	}
	last := c.OutOrStdout()
	if f.json {
		last = c.ErrOrStderr()
	}
	return conclude(last, found)
}

// patients are the named ports; if none is named, those that a run would take, and beside them why each other is left out.
func patients(names []string, b device.Build) (ports []device.Device, left []string, err error) {
	if len(names) > 0 {
		for _, name := range names {
			d, err := findDevice(name)
			if err != nil {
				return nil, nil, err
			}
			ports = append(ports, d)
		}
		return ports, nil, nil
	}
	all, err := device.All(os.Getenv)
	switch {
	case err != nil && all == nil:
		return nil, nil, err
	case err != nil: // of namespaces
		left = strings.Split(err.Error(), "\n")
	}
	for _, d := range all {
		works := slices.ContainsFunc(d.Ways(b), func(w device.Way) bool { return w.Why == "" })
		switch {
		case len(d.Refused) > 0:
			left = append(left, d.Port()+" "+d.Refused[0].Fact)
		case !works:
			left = append(left, d.Port()+" cannot be opened")
		case d.Name != "" && !d.Up:
			left = append(left, d.Port()+" "+map[bool]string{true: "has no carrier", false: "is set down"}[d.Set])
		default:
			ports = append(ports, d)
		}
	}
	return ports, left, nil
}

// findDevice is the device that a port's name stands for.
func findDevice(name string) (d device.Device, err error) {
	if iface, ns, ok := dial.Interface(name); ok {
		return device.Find(iface, ns, os.Getenv)
	}
	all, _ := device.All(os.Getenv)
	slot := strings.TrimPrefix(name, "dpdk:")
	for _, d := range all {
		if d.PCI != "" && (d.PCI == slot || d.PCI == "0000:"+slot) { // bound to a driver that makes no interface
			return d, nil
		}
	}
	if _, err := dial.Look(name); err != nil {
		return d, err
	}
	return d, fmt.Errorf("port %q: it is not this machine's, so there is nothing to look at. All that are: loadtest ports", name)
}

// findingsText has a line for each finding, and one for each command, so that it can be copied.
func findingsText(out io.Writer, all []doctor.Finding) error {
	const labels = 9 // columns of the severity
	var b strings.Builder
	for _, f := range all {
		subject := f.What
		if f.Port != "" {
			subject = f.Port + " " + f.What
		}
		fmt.Fprintf(&b, "%-*s%s\n", labels, f.Severity, wrapped(subject+": "+f.Why, labels))
		if f.Mend != "" {
			fmt.Fprintf(&b, "%*s%s\n", labels+4, "", f.Mend)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// conclude has the last line; that there is a fault is the error.
func conclude(out io.Writer, all []doctor.Finding) error {
	count := func(s doctor.Severity, one string) string {
		n := doctor.Count(all, s)
		if n == 1 {
			return "1 " + one
		}
		return fmt.Sprintf("%d %ss", n, one)
	}
	rest := count(doctor.Warning, "warning") + ", " + count(doctor.Note, "note")
	if doctor.Count(all, doctor.Fault) > 0 {
		return notMeasured(count(doctor.Fault, "fault") + ", " + rest + ": nothing can be measured as it is")
	}
	_, err := fmt.Fprintf(out, "no fault, %s\n", rest)
	return err
}

// A findingLine is a finding in JSON; a port of null is the machine.
type findingLine struct {
	Severity string  `json:"severity"`
	Port     *string `json:"port"`
	What     string  `json:"what"`
	Why      string  `json:"why"`
	Mend     *string `json:"command"`
}

// findingsJSON has a line for each finding.
func findingsJSON(out io.Writer, all []doctor.Finding) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	for _, f := range all {
		if err := e.Encode(findingLine{f.Severity.String(), known(f.Port), f.What, f.Why, known(f.Mend)}); err != nil {
			return err
		}
	}
	return nil
}
