package split

import (
	"bytes"
	"encoding/binary"

	"loadtest/packet"
)

// A key is the same for both directions of a flow: the lower address and its port, the higher one and its, protocol. Addresses
// of IPv4 are mapped into IPv6. What has no ports has 0.
type key [37]byte

func (k *key) addrs() (low, high [16]byte) { return [16]byte(k[:]), [16]byte(k[18:]) }
func (k *key) proto() uint8                { return k[36] }

// ported says whether the flow has ports: fragments have none either.
func (k *key) ported() bool { return k[16]|k[17]|k[34]|k[35] != 0 }

// A message is what is looked at of an IP packet.
type message struct {
	key
	high  bool  // it is from the high end
	flags uint8 // of TCP
}

// number is that of the message in the flow n.
func (m *message) number(n int) int {
	if m.high {
		return 2*n + 1
	}
	return 2 * n
}

// read is false of what is no IP packet, or not whole to its ports. m is zero before.
func (m *message) read(b []byte, h *packet.Headers, ok bool) bool {
	if !ok {
		return false
	}
	k := &m.key
	switch h.Type {
	case packet.TypeIPv4:
		k[10], k[11], k[18+10], k[18+11] = 0xff, 0xff, 0xff, 0xff
		copy(k[12:16], b[h.L3+12:h.L3+16])
		copy(k[18+12:18+16], b[h.L3+16:h.L3+20])
	case packet.TypeIPv6:
		copy(k[:16], b[h.L3+8:h.L3+24])
		copy(k[18:18+16], b[h.L3+24:h.L3+40])
	default:
		return false
	}
	k[36] = h.Proto
	if tcp := h.Proto == packet.ProtoTCP; !h.Fragment && (tcp || h.Proto == packet.ProtoUDP) {
		if h.L4+4 > len(b) {
			return false
		}
		copy(k[16:18], b[h.L4:h.L4+2])
		copy(k[18+16:18+18], b[h.L4+2:h.L4+4])
		if tcp {
			m.flags = b[h.L4+13]
		}
	}
	if m.high = bytes.Compare(k[:18], k[18:36]) > 0; m.high {
		src := [18]byte(k[:])
		copy(k[:18], k[18:36])
		copy(k[18:36], src[:])
	}
	return true
}

// evidence is by what the client is known; more is better.
type evidence uint8

const (
	first   evidence = iota + 1 // who spoke first, and from which port
	byHosts                     // where its hosts are in other flows
	synAck
	syn
)

// tells is what a message alone says about who sent it.
func (m *message) tells() (e evidence, fromClient bool) {
	const flagSYN, flagACK, wellKnown = 2, 16, 1024
	if m.proto() == packet.ProtoTCP && m.flags&flagSYN != 0 {
		if m.flags&flagACK != 0 {
			return synAck, false
		}
		return syn, true
	}
	src, dst := binary.BigEndian.Uint16(m.key[16:]), binary.BigEndian.Uint16(m.key[34:])
	if m.high {
		src, dst = dst, src
	}
	return first, src >= wellKnown || dst < wellKnown
}
