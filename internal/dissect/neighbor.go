package dissect

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"loadtest/packet"
)

// A resolution is ARP (RFC 826) or neighbour discovery (RFC 4861, 4.3 and 4.4) about one address.
type resolution struct {
	nd, ask  bool
	announce bool // ARP about the sender's own address (RFC 5227, 3)
	target   netip.Addr
	asker    netip.Addr // invalid where there is none: a probe (RFC 5227, 2.1; RFC 4862, 5.4.2)
	mac      [6]byte    // of who sends, by what the message says
}

// String is the line about it.
func (r resolution) String() string {
	protocol := "ARP"
	if r.nd {
		protocol = "ND"
	}
	switch {
	case r.announce:
		return fmt.Sprintf("%s announcement %s from %s", protocol, r.target, mac(r.mac[:]))
	case !r.ask:
		return fmt.Sprintf("%s %s is-at %s", protocol, r.target, mac(r.mac[:]))
	case r.asker.IsValid():
		return fmt.Sprintf("%s who-has %s from %s (%s)", protocol, r.target, mac(r.mac[:]), r.asker)
	}
	return fmt.Sprintf("%s who-has %s from %s", protocol, r.target, mac(r.mac[:]))
}

// Question is what an ARP request or a neighbour solicitation asks, and who. asker is invalid where the message is a probe. An
// ARP announcement asks nothing.
func Question(b []byte) (target, asker netip.Addr, from [6]byte, nd, ok bool) {
	r, ok := parse(b).resolution()
	if !ok || !r.ask {
		return netip.Addr{}, netip.Addr{}, [6]byte{}, false, false
	}
	return r.target, r.asker, r.mac, r.nd, true
}

// Binding is what ARP or neighbour discovery says of its own sender.
func Binding(b []byte) (mac [6]byte, ip netip.Addr, ok bool) {
	r, ok := parse(b).resolution()
	if ip = r.target; r.ask {
		ip = r.asker
	}
	if !ok || !ip.IsValid() || ip.IsUnspecified() || r.mac == [6]byte{} || r.mac[0]&1 != 0 {
		return [6]byte{}, netip.Addr{}, false
	}
	return r.mac, ip, true
}

// Role is "STP", "802.1X" or "LLDP" for what a switch's port sends, "" for all else.
func Role(b []byte) string {
	f := parse(b)
	if _, ok := f.bpdu(); ok {
		return "STP"
	}
	return map[uint16]string{typeEAPOL: "802.1X", packet.TypeLLDP: "LLDP"}[f.Type]
}

func (f frame) resolution() (r resolution, ok bool) {
	if f.Type == packet.TypeARP && f.L3 > 0 {
		return f.arp()
	}
	if f.ok && f.Type == packet.TypeIPv6 && f.Proto == packet.ProtoICMPv6 && !f.Fragment {
		return f.nd()
	}
	return r, false
}

func (f frame) arp() (r resolution, ok bool) {
	p := f.payload()
	if len(p) < 28 || binary.BigEndian.Uint64(p)>>16 != 0x0001_0800_0604 { // Ethernet, IPv4, 6 and 4 bytes
		return r, false
	}
	op, sender := binary.BigEndian.Uint16(p[6:]), addr(p[14:18])
	if op != 1 && op != 2 {
		return r, false
	}
	r.target = addr(p[24:28])
	copy(r.mac[:], p[8:14])
	r.announce = sender == r.target
	switch r.ask = op == 1 && !r.announce; {
	case !r.ask:
		r.target = sender
	case !sender.IsUnspecified():
		r.asker = sender
	}
	return r, true
}

func (f frame) nd() (r resolution, ok bool) {
	p := f.body()
	if len(p) < 24 || p[0] != solicitation && p[0] != advertisement {
		return r, false
	}
	r.nd, r.ask, r.target = true, p[0] == solicitation, addr(p[8:24])
	if src, _ := f.addrs(); r.ask && !src.IsUnspecified() {
		r.asker = src
	}
	copy(r.mac[:], f.b[6:12]) // where no option says more
	kind := byte(2)           // target's link-layer address
	if r.ask {
		kind = 1 // source's
	}
	if v := option(p[24:], kind); len(v) >= 6 {
		copy(r.mac[:], v)
	}
	return r, true
}

// Types of neighbour discovery (RFC 4861, 4).
const (
	routerSolicitation = 133 + iota
	routerAdvertisement
	solicitation
	advertisement
	redirect6
)

// option is the value of the first option of a kind (RFC 4861, 4.6).
func option(p []byte, kind byte) []byte {
	for len(p) >= 8 {
		n := int(p[1]) * 8
		if n == 0 || n > len(p) {
			break
		}
		if p[0] == kind {
			return p[2:n]
		}
		p = p[n:]
	}
	return nil
}
