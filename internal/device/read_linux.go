package device

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"loadtest/internal/guard"
	"loadtest/internal/link"
	"loadtest/internal/netns"
	"loadtest/internal/xdp"
)

// Local is the machine that this runs on.
func Local() Machine { return ReadMachine(os.DirFS("/sys"), os.DirFS("/proc")) }

// All lists the Ethernet interfaces of the current network namespace and of those that have a name, without loopback, and the network
// devices on the PCI bus that none of them stands for. env is the environment, as os.Getenv. The error is of namespaces that could not
// be looked into; the rest is listed.
func All(env func(string) string) (all []Device, err error) {
	pci := readPCI(os.DirFS("/sys"), os.DirFS("/proc"))
	var errs []error
	seen := make(map[uint64]bool)
	for _, ns := range append([]string{""}, netns.Names()...) {
		if id, err := netns.ID(ns); err == nil {
			if seen[id] { // the current one may have a name, too
				continue
			}
			seen[id] = true
		}
		found, err := interfaces(ns, func(l netlink.Link) bool { return l.Attrs().EncapType == "ether" }, pci)
		if err != nil {
			errs = append(errs, err)
		}
		all = append(all, found...)
	}
	for i := range all {
		refused(&all[i], env)
	}
	for _, d := range pci {
		if !slices.ContainsFunc(all, func(a Device) bool { return a.PCI == d.PCI }) {
			d.Wire = link.Unknown()
			all = append(all, d)
		}
	}
	return all, errors.Join(errs...)
}

// Find is one interface of a namespace, "" is the current one. The error says which name may have been meant.
func Find(iface, ns string, env func(string) string) (d Device, err error) {
	pci := readPCI(os.DirFS("/sys"), os.DirFS("/proc"))
	found, err := interfaces(ns, func(l netlink.Link) bool { return l.Attrs().Name == iface }, pci)
	switch {
	case err != nil:
		return d, err
	case len(found) == 0:
		return d, netns.Missing(iface, ns)
	}
	refused(&found[0], env)
	return found[0], nil
}

// refused asks whether a run would load the device.
func refused(d *Device, env func(string) string) {
	var r *guard.Refused
	if errors.As(guard.Check(guard.Port{Name: d.Port(), Interface: d.Name, Namespace: d.Namespace}, env), &r) {
		d.Refused = r.Reasons
	}
}

// interfaces lists those of a namespace that are wanted. One that goes away meanwhile is left out.
func interfaces(ns string, want func(netlink.Link) bool, pci []Device) (all []Device, err error) {
	err = netns.Within(ns, func() error {
		links, err := netlink.LinkList()
		if err != nil && !errors.Is(err, netlink.ErrDumpInterrupted) {
			return fmt.Errorf("list interfaces: %w", err)
		}
		for _, it := range links {
			if !want(it) {
				continue
			}
			l, f, err := link.Open(it.Attrs().Name)
			switch {
			case errors.Is(err, link.ErrNoInterface):
				continue
			case err != nil:
				return fmt.Errorf("%s: %w", it.Attrs().Name, err)
			}
			d := Device{Namespace: ns}
			d.ask(it, l, f, pci)
			l.Close()
			all = append(all, d)
		}
		return nil
	})
	return all, err
}

// ask fills in what is known of an interface of the thread's namespace.
func (d *Device) ask(it netlink.Link, l *link.Link, f link.Facts, pci []Device) {
	a := it.Attrs()
	d.Settings = l.Settings()
	d.NUMA = -1
	if i := slices.IndexFunc(pci, func(p Device) bool { return p.PCI == d.Settings.Bus }); i >= 0 {
		d.PCI, d.IOMMU, d.NUMA, d.IRQs = pci[i].PCI, pci[i].IOMMU, pci[i].NUMA, pci[i].IRQs
	}
	d.Name, d.Kind, d.Driver, d.Speed = a.Name, it.Type(), l.Driver(), l.Speed()
	d.Set, d.Up, d.MAC, d.MTU, d.Wire = a.Flags&net.FlagUp != 0, f.Up, f.MAC, f.MTU, l.Wire()
	d.Promiscuous = a.Promisc > 0
	if x := a.Xdp; x != nil && x.Attached {
		d.XDP = new(x.ProgId)
	}
	if offered, err := xdp.Ask(a.Index); err == nil {
		d.XDPFeatures = &offered
	}
	addresses, _ := netlink.AddrList(it, unix.AF_UNSPEC)
	for _, address := range addresses {
		if ip, ok := netip.AddrFromSlice(address.IP); ok {
			ones, _ := address.Mask.Size()
			d.Addresses = append(d.Addresses, netip.PrefixFrom(ip.Unmap(), ones))
		}
	}
}
