package main

import (
	"fmt"
	"net/netip"
	"slices"

	"loadtest/packet/rewrite"
)

// macs are the addresses that a stream's packets get. made: it has none of its own.
func (s *session) macs(st *stream, made bool) (m rewrite.MACs, err error) {
	port := s.devices[st.tx].Info.MAC
	dst, src := rule(s.macDst, st.tx), rule(s.macSrc, st.tx)
	switch {
	case dst != nil && dst.gw:
		m.Dst, err = s.gateway(st)
		m.SetDst = true
	case dst != nil:
		m.Dst, m.SetDst = dst.mac, true
	case made:
		m.Dst, err = s.nextHop(st)
		m.SetDst = true
	}
	switch a := s.address(st.tx, s.v4(st)); {
	case src != nil:
		m.Src, m.SetSrc = src.mac, true
	case made || dst != nil && dst.gw:
		m.Src, m.SetSrc = port, true
		if a != nil && a.MAC != [6]byte{} {
			m.Src = a.MAC
		}
	}
	return m, err
}

// gateway is the MAC address of the gateway of a stream's port; zero as long as nobody has asked for it.
func (s *session) gateway(st *stream) (mac [6]byte, err error) {
	asked := false
	for _, a := range s.addrs {
		asked = asked || a.port == st.tx && a.Gateway.IsValid()
	}
	if !asked {
		return mac, fmt.Errorf("--mac-dst gw: %s has no gateway; want --addr %s=IP/LEN,gw=IP", st.tx, st.tx)
	}
	h := s.hosts[st.tx]
	if h == nil {
		return mac, nil
	}
	v4 := s.v4(st)
	for _, g := range h.Gateways() {
		if g.Known && (mac == [6]byte{} || g.Gateway.Is4() == v4) {
			mac = g.MAC
		}
	}
	return mac, nil
}

// v4 says whether a stream is of IPv4.
func (s *session) v4(st *stream) bool {
	if st.made != nil {
		return st.made.Src.Addr().Is4()
	}
	return st.capture.v4
}

// nextHop is where packets go that are made here: the gateway, else the other port.
func (s *session) nextHop(st *stream) (mac [6]byte, err error) {
	for _, a := range s.addrs {
		if a.port == st.tx && a.Gateway.IsValid() {
			return s.gateway(st)
		}
	}
	if st.rx == "" {
		return mac, fmt.Errorf("%s: where to? Want --mac-dst MAC, or --addr %s=IP/LEN,gw=IP", st.source, st.tx)
	}
	if a := s.address(st.rx, st.made.Src.Addr().Is4()); a != nil && a.MAC != [6]byte{} {
		return a.MAC, nil
	}
	return s.devices[st.rx].Info.MAC, nil
}

// taken are addresses that belong to gateways and to the tester itself.
func (s *session) taken() (all []netip.Addr) {
	for _, a := range s.addrs {
		all = append(all, a.Prefix.Addr())
		if a.Gateway.IsValid() {
			all = append(all, a.Gateway)
		}
	}
	return all
}

// address is what --addr gives a port, of the family; nil without.
func (s *session) address(port string, v4 bool) *portAddress {
	i := slices.IndexFunc(s.addrs, func(a portAddress) bool { return a.port == port && a.Prefix.Addr().Is4() == v4 })
	if i < 0 {
		return nil
	}
	return &s.addrs[i]
}
