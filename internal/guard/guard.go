// Package guard refuses ports on which load would do harm: to the user's way into the machine, or to other programs.
//
//	/proc, netlink ─gather→ facts ─judge→ Refused            Hold: ports → /run/loadtest/PID.json, other loadtests → Refused
//
// It only looks, at what is there before a port is opened. The one thing it changes is its own file in Hold.
package guard

import (
	"fmt"
	"strings"
)

// A Port is an interface of the kernel that is to be loaded.
type Port struct {
	Name                 string // as the user wrote it
	Interface, Namespace string // the namespace by name or path; "" is the current one
	Forced               bool   // the user knows: nothing is refused
}

// Refused says why a port is not to be loaded.
type Refused struct {
	Port    string // its name
	Reasons []Reason
}

// A Reason is a fact about a port, and what to do instead of loading it.
type Reason struct{ Fact, Instead string }

// Error has all facts, and what to do about the first: that is the worst.
func (r *Refused) Error() string {
	var facts []string
	for _, reason := range r.Reasons {
		facts = append(facts, reason.Fact)
	}
	return fmt.Sprintf("%s %s: %s, or --force-port %s", r.Port, strings.Join(facts, ", and "), r.Reasons[0].Instead, r.Port)
}
