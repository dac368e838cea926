package dut

import (
	"encoding/binary"
	"slices"
)

// An icmpError is what a router tells a sender: types and codes of RFC 792 and RFC 4443.
type icmpError struct{ type4, code4, type6 byte }

var (
	packetTooBig = icmpError{3, 4, 2}
	hopsExceeded = icmpError{11, 0, 3}
)

// icmpMax is the length in bytes of an error with its IP header: RFC 1812 section 4.3.2.3, RFC 4443 section 3.
const (
	icmpMax4 = 576
	icmpMax6 = 1280
)

func (nd *node) tooBig(in *iface, f *frame, mtu int, t int64) {
	nd.complain(in, f, packetTooBig, mtu, t)
}

func (nd *node) timeExceeded(in *iface, f *frame, t int64) { nd.complain(in, f, hopsExceeded, 0, t) }

// complain sends an error about a packet back to where it came from, with as much of it as may be quoted.
func (nd *node) complain(in *iface, f *frame, e icmpError, mtu int, t int64) {
	ip := f.data[ethernet:]
	v6 := ip[0]>>4 == 6
	own := nd.own4
	if v6 {
		own = nd.own6
	}
	i := slices.IndexFunc(own, func(o ownAddress) bool { return o.in == in })
	if i < 0 {
		i = 0
	}
	if len(own) == 0 || !deservesError(ip, v6) {
		return
	}
	var reply *frame
	if v6 {
		reply = nd.net.error6(ip[:40+int(binary.BigEndian.Uint16(ip[4:]))], own[i].address, e, mtu)
	} else {
		reply = nd.net.error4(ip[:binary.BigEndian.Uint16(ip[2:])], own[i].address, e, mtu)
	}
	length := len(reply.data) - ethernet
	back := via{out: in, mac: [6]byte(f.data[6:])}
	if f.outer != 0 { // it came out of a tunnel, and so the error goes back through one
		routes, src := nd.v4, address{lo: uint64(binary.BigEndian.Uint32(ip[12:]))}
		if v6 {
			routes, src = nd.v6, address{binary.BigEndian.Uint64(ip[8:]), binary.BigEndian.Uint64(ip[16:])}
		}
		v := find(routes, src)
		if v == nil || v.out == nil {
			nd.net.slab.put(reply)
			return
		}
		back = *v
	}
	nd.net.totals.ICMP++
	back.send(reply, length, t)
}

// deservesError follows RFC 1122 section 3.2.2: no error about an error, a fragment but the first, or what went to many.
func deservesError(ip []byte, v6 bool) bool {
	if v6 {
		return ip[24] != 0xff && !(ip[6] == 58 && len(ip) > 40 && ip[40] < 128)
	}
	header := int(ip[0]&15) * 4
	if binary.BigEndian.Uint16(ip[6:])&0x1fff != 0 || ip[16] >= 224 {
		return false
	}
	if ip[9] != 1 || len(ip) <= header {
		return true
	}
	switch ip[header] {
	case 0, 8, 13, 14: // queries and their answers
		return true
	}
	return false
}

func (n *Network) error4(about []byte, src address, e icmpError, mtu int) *frame {
	about = about[:min(len(about), icmpMax4-28)]
	f := n.slab.get(ethernet + 28 + len(about))
	clear(f.data[:ethernet+28])
	binary.BigEndian.PutUint16(f.data[12:], typeIPv4)
	ip := f.data[ethernet:]
	ip[0], ip[8], ip[9] = 0x45, 64, 1
	binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)))
	binary.BigEndian.PutUint32(ip[12:], uint32(src.lo))
	copy(ip[16:20], about[12:16])
	setChecksum(ip[:20], 10)
	icmp := ip[20:]
	icmp[0], icmp[1] = e.type4, e.code4
	binary.BigEndian.PutUint16(icmp[6:], uint16(min(mtu, 0xffff))) // RFC 1191 section 4
	copy(icmp[8:], about)
	setChecksum(icmp, 2)
	return f
}

func (n *Network) error6(about []byte, src address, e icmpError, mtu int) *frame {
	about = about[:min(len(about), icmpMax6-48)]
	f := n.slab.get(ethernet + 48 + len(about))
	clear(f.data[:ethernet+48])
	header6(f.data, 8+len(about), src, 64)
	ip := f.data[ethernet:]
	copy(ip[24:40], about[8:24])
	icmp := ip[40:]
	icmp[0] = e.type6
	binary.BigEndian.PutUint32(icmp[4:], uint32(mtu))
	copy(icmp[8:], about)
	setChecksum6(ip)
	return f
}

// header6 writes an IPv6 header for ICMPv6, all but the destination, behind an Ethernet header.
func header6(b []byte, payload int, src address, hops byte) {
	binary.BigEndian.PutUint16(b[12:], typeIPv6)
	ip := b[ethernet:]
	ip[0], ip[6], ip[7] = 0x60, 58, hops
	binary.BigEndian.PutUint16(ip[4:], uint16(payload))
	binary.BigEndian.PutUint64(ip[8:], src.hi)
	binary.BigEndian.PutUint64(ip[16:], src.lo)
}

// setChecksum6 writes the checksum of ICMPv6, with the pseudo-header of RFC 8200 section 8.1.
func setChecksum6(ip []byte) {
	icmp := ip[40:]
	binary.BigEndian.PutUint16(icmp[2:], 0)
	pseudo := uint64(sum16(uint64(len(icmp))+58, ip[8:40]))
	binary.BigEndian.PutUint16(icmp[2:], ^sum16(pseudo, icmp))
}
