package rewrite

import (
	"encoding/binary"
	"net/netip"

	"loadtest/packet"
)

// remap changes the ends of the packet, and those of what an ICMP error quotes or neighbour discovery asks for.
func (p *ip) remap(rules []Mapping) (changed, skipped bool) {
	for e := range 2 {
		c, s := p.remapEnd(rules, e)
		changed, skipped = changed || c, skipped || s
	}
	if p.remapQuote(rules) || p.remapTarget(rules) {
		changed = true
	}
	return changed, skipped
}

func (p *ip) remapEnd(rules []Mapping, e int) (changed, skipped bool) {
	a, port, at := address(p.addr(e)), uint16(0), p.port(e)
	if at > 0 {
		port = binary.BigEndian.Uint16(p.b[at:])
	}
	ports := p.proto == packet.ProtoTCP || p.proto == packet.ProtoUDP
	to, toPort, skipped := end(rules, a, port, p.later && ports)
	if to != a {
		p.setAddr(e, to)
		changed = true
	}
	if toPort != port {
		p.setPort(at, toPort)
		changed = true
	}
	return changed, skipped
}

// remapQuote changes the packet that an ICMP error quotes, which is that of the other direction.
func (p *ip) remapQuote(rules []Mapping) bool {
	h := packet.Headers{Proto: p.proto, Fragment: p.fragment, L4: p.l4}
	s := p.sum()
	if s == 0 || !p.room(8) || !h.Quotes(p.b) {
		return false
	}
	typ := uint16(packet.TypeIPv4)
	if p.v6 {
		typ = packet.TypeIPv6
	}
	quoted, ok := look(p.b[:min(p.end, len(p.b))], p.l4+8, typ, 0)
	if !ok {
		return false
	}
	was := fold(total(quoted.b[quoted.l3:]))
	changed := false
	for e := range 2 {
		c, _ := quoted.remapEnd(rules, e)
		changed = changed || c
	}
	p.correct(s, uint32(^was)+uint32(fold(total(quoted.b[quoted.l3:]))))
	return changed
}

// remapTarget changes whom a neighbour solicitation or advertisement is about.
func (p *ip) remapTarget(rules []Mapping) bool {
	s := p.sum()
	if s == 0 || !p.discovery() || !p.room(24) || p.b[p.l4] != 135 && p.b[p.l4] != 136 {
		return false
	}
	target := p.b[p.l4+8 : p.l4+24]
	a := address(target)
	to, _, _ := end(rules, a, 0, false)
	p.correct(s, setAddress(target, to))
	return to != a
}

// discovery says whether the packet is of neighbour discovery (RFC 4861, 4).
func (p *ip) discovery() bool {
	return p.v6 && p.proto == packet.ProtoICMPv6 && !p.later && p.room(1) && p.b[p.l4] >= 133 && p.b[p.l4] <= 137
}

// remapARP changes the addresses in ARP for IPv4 over Ethernet (RFC 826); b begins with it.
func remapARP(b []byte, rules []Mapping) (changed bool) {
	if len(b) < 28 || binary.BigEndian.Uint64(b)>>16 != 0x0001_0800_0604 {
		return false
	}
	for _, at := range [2]int{14, 24} { // sender, target
		a := address(b[at : at+4])
		to, _, _ := end(rules, a, 0, false)
		setAddress(b[at:at+4], to)
		changed = changed || to != a
	}
	return changed
}

// address is the address in b, which has 4 or 16 bytes.
func address(b []byte) netip.Addr {
	a, _ := netip.AddrFromSlice(b)
	return a
}

// setAddress writes the address to b and says by how much a sum over it changed.
func setAddress(b []byte, a netip.Addr) (d uint32) {
	all := a.As16()
	to := all[16-len(b):]
	d = diff(b, to)
	copy(b, to)
	return d
}
