// Package diagnose says why packets do not come back, from what both ports saw.
//
//	Seen (streams, ports, heard frames) ─Of→ []Finding, worst first ─→ text: evidence, "likely", what mends it
//
// It is pure: no port, no clock.
package diagnose

import (
	"net/netip"

	"loadtest/units"
)

// Seen is what was observed while a few packets of each stream were sent.
type Seen struct {
	Streams []Stream
	Ports   []Port // nothing is known of one that is not listed
}

// A Stream is what became of the packets of one stream.
type Stream struct {
	Name, Source string // Source as messages call it: a file's name, gen:64
	TX, RX       string // names of ports
	Captured     bool   // its addresses are as captured, not made by the tester

	Due, Sent, Back int // packets: to be sent, taken by Send, back, each once

	To           [6]byte    // destination MAC of most of its packets
	FromIP, ToIP netip.Addr // of the first, invalid without IP
	Size         int        // bytes without FCS of the longest

	Wrong []Wrong
	Odd   []Odd
	Told  []Told
}

// Wrong is packets of a stream that came back at a port where nobody expects them.
type Wrong struct {
	Port    string
	Packets int
}

// How says why a packet of ours is not recognised as the one that was sent.
type How uint8

// The reasons, worst first.
const (
	Cut          How = iota // shorter than it was sent: the tag is gone
	Fragment                // of IP
	Changed                 // as long as it was, other payload
	OtherVLAN               // a VLAN tag more, less or another: only where that is what keeps it from being matched
	Encapsulated            // inside another packet
)

// Odd is packets that are ours, at the right port, and not recognised.
type Odd struct {
	How     How
	In      string // Encapsulated: "ESP", "GRE", "VXLAN", …; else what changed, as "1514 → 1000 B" or "VLAN 10 → 20"
	Packets int
	Example string // one of them, decoded
}

// Told is ICMP that quotes a packet of the stream (RFC 792, RFC 4443).
type Told struct {
	Type, Code uint8
	V6         bool
	From       netip.Addr // who says so
	Itself     bool       // who says so is where the packet was to go
	Port       string     // where it came in
	MTU        int        // of fragmentation needed, packet too big; else 0
	Gateway    netip.Addr // of a redirect
	Packets    int
}

// A Port is what one of the tester's ports saw.
type Port struct {
	Name     string
	Down     bool          // the link
	Line     units.BitRate // 0: unknown
	MAC      [6]byte
	Offered  int64          // frames that Send took
	Driver   int64          // frames that the driver says it sent; -1: it does not tell
	TxErrors int64          // of the driver
	Addrs    []netip.Prefix // that the tester answers for
	Gateways []netip.Addr   // that it knows a MAC address of

	Heard     Heard
	Questions []Question
	Neighbors []Neighbor
}

// A Question is ARP or neighbour discovery that asks for an address (RFC 826, RFC 4861).
type Question struct {
	Target, Asker netip.Addr // Asker may be invalid: a probe
	From          [6]byte
	ND            bool
	Packets       int
	End           bool // the address is an end of a stream: with an address in its network the port answers for it, too
	Answered      bool // by the tester, or by somebody else on the wire
}

// A Neighbor is who sends on a port's wire: not the tester.
type Neighbor struct {
	MAC  [6]byte
	IP   netip.Addr // from its ARP or ND; may be invalid
	Role string     // "", "STP", "802.1X", "LLDP": what it was heard with
}
