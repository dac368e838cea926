package hello

import (
	"encoding/binary"
	"net/netip"

	"loadtest/packet"
)

// A tuple is what packet.Flow counts of an IP packet.
type tuple struct {
	proto    uint8
	ports    bool // are there
	src, dst netip.AddrPort
}

// tupleOf is that of a frame; is: it has one. Of a packet that is cut behind its IP header it is what can be read.
func tupleOf(a *arrival) (t tuple, is bool) {
	b, h := a.b, &a.h
	if h.L4 == 0 {
		return t, false
	}
	var src, dst netip.Addr
	switch h.Type {
	case packet.TypeIPv4:
		src, dst = netip.AddrFrom4([4]byte(b[h.L3+12:])), netip.AddrFrom4([4]byte(b[h.L3+16:]))
	case packet.TypeIPv6:
		src, dst = netip.AddrFrom16([16]byte(b[h.L3+8:])), netip.AddrFrom16([16]byte(b[h.L3+24:]))
	default:
		return t, false
	}
	t.proto = h.Proto
	t.ports = (h.Proto == packet.ProtoUDP || h.Proto == packet.ProtoTCP) && !h.Fragment && h.L4+4 <= len(b)
	var from, to uint16
	if t.ports {
		from, to = binary.BigEndian.Uint16(b[h.L4:]), binary.BigEndian.Uint16(b[h.L4+2:])
	}
	t.src, t.dst = netip.AddrPortFrom(src, from), netip.AddrPortFrom(dst, to)
	return t, true
}

// flow is the packet.Flow of the frames that have this tuple.
func (t tuple) flow() uint64 {
	h := packet.Headers{Type: packet.TypeIPv6, Proto: t.proto, Fragment: !t.ports, L3: packet.EtherLen}
	before := 8 // bytes of the header before its addresses
	if t.src.Addr().Is4() {
		h.Type, before = packet.TypeIPv4, 12
	}
	b := make([]byte, packet.EtherLen+before, packet.EtherLen+44)
	b = append(append(b, t.src.Addr().AsSlice()...), t.dst.Addr().AsSlice()...)
	h.L4 = len(b)
	b = binary.BigEndian.AppendUint16(b, t.src.Port())
	b = binary.BigEndian.AppendUint16(b, t.dst.Port())
	return packet.FlowOf(b, h, true)
}
