package dissect

import (
	"encoding/binary"

	"loadtest/packet"
)

// Inner takes one layer of encapsulation off a frame and names it. inner is an Ethernet frame; where the tunnel carries IP only,
// it is that behind the MAC addresses of the outer frame. inner is nil where nobody can look inside: ESP, MACsec, an unknown
// payload. Each inner frame is shorter than the outer one.
func Inner(b []byte) (name string, inner []byte, ok bool) {
	f := parse(b)
	if f.L3 == 0 {
		return "", nil, false
	}
	switch f.Type {
	case packet.TypeIPv4, packet.TypeIPv6:
		if !f.ok || f.Fragment {
			return "", nil, false
		}
		return f.tunnel(f.body())
	case typeMPLS:
		return "MPLS", f.mpls(f.payload()), true
	case typePPPoE:
		return "PPPoE", f.pppoe(f.payload()), true
	case typeMACsec:
		return "MACsec", nil, true
	}
	return "", nil, false
}

// tunnel looks into what follows an IP header.
func (f frame) tunnel(p []byte) (name string, inner []byte, ok bool) {
	switch f.Proto {
	case protoIPv4:
		return "IP in IP", f.framed(packet.TypeIPv4, p), true
	case protoIPv6:
		return "IP in IP", f.framed(packet.TypeIPv6, p), true
	case protoGRE:
		return "GRE", f.gre(p), true
	case packet.ProtoESP:
		return "ESP", nil, true
	case protoAH:
		return "AH", nil, true
	case protoL2TPv3:
		return "L2TPv3", l2tp(p), true
	case packet.ProtoUDP:
		if len(p) >= 8 {
			return f.udpTunnel(binary.BigEndian.Uint16(p), binary.BigEndian.Uint16(p[2:]), p[8:])
		}
	}
	return "", nil, false
}

func (f frame) udpTunnel(src, dst uint16, p []byte) (name string, inner []byte, ok bool) {
	switch {
	case dst == portVXLAN && len(p) >= 8: // RFC 7348, 5
		return "VXLAN", ethernet(p[8:]), true
	case dst == portGeneve && len(p) >= 8: // RFC 8926, 3.4
		if at := 8 + int(p[0]&0x3f)*4; at <= len(p) {
			inner = f.carried(binary.BigEndian.Uint16(p[2:]), p[at:])
		}
		return "Geneve", inner, true
	case natESP(src, dst, p):
		return "ESP in UDP", nil, true
	}
	return "", nil, false
}

// gre is what version 0 of GRE carries (RFC 2784; key and sequence number by RFC 2890).
func (f frame) gre(p []byte) []byte {
	const checksum, routing, key, sequence, version = 0x8000, 0x4000, 0x2000, 0x1000, 7
	if len(p) < 4 {
		return nil
	}
	flags, at := binary.BigEndian.Uint16(p), 4
	for _, bit := range []uint16{checksum, key, sequence} {
		if flags&bit != 0 {
			at += 4
		}
	}
	if flags&(routing|version) != 0 || at > len(p) {
		return nil
	}
	return f.carried(binary.BigEndian.Uint16(p[2:]), p[at:])
}

// mpls is what follows a stack of labels (RFC 3032, 2.1). Nothing says what that is but its first bits (RFC 4928): IP, else
// Ethernet, which may follow a control word (RFC 4448, 4.6).
func (f frame) mpls(p []byte) []byte {
	for bottom := false; !bottom; p = p[4:] {
		if len(p) < 5 {
			return nil
		}
		bottom = p[2]&1 != 0
	}
	switch p[0] >> 4 {
	case 4:
		return f.framed(packet.TypeIPv4, p)
	case 6:
		return f.framed(packet.TypeIPv6, p)
	case 0:
		if len(p) >= 4 {
			return ethernet(p[4:])
		}
	}
	return ethernet(p)
}

// pppoe is the IP packet of a session (RFC 2516, 4; protocols of RFC 1332 and RFC 5072).
func (f frame) pppoe(p []byte) []byte {
	if len(p) < 8 {
		return nil
	}
	n := int(binary.BigEndian.Uint16(p[4:])) // with the protocol
	data := p[8:max(8, min(6+n, len(p)))]
	switch binary.BigEndian.Uint16(p[6:]) {
	case 0x0021:
		return f.framed(packet.TypeIPv4, data)
	case 0x0057:
		return f.framed(packet.TypeIPv6, data)
	}
	return nil
}

// l2tp is the frame of an L2TPv3 session straight over IP (RFC 3931, 4.1.1). How long its cookie is stands nowhere in the packet:
// the length behind which an IP packet comes is taken, first the 8 bytes of RFC 8159.
func l2tp(p []byte) []byte {
	for _, at := range []int{12, 8, 4} {
		if at > len(p) {
			continue
		}
		if h, ok := packet.Parse(p[at:]); ok && (h.Type == packet.TypeIPv4 || h.Type == packet.TypeIPv6) {
			return p[at:]
		}
	}
	return nil
}

// carried is a payload whose EtherType is known.
func (f frame) carried(kind uint16, p []byte) []byte {
	if kind == typeTransparent {
		return ethernet(p)
	}
	return f.framed(kind, p)
}

// framed puts a payload behind the frame's own MAC addresses.
func (f frame) framed(kind uint16, p []byte) []byte {
	inner := make([]byte, 0, packet.EtherLen+len(p))
	inner = append(inner, f.b[:12]...)
	return append(binary.BigEndian.AppendUint16(inner, kind), p...)
}

// ethernet is a frame that is carried whole.
func ethernet(p []byte) []byte {
	if len(p) < packet.EtherLen {
		return nil
	}
	return p
}
