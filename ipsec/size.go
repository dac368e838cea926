// Package ipsec knows what ESP adds to a packet.
//
//	length of the inner IP packet ─Tunnel.Size→ length of the outer IP packet ─Tunnel.MaxInner(MTU)→ longest inner one
//
// The transform is AES-GCM with an ICV of 16 bytes in tunnel mode (RFC 4303, RFC 4106).
package ipsec

// Lengths in bytes.
const (
	IPv4Header = 20 // without options
	IPv6Header = 40
	UDPHeader  = 8  // of UDP encapsulation, RFC 3948
	ESPHeader  = 8  // SPI and sequence number, RFC 4303 section 2
	IV         = 8  // RFC 4106 section 3.1
	Trailer    = 2  // pad length and next header
	ICV        = 16 // RFC 4106 section 6
	Align      = 4  // payload, padding and trailer end on such a boundary, RFC 4303 section 2.4
)

// A Tunnel is how packets are wrapped. The zero value is IPv4 outside, without UDP.
type Tunnel struct {
	IPv6 bool // the outer header is IPv6
	UDP  bool // ESP in UDP, to pass through NAT
}

// Size is the length of the outer IP packet that carries an inner IP packet of so many bytes.
func (t Tunnel) Size(inner int) int {
	return t.before() + (inner+Trailer+Align-1)/Align*Align + ICV
}

// MaxInner is the longest inner IP packet whose outer one is no longer than mtu; 0 if there is none.
func (t Tunnel) MaxInner(mtu int) int {
	return max((mtu-t.before()-ICV)/Align*Align-Trailer, 0)
}

// Header is the length of the outer IP header.
func (t Tunnel) Header() int {
	if t.IPv6 {
		return IPv6Header
	}
	return IPv4Header
}

// before is all that stands before the inner packet.
func (t Tunnel) before() int {
	n := t.Header() + ESPHeader + IV
	if t.UDP {
		n += UDPHeader
	}
	return n
}
