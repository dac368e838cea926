package guard

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// facts are what is known of the namespace of a port.
type facts struct {
	index    int // of the port's interface
	links    []link
	defaults []int // indexes of the interfaces that default routes go out of
	session  session
	toClient int       // index of the interface that the route to the session's client goes out of; 0: it does not start here
	readers  []process // other programs that receive all frames of the port
}

// A link is an interface.
type link struct {
	index, lower, master int // lower: the interface that it is made on, as a VLAN's; 0: none
	name, kind           string
	addresses            []netip.Addr
	loopback, up         bool
	xdp                  bool
	program              uint32 // id of the XDP program
}

// A process is a running program.
type process struct {
	pid  int // 0: not known
	name string
}

// judge says why the port is not to be loaded, the worst first; ip is how ip(8) is called for its namespace.
func judge(f facts, ip string) (reasons []Reason) {
	port := f.link(f.index)
	if port.loopback || !port.up {
		return nil
	}
	if carried := f.carried(); len(carried) > 0 {
		reasons = append(reasons, Reason{"carries " + strings.Join(carried, " and "), "load on it would cut you off. Another port"})
	}
	if len(f.readers) > 0 {
		reasons = append(reasons, used(f.readers))
	}
	if port.xdp {
		reasons = append(reasons, Reason{fmt.Sprintf("has an XDP program (id %d)", port.program),
			fmt.Sprintf("stop what uses it (bpftool prog show id %d)", port.program)})
	}
	switch master := f.master(port); master.kind {
	case "":
	case "openvswitch":
		reasons = append(reasons, Reason{"is a port of Open vSwitch", "ovs-vsctl del-port " + port.name})
	default:
		reasons = append(reasons, Reason{fmt.Sprintf("is a port of %s %s", master.kind, master.name),
			fmt.Sprintf("%s link set %s nomaster", ip, port.name)})
	}
	return reasons
}

// carried is what of the user's own goes through the port.
func (f *facts) carried() (what []string) {
	above := f.above()
	if i := slices.IndexFunc(above, func(l link) bool { return slices.Contains(f.defaults, l.index) }); i == 0 {
		what = append(what, "the default route")
	} else if i > 0 {
		what = append(what, "the default route of "+above[i].name)
	}
	if s := f.session; s.client.IsValid() && !slices.ContainsFunc(f.links, s.starts) &&
		slices.ContainsFunc(above, func(l link) bool { return l.index == f.toClient || s.ends(l) }) {
		what = append(what, "your SSH session from "+s.client.String())
	}
	return what
}

// above lists the port's interface, first, and all whose packets go through it: those made on top of it, and those that it is
// a port of.
func (f *facts) above() []link {
	found := []link{f.link(f.index)}
	for i := 0; i < len(found); i++ {
		for _, l := range f.links {
			on := l.lower == found[i].index || f.master(found[i]).index == l.index
			if on && !slices.ContainsFunc(found, func(o link) bool { return o.index == l.index }) {
				found = append(found, l)
			}
		}
	}
	return found
}

// master is what joins l with other interfaces. A VRF is only a table of routes.
func (f *facts) master(l link) link {
	if m := f.link(l.master); m.kind != "vrf" {
		return m
	}
	return link{}
}

func (f *facts) link(index int) link {
	if i := slices.IndexFunc(f.links, func(l link) bool { return l.index == index }); i >= 0 && index != 0 {
		return f.links[i]
	}
	return link{}
}

// used says who receives from the port.
func used(by []process) Reason {
	var names []string
	for _, p := range by {
		if p.pid == 0 {
			names = append(names, "another program")
		} else {
			names = append(names, fmt.Sprintf("%s (pid %d)", p.name, p.pid))
		}
	}
	if len(names) == 1 {
		return Reason{"is in use by " + names[0] + ", which receives from it", "stop it"}
	}
	return Reason{"is in use by " + strings.Join(names, " and ") + ", which receive from it", "stop them"}
}
