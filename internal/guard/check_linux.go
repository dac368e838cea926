package guard

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"loadtest/internal/netns"
)

// Check says why a port is not to be loaded: then the error is a *Refused. env is the environment, as os.Getenv. Loopback and
// interfaces that are down are always good. Another loadtest is seen here only as a program that receives: Hold says more.
func Check(p Port, env func(string) string) error {
	if p.Forced {
		return nil
	}
	here, err := netns.ID("")
	if err != nil {
		return fmt.Errorf("port %q: %w", p.Name, err)
	}
	proc := os.DirFS("/proc")
	f := facts{session: find(env, proc, os.Getppid())}
	err = netns.Within(p.Namespace, func() error {
		there, err := netns.ID("")
		if err != nil {
			return err
		}
		return f.gather(p.Interface, here == there)
	})
	switch {
	case errors.Is(err, errMissing):
		return netns.Missing(p.Interface, p.Namespace)
	case err != nil:
		return fmt.Errorf("port %q: %w", p.Name, err)
	}
	if reasons := judge(f, p.ip()); len(reasons) > 0 {
		return &Refused{p.Name, reasons}
	}
	return nil
}

// ip is how ip(8) is called for the port's namespace.
func (p Port) ip() string {
	switch {
	case p.Namespace == "":
		return "ip"
	case strings.Contains(p.Namespace, "/"):
		return "nsenter --net=" + p.Namespace + " ip"
	}
	return "ip -n " + p.Namespace
}

var errMissing = errors.New("no such interface")

// gather asks the kernel about the thread's namespace; home is the process's own.
func (f *facts) gather(iface string, home bool) (err error) {
	if f.links, err = links(); err != nil {
		return fmt.Errorf("list interfaces: %w", err)
	}
	i := slices.IndexFunc(f.links, func(l link) bool { return l.name == iface })
	if i < 0 {
		return errMissing
	}
	f.index = f.links[i].index
	if f.defaults, err = defaults(); err != nil {
		return fmt.Errorf("list routes: %w", err)
	}
	if home && f.session.client.IsValid() {
		f.toClient = f.way(f.session.client)
	}
	if f.readers, err = readers(f.index); err != nil {
		return fmt.Errorf("list packet sockets: %w", err)
	}
	return nil
}

// links lists the interfaces with their addresses.
func links() (all []link, err error) {
	found, err := whole(netlink.LinkList)
	if err != nil {
		return nil, err
	}
	addresses, err := whole(func() ([]netlink.Addr, error) { return netlink.AddrList(nil, netlink.FAMILY_ALL) })
	if err != nil {
		return nil, err
	}
	for _, it := range found {
		a := it.Attrs()
		l := link{
			index: a.Index, lower: a.ParentIndex, master: a.MasterIndex, name: a.Name, kind: it.Type(),
			loopback: a.Flags&net.FlagLoopback != 0, up: a.Flags&net.FlagUp != 0,
		}
		// What is below a veth is its peer, another end; and what is in another namespace has an index there.
		if l.kind == "veth" || l.kind == "netkit" || a.NetNsID >= 0 {
			l.lower = 0
		}
		if x := a.Xdp; x != nil && x.Attached {
			l.xdp, l.program = true, x.ProgId
		}
		for _, address := range addresses {
			if ip, ok := netip.AddrFromSlice(address.IP); ok && address.LinkIndex == l.index {
				l.addresses = append(l.addresses, ip.Unmap())
			}
		}
		all = append(all, l)
	}
	return all, nil
}

// defaults lists the interfaces that the default routes of the main table go out of.
func defaults() (indexes []int, err error) {
	for _, family := range []int{netlink.FAMILY_V4, netlink.FAMILY_V6} {
		routes, err := whole(func() (all []netlink.Route, err error) {
			filter := &netlink.Route{Table: unix.RT_TABLE_MAIN, Type: unix.RTN_UNICAST} // Dst nil: the default
			const by = netlink.RT_FILTER_TABLE | netlink.RT_FILTER_TYPE | netlink.RT_FILTER_DST
			err = netlink.RouteListFilteredIter(family, filter, by, func(r netlink.Route) bool {
				all = append(all, r)
				return true
			})
			return all, err
		})
		if err != nil {
			return nil, err
		}
		for _, r := range routes {
			if r.LinkIndex != 0 {
				indexes = append(indexes, r.LinkIndex)
			}
			for _, hop := range r.MultiPath {
				indexes = append(indexes, hop.LinkIndex)
			}
		}
	}
	return indexes, nil
}

// whole calls dump again while others change what it lists.
func whole[T any](dump func() ([]T, error)) (all []T, err error) {
	for range 10 {
		if all, err = dump(); !errors.Is(err, netlink.ErrDumpInterrupted) {
			return all, err
		}
	}
	return all, nil // as good as it gets
}

// way is the index of the interface that packets to an address leave by; 0: none.
func (f *facts) way(to netip.Addr) int {
	if zone := to.Zone(); zone != "" {
		for _, l := range f.links {
			if l.name == zone {
				return l.index
			}
		}
		return 0
	}
	routes, err := netlink.RouteGet(net.IP(to.AsSlice()))
	if err != nil || len(routes) == 0 {
		return 0
	}
	return routes[0].LinkIndex
}
