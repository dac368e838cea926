package rewrite

import (
	"net/netip"

	"loadtest/packet"
)

// swap makes the other direction of a frame: the addresses of Ethernet and IP change places, and so do the ports of UDP and TCP; no
// checksum changes by that. Fragments keep their ports, since only the first has any. What is not IP, ARP too, changes only its
// MAC addresses. What goes to a group has no other direction, as a group is never a source.
func swap(b []byte) {
	if len(b) < packet.EtherLen {
		return
	}
	exchange(b[:6], b[6:12])
	h, _ := packet.Parse(b)
	p, ok := look(b, h.L3, h.Type, 0)
	if !ok {
		return
	}
	exchange(p.addr(src), p.addr(dst))
	if at := p.port(src); at > 0 && !p.fragment {
		exchange(b[at:at+2], b[at+2:at+4])
	}
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
	h, _ := packet.Parse(b)
	p, ok := look(b, h.L3, h.Type, 0)
	return ok && (groupIP(address(p.addr(src))) || groupIP(address(p.addr(dst))))
}

func groupIP(a netip.Addr) bool {
	return a.IsMulticast() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255})
}
