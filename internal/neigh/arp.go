package neigh

import (
	"encoding/binary"
	"net/netip"

	"loadtest/packet"
)

// The message of ARP and RARP (RFC 826, RFC 903): hardware and protocol with their lengths, operation, sender's MAC and IP,
// target's MAC and IP.
const (
	arpLen    = 28
	arpHead   = "\x00\x01\x08\x00\x06\x04" // Ethernet, IPv4
	arpOp     = 6
	arpSHA    = 8
	arpSPA    = 14
	arpTHA    = 18
	arpTPA    = 24
	opRequest = 1
	opReply   = 2
	opReverse = 3
)

func broadcast() [6]byte { return [6]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff} }

func (h *Host) hearARP(f *heard) (own bool) {
	m := f.b[f.l3:]
	if len(m) < arpLen || string(m[:len(arpHead)]) != arpHead {
		return false
	}
	own = h.own(f.src)
	op := binary.BigEndian.Uint16(m[arpOp:])
	mac := [6]byte(m[arpSHA:])
	if op != opRequest && op != opReply || group(mac) || mac == ([6]byte{}) || h.mine(mac) || !h.forMe(f) {
		return own
	}
	sender, target := netip.AddrFrom4([4]byte(m[arpSPA:])), netip.AddrFrom4([4]byte(m[arpTPA:]))
	h.claim(sender, mac, f.vlan, true)
	if op != opRequest || sender == target { // who asks for himself announces himself
		return own
	}
	if a := h.answering(target, f.vlan); a != nil {
		if h.sendARP(&a.Address, mac, opReply, target, mac, sender, f.now) {
			h.counts.ARP++
		} else {
			h.counts.Dropped++
		}
	}
	return own
}

// sendARP queues a message of a's, if it can.
func (h *Host) sendARP(a *Address, to [6]byte, op uint16, sender netip.Addr, mac [6]byte, target netip.Addr, now int64) bool {
	m := h.compose(a, to, packet.TypeARP, arpLen)
	if m == nil {
		return false
	}
	copy(m, arpHead)
	binary.BigEndian.PutUint16(m[arpOp:], op)
	copy(m[arpSHA:], a.MAC[:])
	copy(m[arpTHA:], mac[:])
	put4(m[arpSPA:], sender)
	put4(m[arpTPA:], target)
	h.ring.push(now)
	return true
}

// sendRARP announces the port's MAC address alone, as QEMU does after a move: a host that asks for its own IP address.
func (h *Host) sendRARP(now int64) bool {
	m := h.compose(&Address{MAC: h.o.MAC}, broadcast(), typeRARP, arpLen)
	if m == nil {
		return false
	}
	copy(m, arpHead)
	binary.BigEndian.PutUint16(m[arpOp:], opReverse)
	copy(m[arpSHA:], h.o.MAC[:])
	copy(m[arpTHA:], h.o.MAC[:])
	h.ring.push(now)
	return true
}

func put4(b []byte, ip netip.Addr) {
	a := ip.As4()
	copy(b, a[:])
}

func put6(b []byte, ip netip.Addr) {
	a := ip.As16()
	copy(b, a[:])
}
