package diagnose

import (
	"fmt"
	"slices"
	"strings"
)

// silence is what is left to say where nothing speaks for another cause.
func silence(s *Seen, st *Stream) (all []Finding) {
	ports := s.ports(st)
	if len(ports) == 0 {
		return nil
	}
	if f, ok := noGateway(s, st); ok {
		all = append(all, f)
	}
	var deaf []string
	for _, p := range ports {
		if len(p.Heard.groups) == 0 && len(p.Gateways) == 0 {
			deaf = append(deaf, p.Name)
		}
	}
	slices.Sort(deaf) // both directions say the same
	switch {
	case len(deaf) == 2:
		return append(all, Finding{Silence, "", st.RX,
			strings.Join(deaf, " and ") + " hear nothing at all: they lead elsewhere, or the device is off, or drops without a word",
			"loadtest ports shows the others; cables, power; the device's routes and filters"})
	case slices.Contains(deaf, st.RX):
		return append(all, Finding{Silence, "", st.RX,
			st.RX + " hears nothing at all: it leads elsewhere, or the device does not forward",
			"loadtest ports shows the others; the device's routes and filters"})
	}
	return append(all, Finding{Silence, "", st.RX, "the device drops the packets, or never gets them", "its counters, routes and filters say which"})
}

// noGateway speaks of packets that were made for a bridge or a cable. Nothing says that there is a router instead, but many forget.
func noGateway(s *Seen, st *Stream) (f Finding, ok bool) {
	rx := s.port(st.RX)
	if st.Captured || st.To != rx.MAC || rx.MAC == [6]byte{} {
		return f, false
	}
	address := "IP/LEN"
	if p := s.port(st.TX); len(p.Addrs) > 0 {
		address = p.Addrs[0].String()
	}
	return Finding{Silence, st.Name, st.TX,
		fmt.Sprintf("%s is sent to %s's own MAC address, which a bridge or a cable brings there, but no router", st.Source, rx.Name),
		fmt.Sprintf("to a router: --addr %s=%s,gw=IP, or --mac-dst %s=MAC", st.TX, address, st.TX)}, true
}
