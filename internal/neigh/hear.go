package neigh

import (
	"encoding/binary"

	"loadtest/packet"
)

const (
	typeRARP = 0x8035 // RFC 903
	minFrame = 60     // bytes without FCS: what is shorter is padded (IEEE 802.3)
)

// A heard is a frame that came in.
type heard struct {
	b    []byte
	l3   int // where the network header begins
	vlan uint16
	dst  [6]byte
	src  [6]byte
	now  int64
}

// Hear learns from a frame that no stream expects and queues an answer to it. own tells that one of the tester's ports said it as
// a neighbour (ARP, RARP, neighbour discovery): a bridge brought it back, and it is nothing foreign.
func (h *Host) Hear(b []byte, now int64) (own bool) {
	if len(b) < packet.EtherLen {
		return false
	}
	t, vlan, l3 := binary.BigEndian.Uint16(b[12:]), uint16(0), packet.EtherLen
	if t == packet.TypeVLAN && len(b) >= packet.EtherLen+4 {
		vlan = binary.BigEndian.Uint16(b[14:]) & 0xfff
		t = binary.BigEndian.Uint16(b[16:])
		l3 += 4
	}
	ip := b[l3:]
	switch {
	case t == packet.TypeIPv4 && len(ip) > 20 && ip[9] == packet.ProtoICMP:
	case t == packet.TypeIPv6 && len(ip) > 40 && ip[6] == packet.ProtoICMPv6:
	case t == packet.TypeARP, t == typeRARP:
	default:
		return false
	}
	f := heard{b, l3, vlan, [6]byte(b), [6]byte(b[6:]), now}
	switch t {
	case packet.TypeARP:
		return h.hearARP(&f)
	case packet.TypeIPv4:
		h.hearICMP(&f)
		return false
	case packet.TypeIPv6:
		return h.hearICMPv6(&f)
	}
	return h.own(f.src) // RARP
}

// forMe tells whether the frame is for this Host or for all: a promiscuous port hears more.
func (h *Host) forMe(f *heard) bool { return group(f.dst) || h.mine(f.dst) }

// compose begins a frame from a and returns its payload of so many bytes, zeros; nil if it is too long for the port or the ring
// is full. The ring's push sends it.
func (h *Host) compose(a *Address, to [6]byte, etherType uint16, size int) []byte {
	l3 := packet.EtherLen
	if a.VLAN != 0 {
		l3 += 4
	}
	if packet.EtherLen+size > h.o.MaxFrame || h.ring.full() {
		return nil
	}
	b := h.ring.slot(max(l3+size, minFrame))
	copy(b, to[:])
	copy(b[6:], a.MAC[:])
	if a.VLAN != 0 {
		binary.BigEndian.PutUint16(b[12:], packet.TypeVLAN)
		binary.BigEndian.PutUint16(b[14:], a.VLAN)
	}
	binary.BigEndian.PutUint16(b[l3-2:], etherType)
	return b[l3 : l3+size]
}
