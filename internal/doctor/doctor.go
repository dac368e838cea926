// Package doctor judges what there is in the way of a measurement that can be trusted.
//
//	device.Machine, Devices ─Judge→ Findings, worst first: what, why it matters, the command that mends it
//
// It is pure: what it judges by was asked for before, by package device.
package doctor

import (
	"cmp"
	"slices"

	"loadtest/internal/device"
)

// A Severity says how bad a finding is.
type Severity uint8

// The severities, worst first.
const (
	Fault   Severity = iota // nothing can be measured as it is, or a run would refuse the port
	Warning                 // results may be wrong
	Note                    // results may be better
	OK                      // good to know
)

func (s Severity) String() string { return [...]string{"fault", "warning", "note", "ok"}[s] }

// A Finding is one thing that was found.
type Finding struct {
	Severity Severity
	Port     string // "": the machine
	What     string // it is
	Why      string // it matters
	Mend     string // the command that changes it; "": there is none
}

// Judge judges ports and the machine that they are to be opened on. cpus are those that the ports' threads will have; none: not known.
func Judge(ports []device.Device, b device.Build, cpus device.CPUs) []Finding {
	var all []Finding
	for i := range ports {
		p := port{Device: &ports[i], build: b, cpus: cpus}
		p.judge()
		all = append(all, p.found...)
	}
	all = append(all, unequal(ports)...)
	m := machine{Machine: &b.Machine, cpus: cpus}
	m.judge(slices.Contains(b.Backends, "dpdk"))
	all = append(all, m.found...)
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(a.Severity, b.Severity) })
	return all
}

// Count is how many findings there are of a severity.
func Count(all []Finding, s Severity) (n int) {
	for _, f := range all {
		if f.Severity == s {
			n++
		}
	}
	return n
}
