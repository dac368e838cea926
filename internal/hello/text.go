package hello

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// String is what the device does: "one hop (TTL 64→63), addresses unchanged"; "" where nothing came back.
func (c *Change) String() string {
	if len(c.steps) == 0 {
		return ""
	}
	hops, bridged := c.hops()
	parts := append(hops, few(c.kinds(func(s step) string { return s.wrapping }))...)
	parts = append(parts, few(c.kinds(func(s step) string { return retagged(s.from.vlan, s.to.vlan) }))...)
	ends := c.end("source", func(t tuple) netip.AddrPort { return t.src })
	ends = append(ends, c.end("destination", func(t tuple) netip.AddrPort { return t.dst })...)
	if parts = append(parts, ends...); !bridged && ends == nil && len(c.exact) > 0 {
		parts = append(parts, "addresses unchanged")
	}
	switch text := strings.Join(parts, ", "); {
	case !bridged:
		return text
	case text == "":
		return "bridged: nothing changed"
	default:
		return "bridged: " + text
	}
}

// kinds are the different texts of the steps.
func (c *Change) kinds(of func(step) string) (all []string) {
	for _, s := range c.steps {
		if text := of(s); text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// few are the first two texts, and a sign that there are more.
func few(all []string) []string {
	if len(all) <= 2 {
		return all
	}
	return []string{all[0], all[1], "…"}
}

// hops is how many routers the device is, or that it is none: bridged.
func (c *Change) hops() (parts []string, bridged bool) {
	least, most := 255, -255
	kinds := c.kinds(func(s step) string {
		if !s.from.ip || !s.to.ip {
			return ""
		}
		n := int(s.from.ttl) - int(s.to.ttl)
		if least, most = min(least, n), max(most, n); n == 0 {
			return ""
		}
		return fmt.Sprintf("%d→%d", s.from.ttl, s.to.ttl)
	})
	ttl := "TTL " + strings.Join(few(kinds), ", ")
	switch {
	case kinds == nil:
		return c.rewritten(least <= most)
	case least < 0 || most > 32: // set, not counted down
		return []string{ttl}, false
	case least != most:
		return []string{fmt.Sprintf("%d to %d hops (%s)", least, most, ttl)}, false
	case least == 1:
		return []string{"one hop (" + ttl + ")"}, false
	case least == 2:
		return []string{"two hops (" + ttl + ")"}, false
	}
	return []string{fmt.Sprintf("%d hops (%s)", least, ttl)}, false
}

// rewritten is what a device does that leaves the TTL, where there is one, as it is.
func (c *Change) rewritten(ttl bool) (parts []string, bridged bool) {
	i := slices.IndexFunc(c.steps, func(s step) bool { return s.from.mac != s.to.mac })
	if i < 0 {
		return nil, true
	}
	if ttl {
		parts = []string{"TTL unchanged"}
	}
	from := c.steps[i].to.mac[1]
	return append(parts, fmt.Sprintf("MAC addresses rewritten (from %s)", net.HardwareAddr(from[:]))), false
}

// retagged is what became of VLAN tags; "" if nothing did.
func retagged(from, to string) string {
	switch {
	case from == to:
		return ""
	case from == "":
		return "VLAN " + to + " added"
	case to == "":
		return "VLAN " + from + " removed"
	}
	return "VLAN " + from + "→" + to
}

// end is what became of the sources or destinations; nil if nothing did.
func (c *Change) end(name string, of func(tuple) netip.AddrPort) (parts []string) {
	was, is := map[netip.Addr]bool{}, map[netip.Addr]bool{}
	addresses := c.kinds(func(s step) string {
		from, to := of(s.from.ends).Addr(), of(s.to.ends).Addr()
		if !s.comparable() || from == to {
			return ""
		}
		was[from], is[to] = true, true
		return fmt.Sprintf("%s → %s", from, to)
	})
	ports := c.kinds(func(s step) string {
		from, to := of(s.from.ends).Port(), of(s.to.ends).Port()
		if !s.comparable() || from == to {
			return ""
		}
		return fmt.Sprintf("%d → %d", from, to)
	})
	switch {
	case len(addresses) == 1:
		parts = append(parts, name+" "+addresses[0])
	case len(is) == 1:
		_, to, _ := strings.Cut(addresses[0], " → ")
		parts = append(parts, fmt.Sprintf("%d %ss → %s", len(was), name, to))
	case addresses != nil:
		parts = append(parts, fmt.Sprintf("%d %ss translated (%s)", len(was), name, strings.Join(few(addresses), ", ")))
	}
	switch {
	case len(ports) == 1:
		parts = append(parts, name+" port "+ports[0])
	case ports != nil:
		parts = append(parts, fmt.Sprintf("%s ports translated (%s)", name, strings.Join(few(ports), ", ")))
	}
	return parts
}
