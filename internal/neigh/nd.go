package neigh

import (
	"encoding/binary"
	"net/netip"

	"loadtest/packet"
)

// Neighbour discovery: RFC 4861 sections 4.3 and 4.4. A message is 24 bytes and options.
const (
	typeSolicitation  = 135
	typeAdvertisement = 136
	ndTarget          = 8
	ndLen             = 24
	optionSource      = 1 // link-layer address of who sends
	optionTarget      = 2 // link-layer address of the target
	optionLen         = 8

	flagSolicited = 0x40
	flagOverride  = 0x20
)

// solicited is the solicited-node group of an address (RFC 4291 section 2.7.1).
func solicited(ip netip.Addr) netip.Addr {
	a := ip.As16()
	return netip.AddrFrom16([16]byte{0: 0xff, 1: 2, 11: 1, 12: 0xff, 13: a[13], 14: a[14], 15: a[15]})
}

// groupMAC is the Ethernet address of an IPv6 group (RFC 2464 section 7).
func groupMAC(ip netip.Addr) [6]byte {
	a := ip.As16()
	return [6]byte{0x33, 0x33, a[12], a[13], a[14], a[15]}
}

// hearICMPv6 sorts echo requests and neighbour discovery.
func (h *Host) hearICMPv6(f *heard) (own bool) {
	p, ok := packet.Parse(f.b)
	if !ok || p.End > len(f.b) {
		return false
	}
	ip := f.b[f.l3:p.End]
	switch ip[40] {
	case echoRequest6:
		h.ping6(f, ip)
	case typeSolicitation, typeAdvertisement:
		own = h.own(f.src)
		h.discover(f, ip)
	}
	return own
}

// discover looks whether a message is valid (RFC 4861 section 7.1) and for this Host.
func (h *Host) discover(f *heard, ip []byte) {
	m := ip[40:]
	if !h.forMe(f) || ip[7] != 255 || m[1] != 0 || len(m) < ndLen || checksum6(ip) != 0 {
		return
	}
	src, dst := netip.AddrFrom16([16]byte(ip[8:])), netip.AddrFrom16([16]byte(ip[24:]))
	target := netip.AddrFrom16([16]byte(m[ndTarget:]))
	mac, given, ok := linkAddress(m)
	if !given {
		mac = f.src
	}
	if !ok || src.IsMulticast() || target.IsMulticast() || group(mac) || h.mine(mac) {
		return
	}
	switch {
	case m[0] == typeSolicitation && src.IsUnspecified() && (given || dst != solicited(target)):
	case m[0] == typeSolicitation && (dst == target || dst == solicited(target)):
		h.solicitation(f, src, target, mac, given)
	case m[0] == typeAdvertisement && !(dst.IsMulticast() && m[4]&flagSolicited != 0):
		h.claim(target, mac, f.vlan, m[4]&flagOverride != 0)
	}
}

// linkAddress is the first one among the options of a message; ok is false where an option is none.
func linkAddress(m []byte) (mac [6]byte, given, ok bool) {
	want := byte(optionSource)
	if m[0] == typeAdvertisement {
		want = optionTarget
	}
	for o := m[ndLen:]; len(o) > 0; {
		if len(o) < optionLen || o[1] == 0 || len(o) < int(o[1])*8 {
			return mac, given, false
		}
		if o[0] == want && !given {
			mac, given = [6]byte(o[2:]), true
		}
		o = o[int(o[1])*8:]
	}
	return mac, given, true
}

// solicitation answers one: to the asker, or to all where it looks whether an address is free (RFC 4861 section 7.2.4).
func (h *Host) solicitation(f *heard, src, target netip.Addr, mac [6]byte, given bool) {
	if given {
		h.claim(src, mac, f.vlan, true)
	}
	a := h.answering(target, f.vlan)
	if a == nil || src == target {
		return
	}
	flags := byte(flagSolicited | flagOverride)
	if src.IsUnspecified() {
		src, flags = netip.IPv6LinkLocalAllNodes(), flagOverride
		mac = groupMAC(src)
	}
	if h.sendND(&a.Address, mac, typeAdvertisement, flags, target, src, target, f.now) {
		h.counts.ND++
	} else {
		h.counts.Dropped++
	}
}

// sendND queues a message of a's with its link-layer address, if it can.
func (h *Host) sendND(a *Address, to [6]byte, kind, flags byte, src, dst, target netip.Addr, now int64) bool {
	ip := h.compose(a, to, packet.TypeIPv6, 40+ndLen+optionLen)
	if ip == nil {
		return false
	}
	header6(ip, 255, src, dst)
	m := ip[40:]
	m[0], m[4] = kind, flags
	put6(m[ndTarget:], target)
	m[ndLen], m[ndLen+1] = optionSource, 1
	if kind == typeAdvertisement {
		m[ndLen] = optionTarget
	}
	copy(m[ndLen+2:], a.MAC[:])
	binary.BigEndian.PutUint16(m[2:], checksum6(ip))
	h.ring.push(now)
	return true
}
