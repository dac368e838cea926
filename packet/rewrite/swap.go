package rewrite

import (
	"net/netip"

	"loadtest/packet"
)

// Swap makes the other direction of a store of Ethernet: the addresses of Ethernet and IP change places, and so do the ports of
// UDP and TCP; no checksum changes by that. Fragments keep their ports, since only the first has any. What is not IP, ARP too,
// changes only its MAC addresses.
//
// What goes to a group, broadcast or multicast, has no other direction, as a group is never a source: it is left out. skipped is
// how many packets that were.
func Swap(s *packet.Store) (out *packet.Store, skipped int) {
	out, skipped = keep(s, func(i int) bool { return !group(s.Frame(i).Data) })
	for i := range out.Len() {
		swap(out.Frame(i).Data)
	}
	return out, skipped
}

func swap(b []byte) {
	if len(b) < packet.EtherLen {
		return
	}
	exchange(b[:6], b[6:12])
	h, ok := packet.Parse(b)
	if !ok || h.Type != packet.TypeIPv4 && h.Type != packet.TypeIPv6 {
		return
	}
	exchange(addresses(b, h))
	if (h.Proto == packet.ProtoUDP || h.Proto == packet.ProtoTCP) && !h.Fragment && h.L4+4 <= len(b) {
		exchange(b[h.L4:h.L4+2], b[h.L4+2:h.L4+4])
	}
}

// addresses are the source and the destination of an IP packet.
func addresses(b []byte, h packet.Headers) (src, dst []byte) {
	if h.Type == packet.TypeIPv4 {
		return b[h.L3+12 : h.L3+16], b[h.L3+16 : h.L3+20]
	}
	return b[h.L3+8 : h.L3+24], b[h.L3+24 : h.L3+40]
}

func exchange(a, b []byte) {
	for i := range a {
		a[i], b[i] = b[i], a[i]
	}
}

// group says whether an end of a frame is a group. A source that is one is wrong, and as wrong as a destination.
func group(b []byte) bool {
	if len(b) < packet.EtherLen {
		return false
	}
	if (b[0]|b[6])&1 != 0 { // IEEE 802.3, 3.2.3
		return true
	}
	src, dst, ok := packet.Addresses(b)
	return ok && (groupIP(src) || groupIP(dst))
}

func groupIP(a netip.Addr) bool {
	return a.IsMulticast() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255})
}
