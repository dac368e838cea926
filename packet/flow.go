package packet

import "encoding/binary"

// Flow is a 64-bit hash of what a device is expected to leave of a packet: addresses, protocol and ports of IP; of all else the
// EtherType and the payload without trailing zeros (padding). MAC addresses, VLAN tags and TTL do not count: routers change them.
func Flow(b []byte) uint64 {
	h, ok := Parse(b)
	return FlowOf(b, h, ok)
}

// FlowOf is the Flow of a frame that was parsed already.
func FlowOf(b []byte, h Headers, ok bool) uint64 {
	if !ok || h.Type != TypeIPv4 && h.Type != TypeIPv6 {
		return rest(b, h)
	}
	f := mix(uint64(h.Type)<<8 | uint64(h.Proto))
	if h.Type == TypeIPv4 {
		f = mix(f ^ binary.BigEndian.Uint64(b[h.L3+12:])) // source and destination
	} else {
		for at := h.L3 + 8; at < h.L3+40; at += 8 {
			f = mix(f ^ binary.BigEndian.Uint64(b[at:]))
		}
	}
	if (h.Proto == ProtoUDP || h.Proto == ProtoTCP) && !h.Fragment && h.L4+4 <= len(b) {
		f = mix(f ^ uint64(binary.BigEndian.Uint32(b[h.L4:])))
	}
	return f
}

func rest(b []byte, h Headers) uint64 {
	at := min(h.L3, len(b))
	end := len(b)
	for end > at && b[end-1] == 0 {
		end--
	}
	f := mix(uint64(h.Type))
	for _, c := range b[at:end] {
		f = (f ^ uint64(c)) * 0x100000001b3 // FNV-1a
	}
	return mix(f)
}

// mix is the finalizer of splitmix64.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
