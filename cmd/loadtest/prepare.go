package main

import (
	"fmt"
	"net/netip"
	"slices"

	"loadtest/internal/gen"
	"loadtest/internal/host"
	"loadtest/internal/split"
	"loadtest/packet"
	"loadtest/packet/rewrite"
	"loadtest/replay"
)

// A side of a capture that is split.
type side uint8

const (
	whole side = iota
	clients
	servers
)

// undivided refuses a capture with both sides of TCP that would leave by one port, unless that was asked for.
func (s *session) undivided() error {
	if s.split != "" {
		return nil
	}
	for _, st := range s.streams {
		if !st.captured() {
			continue
		}
		if n := split.TwoSidedTCP(st.read); n > 0 {
			flows := fmt.Sprintf("%d TCP flows", n)
			if n == 1 {
				flows = "a TCP flow"
			}
			return usagef("%s holds both sides of %s; sent out of one port, a firewall drops one side. SOURCE A B --split, or as it is: --split=no",
				st.from(), flows)
		}
	}
	return nil
}

// prepare makes of each stream's source what is sent: the side, the direction, Ethernet headers, addresses, what fits.
func (s *session) prepare(streams []stream) error {
	for i := range streams {
		st := &streams[i]
		var err error
		switch {
		case st.made != nil:
			err = s.make(st)
		case st.captured():
			err = s.rewrite(st)
		}
		if err != nil {
			return usageError{err}
		}
		if err := s.sendable(st); err != nil {
			return usageError{err}
		}
	}
	return nil
}

// sendable says why a stream cannot leave through its port, and which flag leaves out what is at fault.
func (s *session) sendable(st *stream) error {
	port := s.devices[st.tx].Info
	err := replay.Sendable(s.replayed(*st), port)
	p := st.packets
	for i := 0; err != nil && st.captured() && i < p.Len(); i++ {
		switch size := p.Size(i); {
		case size < packet.EtherLen:
			return err
		case p.Wire(i) > size:
			return fmt.Errorf("%w, or --skip-snapped", err)
		case port.MaxFrame > 0 && size > port.MaxFrame && p.Snapped() == 0:
			if port.Backend == "afpacket" { // what helps, too, was said
				return fmt.Errorf("%w, or --skip-oversize", err)
			}
			return fmt.Errorf("%w. To leave them out: --skip-oversize", err)
		}
	}
	return err
}

// replayed is the stream as the engine wants it.
func (s *session) replayed(st stream) replay.Stream {
	return replay.Stream{Name: st.name, Source: st.from(), Packets: st.packets, TX: st.tx, RX: st.rx, Skipped: st.skipped,
		Epoch: st.epoch, Span: st.span}
}

// make generates the packets of a gen source.
func (s *session) make(st *stream) (err error) {
	made := *st.made
	if a := s.address(st.tx, made.Src.Addr().Is4()); a != nil && a.VLAN != 0 && made.VLAN == 0 {
		if made, err = gen.Parse(fmt.Sprintf("%s,vlan=%d", st.source, a.VLAN)); err == nil && s.size != "" {
			made, err = made.With(s.size)
		}
		if err != nil {
			return fmt.Errorf("with the VLAN of --addr: %w", err)
		}
	}
	if memory := host.Read().Memory; memory > 0 && made.Bytes() > memory/4 {
		return fmt.Errorf("%s: its packets take %.3g GB, this machine has %.3g GB; want fewer flows", st.source, float64(made.Bytes())/1e9, float64(memory)/1e9)
	}
	m, err := s.macs(st, true)
	if err != nil {
		return err
	}
	st.packets, err = made.Packets(gen.Options{Src: m.Src, Dst: m.Dst, Avoid: s.taken(), Swap: st.swap})
	return err
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

// rewrite makes of a capture what is sent.
func (s *session) rewrite(st *stream) error {
	p := st.read
	if st.side != whole {
		sides, err := s.sides(p)
		if err != nil {
			return fmt.Errorf("%s: %w", st.from(), err)
		}
		a, b := sides.Stores(p)
		if a.Len() == 0 || b.Len() == 0 {
			return fmt.Errorf("%s: --split=%s leaves one side without packets (%d and %d); other ways: %s", st.from(), s.split, a.Len(), b.Len(),
				"auto, mac, a CIDR of the clients; without --split all of it leaves by one port")
		}
		st.epoch, st.span = times(p)
		if p = a; st.side == servers {
			p = b
		}
	}
	m, err := s.macs(st, false)
	if err != nil {
		return err
	}
	if p.Link > packet.LinkEthernet {
		if !m.SetDst || !m.SetSrc {
			return fmt.Errorf("%s has no Ethernet header (%s, %d): --mac-dst gw with --addr %s=IP/LEN,gw=IP, or --mac-dst MAC --mac-src MAC",
				st.from(), packet.LinkName(p.Link), p.Link, st.tx)
		}
		if p, err = rewrite.Ethernet(p, m); err != nil {
			return fmt.Errorf("%s %w", st.from(), err)
		}
	}
	st.skipped = 0
	if st.swap {
		if p, st.skipped = rewrite.Swap(p); p.Len() == 0 {
			return fmt.Errorf("%s: nothing in it has another direction", st.from())
		}
	}
	if m.SetDst || m.SetSrc {
		if p, err = m.Apply(p); err != nil {
			return fmt.Errorf("%s: %w", st.from(), err)
		}
	}
	return s.fit(st, p)
}

// sides divides a capture as --split says.
func (s *session) sides(p *packet.Store) (split.Sides, error) {
	o, err := split.Parse(s.split)
	if err != nil {
		return split.Sides{}, fmt.Errorf("--split %w", err)
	}
	return split.Decide(p, o)
}

// fit leaves out what was asked to be left out.
func (s *session) fit(st *stream, p *packet.Store) error {
	n := 0
	if s.skipSnapped {
		p, n = rewrite.SkipSnapped(p)
		st.skipped += n
	}
	if most := s.devices[st.tx].Info.MaxFrame; s.skipOversize && most > 0 {
		p, n = rewrite.Skip(p, most)
		st.skipped += n
	}
	if p.Len() == 0 {
		return fmt.Errorf("%s: all its packets (%d) are skipped: nothing to send for stream %s", st.source, st.skipped, st.name)
	}
	st.packets = p
	return nil
}

// times are the time of a capture's first packet and the length of a pass: to its last, and a mean gap.
func times(p *packet.Store) (epoch, span int64) {
	epoch = p.Frame(0).Nanos
	for i := 1; i < p.Len(); i++ {
		span += max(0, p.Frame(i).Nanos-p.Frame(i-1).Nanos)
	}
	if n := int64(p.Len() - 1); n > 0 {
		span += span / n
	}
	return epoch, span
}

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
	for i := range st.read.Len() {
		b, err := st.read.Ethernet(i, nil)
		if h, _ := packet.Parse(b); err == nil && (h.Type == packet.TypeIPv4 || h.Type == packet.TypeIPv6) {
			return h.Type == packet.TypeIPv4
		}
	}
	return true
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
