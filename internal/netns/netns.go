// Package netns knows the network namespaces of a Linux machine, by name (ip-netns(8)) or path, and the interfaces in them.
//
//	namespace, f ─Within→ f on a thread of its own in there        mistyped interface ─Missing→ where it may be
package netns

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"loadtest/internal/spell"
)

// Interfaces lists the interfaces of the namespace ns, "" is the current one; none if it cannot be entered.
func Interfaces(ns string) (names []string) {
	_ = Within(ns, func() error {
		all, err := net.Interfaces()
		for _, i := range all {
			names = append(names, i.Name)
		}
		return err
	})
	return names
}

// Missing says that there is no such interface in ns, and which ones may have been meant.
func Missing(iface, ns string) error {
	text := fmt.Sprintf("port %q: no such interface", iface)
	if ns != "" {
		text = fmt.Sprintf("port %q: no such interface in namespace %s", iface+"@"+ns, ns)
	}
	var hints []string
	if near := near(iface, Interfaces(ns)); len(near) > 0 {
		hints = append(hints, "Near: "+list(near))
	}
	for _, other := range append([]string{""}, Names()...) {
		if other == ns || !slices.Contains(Interfaces(other), iface) {
			continue
		} else if other == "" {
			hints = append(hints, "outside of it: "+iface)
		} else {
			hints = append(hints, fmt.Sprintf("in namespace %s: %s@%s", other, iface, other))
		}
	}
	all := "loadtest ports"
	if ns != "" && !strings.Contains(ns, "/") {
		all = "ip -br -n " + ns + " link"
	}
	if len(hints) > 0 {
		hints := strings.Join(hints, "; ")
		text += ". " + strings.ToUpper(hints[:1]) + hints[1:]
	}
	return fmt.Errorf("%s. All: %s", text, all)
}

// near picks the names that are at most two letters from the wanted one, or begin with it.
func near(want string, names []string) (found []string) {
	for _, name := range names {
		d := spell.Slips(want, name)
		if d <= 1 || d == 2 && len(want) > 3 || want != "" && strings.HasPrefix(name, want) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// list joins names, the first twelve of them.
func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	if len(names) > 12 {
		return strings.Join(names[:12], ", ") + fmt.Sprintf(" and %d more", len(names)-12)
	}
	return strings.Join(names, ", ")
}
