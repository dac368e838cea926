package testbed

import (
	"math"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// build makes a description of what was written: the interfaces first, as their family decides what the rest may be.
func (p *parser) build(whole block, blocks []block) (*Testbed, error) {
	t := &Testbed{RoutePrefix: "172.16", Routes: 1, Sizes: IMIX(), NegotiationTTL: time.Second}
	if err := p.interfaces(t, blocks); err != nil {
		return nil, err
	}
	for _, l := range whole.leaves {
		if err := p.setting(t, l); err != nil {
			return nil, err
		}
	}
	if _, ok := whole.find("route-prefix"); !ok && t.Family() == 6 {
		return nil, p.errorf(p.at, "route-prefix is missing: want one for IPv6, such as fd01")
	}
	return t, nil
}

// interfaces fills in the interfaces. Without any, or without public ones in IPv4, there are Vita's defaults.
func (p *parser) interfaces(t *Testbed, blocks []block) error {
	t.Private = Interface{PCI: "00:00.0", MAC: privateMAC(), IP: netip.AddrFrom4([4]byte{172, 16, 0, 10}), Nexthop: netip.AddrFrom4([4]byte{172, 16, 1, 1})}
	taken := make(map[string]place) // "ip 172.16.0.10" and so on, of the public interfaces
	private := false
	for _, b := range blocks {
		first := blocks[0]
		if b.name[len(b.name)-1] != first.name[len(first.name)-1] {
			return p.errorf(b.at, "%s beside the %s of line %d: want all of them for IPv4 or all for IPv6", b.name, first.name, first.at.line)
		}
		i, err := p.iface(b)
		if err != nil {
			return err
		}
		if strings.HasPrefix(b.name, "private") {
			t.Private, private = i, true
			continue
		}
		if err := p.alone(b, i, taken); err != nil {
			return err
		}
		t.Public = append(t.Public, i)
	}
	switch {
	case len(blocks) > 0 && !private:
		return p.errorf(blocks[0].at, "%s without a private one: want a %s", blocks[0].name, strings.Replace(blocks[0].name, "public", "private", 1))
	case len(t.Public) == 0 && t.Family() == 6:
		return p.errorf(blocks[0].at, "private-interface6 without a public one: want a public-interface6")
	case len(t.Public) == 0:
		ip := netip.AddrFrom4([4]byte{172, 16, 0, 10})
		t.Public = []Interface{{PCI: "00:00.0", IP: ip, Nexthop: ip, Queue: 1}}
	}
	return nil
}

// privateMAC is what the generated packets go to where the description names nothing else.
func privateMAC() net.HardwareAddr { return net.HardwareAddr{2, 0, 0, 0, 0, 1} }

// alone checks what no two public interfaces may share. Gateways are known by their address, so of two with the same only one
// would be left.
func (p *parser) alone(b block, i Interface, taken map[string]place) error {
	for _, field := range []struct{ name, value string }{
		{"ip", i.IP.String()}, {"nexthop-ip", i.Nexthop.String()}, {"queue", strconv.Itoa(i.Queue)},
	} {
		key := field.name + " " + field.value
		if old, ok := taken[key]; ok {
			at := b.at
			if l, ok := b.find(field.name); ok {
				at = l.wants
			}
			return p.errorf(at, "%s is taken by the %s of line %d: want one for each", key, b.name, old.line)
		}
		taken[key] = b.at
	}
	return nil
}

// iface makes an interface of a block.
func (p *parser) iface(b block) (i Interface, err error) {
	if strings.HasPrefix(b.name, "private") {
		i.MAC = privateMAC()
	} else {
		i.Queue = 1
	}
	for _, l := range b.leaves {
		if err := p.field(&i, b.name, l); err != nil {
			return i, err
		}
	}
	switch {
	case !i.IP.IsValid():
		return i, p.errorf(b.at, "%s without an ip: want its address", b.name)
	case !i.Nexthop.IsValid():
		return i, p.errorf(b.at, "%s without a nexthop-ip: want the address of the next hop", b.name)
	case i.PCI == "" && i.Ifname == "":
		return i, p.errorf(b.at, "%s without a device: want pci or ifname", b.name)
	}
	return i, nil
}

// field sets one field of an interface.
func (p *parser) field(i *Interface, block string, l leaf) error {
	family, example := 4, "172.16.0.10"
	if strings.HasSuffix(block, "6") {
		family, example = 6, "fd00:16::10"
	}
	var ok bool
	var want string
	switch l.name {
	case "pci":
		i.PCI, ok, want = l.value, isPCI(l.value), "a PCI address such as 23:00.0 or 0000:23:00.0"
	case "ifname":
		i.Ifname, ok, want = l.value, isIfname(l.value), "1..15 characters without blanks, / and :"
	case "mac":
		i.MAC, ok = mac(l.value)
		want = "six octets such as 02:00:00:00:00:01"
	case "nexthop-mac":
		i.NexthopMAC, ok = mac(l.value)
		want = "six octets such as 02:00:00:00:00:01"
	case "ip":
		i.IP, ok = address(l.value, family)
		want = "an IPv" + strconv.Itoa(family) + " address such as " + example
	case "nexthop-ip":
		i.Nexthop, ok = address(l.value, family)
		want = "an IPv" + strconv.Itoa(family) + " address such as " + example
	case "queue":
		return p.number(&i.Queue, l, 65535)
	}
	if !ok {
		return p.errorf(l.wants, "%s %s: want %s", l.name, show(l.value), want)
	}
	if i.PCI != "" && i.Ifname != "" {
		return p.errorf(l.at, "%s beside the other name of the device: want pci or ifname", l.name)
	}
	return nil
}

// setting sets one of the fields at the top.
func (p *parser) setting(t *Testbed, l leaf) error {
	switch l.name {
	case "nroutes":
		return p.number(&t.Routes, l, MaxRoutes)
	case "negotiation-ttl":
		return p.seconds(&t.NegotiationTTL, l)
	case "sa-ttl":
		return p.seconds(&t.SATTL, l)
	case "route-prefix":
		t.RoutePrefix = l.value
		if _, err := t.Host(MaxRoutes, 1); err != nil {
			want := "two octets such as 172.17"
			if t.Family() == 6 {
				want = "one group such as fd01, or a few such as fd01:5"
			}
			return p.errorf(l.wants, "route-prefix %s: want %s", show(l.value), want)
		}
	case "packet-size":
		n, ok := luaInteger(l.value)
		switch {
		case l.value == "IMIX":
		case !ok || n < t.MinSize() || n > MaxSize:
			return p.errorf(l.wants, "packet-size %s: want IMIX or %d..%d", show(l.value), t.MinSize(), MaxSize)
		default:
			t.Sizes = []int{n}
		}
	}
	return nil
}

// number reads a number from 1.
func (p *parser) number(n *int, l leaf, most int) error {
	v, ok := integer(l.value)
	if !ok || v < 1 || v > most {
		return p.errorf(l.wants, "%s %s: want 1..%d", l.name, show(l.value), most)
	}
	*n = v
	return nil
}

// seconds reads a time.
func (p *parser) seconds(d *time.Duration, l leaf) error {
	v, ok := integer(l.value)
	if !ok || v < 1 {
		return p.errorf(l.wants, "%s %s: want 1..%d seconds", l.name, show(l.value), uint32(math.MaxUint32))
	}
	*d = time.Duration(v) * time.Second
	return nil
}
