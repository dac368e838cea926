package dissect

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"loadtest/packet"
)

// icmp says whether the frame is ICMP of its own IP version.
func (f frame) icmp() bool {
	return f.ok && !f.Fragment && (f.Type == packet.TypeIPv4 && f.Proto == packet.ProtoICMP || f.Type == packet.TypeIPv6 && f.Proto == packet.ProtoICMPv6)
}

// icmpLine is a line about ICMP, ICMPv6, multicast listeners and routers; ND of addresses is a resolution.
func (f frame) icmpLine(p []byte) string {
	v6 := f.Type == packet.TypeIPv6
	name := "ICMP"
	if v6 {
		name = "ICMPv6"
	}
	src, _ := f.addrs()
	if q, ok := quoted(f); ok {
		return name + " " + q.String()
	}
	if len(p) < 4 {
		return fmt.Sprintf("%s %s, cut, %s", name, f.way(), f.size())
	}
	switch kind := p[0]; {
	case !v6 && kind == 8 || v6 && kind == 128:
		return fmt.Sprintf("%s ping %s", name, f.way())
	case !v6 && kind == 0 || v6 && kind == 129:
		return fmt.Sprintf("%s ping reply %s", name, f.way())
	case v6 && (kind >= 130 && kind <= 132 || kind == 143):
		return f.groups("MLD", p)
	case v6 && kind == routerSolicitation:
		return fmt.Sprintf("ND router solicitation from %s", src)
	case v6 && kind == routerAdvertisement:
		return fmt.Sprintf("ND router advertisement from %s%s", src, prefix(p))
	}
	if reason := Reason(v6, p[0], p[1]); reason != "" {
		return fmt.Sprintf("%s %s from %s, quoting nothing", name, reason, src)
	}
	return fmt.Sprintf("%s type %d %s, %s", name, p[0], f.way(), f.size())
}

// prefix is what a router advertises (RFC 4861, 4.6.2).
func prefix(p []byte) string {
	if len(p) < 16 {
		return ""
	}
	v := option(p[16:], 3)
	if len(v) < 30 || v[0] > 128 {
		return ""
	}
	return fmt.Sprintf(", prefix %s", netip.PrefixFrom(addr(v[14:30]), int(v[0])))
}

// groups is a line about membership of multicast groups: IGMP (RFC 2236, RFC 9776) or MLD (RFC 2710, RFC 9777), which differ
// in the length of an address and where it stands.
func (f frame) groups(name string, p []byte) string {
	src, _ := f.addrs()
	n := src.BitLen() / 8
	at := map[int]int{4: 4, 16: 8}[n]
	if len(p) < at+n {
		return fmt.Sprintf("%s from %s", name, src)
	}
	verb := "report"
	switch p[0] {
	case 0x11, 130:
		return fmt.Sprintf("%s query from %s", name, src)
	case 0x12, 0x16, 131:
	case 0x17, 132:
		verb = "leave"
	case 0x22, 143: // records behind their number; the first one's group is told
		if at = 8 + 4; binary.BigEndian.Uint16(p[6:]) == 0 || len(p) < at+n {
			return fmt.Sprintf("%s report from %s", name, src)
		}
	default:
		return fmt.Sprintf("%s type %d from %s", name, p[0], src)
	}
	return fmt.Sprintf("%s %s of %s from %s", name, verb, addr(p[at:at+n]), src)
}
