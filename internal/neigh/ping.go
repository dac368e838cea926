package neigh

import (
	"encoding/binary"
	"net/netip"

	"loadtest/packet"
)

// Echo: RFC 792, RFC 4443 section 4.
const (
	echoRequest  = 8
	echoReply    = 0
	echoRequest6 = 128
	echoReply6   = 129
	ttl          = 64
)

// hearICMP answers an echo request.
func (h *Host) hearICMP(f *heard) {
	p, ok := packet.Parse(f.b)
	if !ok || p.Fragment || p.End > len(f.b) {
		return
	}
	ip, m := f.b[p.L3:p.L4], f.b[p.L4:p.End]
	src, dst := netip.AddrFrom4([4]byte(ip[12:])), netip.AddrFrom4([4]byte(ip[16:]))
	if m[0] != echoRequest || m[1] != 0 || !h.pingable(f, src, dst) {
		return
	}
	a := h.answering(dst, f.vlan)
	if a == nil || checksum(0, ip) != 0 || checksum(0, m) != 0 {
		return
	}
	r := h.compose(&a.Address, f.src, packet.TypeIPv4, 20+len(m))
	if r == nil {
		h.counts.Dropped++
		return
	}
	r[0], r[1], r[6], r[8], r[9] = 0x45, ip[1], 0x40, ttl, packet.ProtoICMP // don't fragment: no number is needed (RFC 6864)
	binary.BigEndian.PutUint16(r[2:], uint16(len(r)))
	put4(r[12:], dst)
	put4(r[16:], src)
	binary.BigEndian.PutUint16(r[10:], checksum(0, r[:20]))
	echo := r[20:]
	copy(echo, m)
	echo[0], echo[2], echo[3] = echoReply, 0, 0
	binary.BigEndian.PutUint16(echo[2:], checksum(0, echo))
	h.ring.push(f.now)
	h.counts.Ping++
}

// ping6 answers an echo request.
func (h *Host) ping6(f *heard, ip []byte) {
	m := ip[40:]
	src, dst := netip.AddrFrom16([16]byte(ip[8:])), netip.AddrFrom16([16]byte(ip[24:]))
	if m[1] != 0 || !h.pingable(f, src, dst) {
		return
	}
	a := h.answering(dst, f.vlan)
	if a == nil || checksum6(ip) != 0 {
		return
	}
	r := h.compose(&a.Address, f.src, packet.TypeIPv6, len(ip))
	if r == nil {
		h.counts.Dropped++
		return
	}
	header6(r, ttl, dst, src)
	echo := r[40:]
	copy(echo, m)
	echo[0], echo[2], echo[3] = echoReply6, 0, 0
	binary.BigEndian.PutUint16(echo[2:], checksum6(r))
	h.ring.push(f.now)
	h.counts.Ping++
}

// pingable tells whether an echo request is from one host, another one, and for this one alone.
func (h *Host) pingable(f *heard, src, dst netip.Addr) bool {
	limited := netip.AddrFrom4([4]byte{255, 255, 255, 255}) // broadcast (RFC 919)
	return h.mine(f.dst) && !h.mine(f.src) && !group(f.src) &&
		!src.IsUnspecified() && !src.IsMulticast() && src != limited && src != dst
}

// header6 writes the IPv6 header of an ICMPv6 message, all but the traffic class, which is zero.
func header6(ip []byte, hops byte, src, dst netip.Addr) {
	ip[0], ip[6], ip[7] = 0x60, packet.ProtoICMPv6, hops
	binary.BigEndian.PutUint16(ip[4:], uint16(len(ip)-40))
	put6(ip[8:], src)
	put6(ip[24:], dst)
}

// checksum6 is that of an ICMPv6 message behind its IPv6 header, with the pseudo-header of RFC 8200 section 8.1; 0 if the one that
// it has is right.
func checksum6(ip []byte) uint16 {
	sum := uint32(len(ip)-40) + packet.ProtoICMPv6
	for i := 8; i < 40; i += 2 {
		sum += uint32(binary.BigEndian.Uint16(ip[i:]))
	}
	return checksum(sum, ip[40:])
}

// checksum is the Internet checksum (RFC 1071) of b and what was summed before.
func checksum(sum uint32, b []byte) uint16 {
	for ; len(b) >= 2; b = b[2:] {
		sum += uint32(binary.BigEndian.Uint16(b))
	}
	if len(b) == 1 {
		sum += uint32(b[0]) << 8
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
