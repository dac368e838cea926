package survey

import (
	"bytes"
	"encoding/binary"

	"loadtest/internal/split"
	"loadtest/packet"
	"loadtest/units"
)

// mostFrame is the longest Ethernet frame of an ordinary MTU, 1500, without VLAN tags.
const mostFrame = packet.EtherLen + 1500

// frame looks at the Ethernet frame that a record is or becomes, and which was so long on the wire.
func (s *Survey) frame(r *packet.Record, b []byte, wire int) {
	if wire < units.MinFrame {
		s.Runts.see(r)
	}
	if len(b) < packet.EtherLen {
		s.Short.see(r)
	} else if b[0]&1 == 1 {
		s.group(r, b)
	}
	h, ok := packet.Parse(b)
	if tagged(b) {
		s.Tagged++
		wire -= h.L3 - packet.EtherLen
	}
	switch h.Type {
	case packet.TypeIPv4:
		s.IPv4++
	case packet.TypeIPv6:
		s.IPv6++
	default:
		s.kinds[split.KindOf(b, &h)]++
		return
	}
	s.ip(r, b, &h, ok)
	if ok { // without what follows the packet, as an FCS
		wire = min(wire, h.End-h.L3+packet.EtherLen)
	}
	if h.Proto == packet.ProtoTCP && !h.Fragment && wire > mostFrame {
		s.Merged.see(r)
	}
}

// group looks at a frame for several stations.
func (s *Survey) group(r *packet.Record, b []byte) {
	switch dst := [6]byte(b); {
	case dst == [6]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}:
		s.Broadcast.see(r)
		return
	case bytes.HasPrefix(dst[:], []byte{0x01, 0x80, 0xc2, 0, 0}) && dst[5] < 0x10: // IEEE 802.1Q, 8.6.3
		s.Control.see(r)
	}
	s.Multicast.see(r)
}

func tagged(b []byte) bool {
	if len(b) < packet.EtherLen {
		return false
	}
	typ := binary.BigEndian.Uint16(b[12:])
	return typ == packet.TypeVLAN || typ == packet.TypeQinQ
}

// ip looks at an IP packet, of which Parse said h and ok.
func (s *Survey) ip(r *packet.Record, b []byte, h *packet.Headers, ok bool) {
	switch {
	case lengthless(b[h.L3:]):
		s.NoIPLength.see(r)
	case !ok:
		s.Damaged.see(r)
	}
	if h.L4 > 0 {
		switch h.Proto {
		case packet.ProtoTCP:
			s.TCP++
		case packet.ProtoUDP:
			s.UDP++
		case packet.ProtoICMP, packet.ProtoICMPv6:
			s.ICMP++
		default:
			s.OtherIP++
		}
	}
	if h.Fragment {
		s.Fragments++
	}
	s.flows.Add(b, h, ok)
	if packet.TagOffset(b, packet.TagAlways) >= 0 {
		s.Taggable.Always++
		if packet.TagOffset(b, packet.TagAuto) >= 0 {
			s.Taggable.Auto++
		}
	}
	s.checksums(r, b, h, ok)
}

// lengthless says whether an IP header says 0 where the packet's length should be; in IPv6 that is right where nothing follows.
func lengthless(ip []byte) bool {
	switch {
	case len(ip) >= 20 && ip[0]>>4 == 4:
		return ip[2]|ip[3] == 0
	case len(ip) >= 40 && ip[0]>>4 == 6:
		return ip[4]|ip[5] == 0 && ip[6] == packet.ProtoTCP
	}
	return false
}
