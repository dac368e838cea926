// Package rewrite changes packets on their way from a capture to a port, one record at a time: link header, direction, VLAN tags,
// addresses, ports, TTL, size. It counts what it touched, keeps times and marks of short capture, and leaves what it cannot read
// as it is. The rules of a packet apply in this order, whatever the order they were given in:
//
//	packet.Reader ─Ethernet header→ Swap → VLAN → Map → TTL → MACs → Resegment → Cut → Pad → Checksums→ packet.Reader
package rewrite

import (
	"fmt"

	"loadtest/packet"
	"loadtest/units"
)

// Rules say what is changed; the zero value changes nothing. Checksums are updated for what changed (RFC 1624): right ones stay
// right, wrong ones wrong, and a UDP checksum of 0 stays 0, as only Checksums makes what is wrong right. Of tunnels only the outer
// packet is changed.
type Rules struct {
	MACs
	Swap bool     // make the other direction; what goes to a group has none and is left out
	VLAN []VLANOp // one after the other
	Map  []Mapping
	TTL  TTLOp

	Resegment int  // longest frame in bytes without FCS: TCP of receive offload becomes several packets; 0: none does
	Cut       int  // longest frame in bytes without FCS: payload is cut off, but no header; 0: any
	Pad       int  // shortest frame in bytes without FCS: zeros behind the packet, as Ethernet pads; 0: any
	Checksums bool // make those of IPv4, TCP, UDP, ICMP and ICMPv6 right whatever they were
}

// Check says what cannot be meant. Sizes in its errors are with FCS, as users write them.
func (r Rules) Check() error {
	for _, size := range []struct {
		what  string
		bytes int
	}{{"resegment", r.Resegment}, {"cut", r.Cut}, {"pad", r.Pad}} {
		if size.bytes != 0 && (size.bytes < units.MinFrame || size.bytes > units.MaxSize.Frame()) {
			return fmt.Errorf("%s to %d bytes: want %d to %d, with FCS", size.what, size.bytes+units.FCS, int(units.MinSize), int(units.MaxSize))
		}
	}
	if r.Cut > 0 && r.Pad > r.Cut {
		return fmt.Errorf("pad to %d bytes, cut to %d: want pad at most as long as cut", r.Pad+units.FCS, r.Cut+units.FCS)
	}
	pushes := 0
	for _, op := range r.VLAN {
		if op.Kind == VLANPush || op.Kind == VLANTag {
			pushes++
		}
	}
	if pushes > headroom/tagLen {
		return fmt.Errorf("%d VLAN tags pushed: want at most %d", pushes, headroom/tagLen)
	}
	for i, late := range r.Map {
		for _, early := range r.Map[:i] {
			if early.From.covers(late.From) {
				return fmt.Errorf("%s never applies: %s stands before it and takes all; want the narrower one first", late, early)
			}
		}
	}
	return nil
}

// MACs are the addresses to write into Ethernet headers.
type MACs struct {
	Dst, Src       [6]byte
	SetDst, SetSrc bool
}

// write says whether there was something to write, and room for it.
func (m MACs) write(b []byte) bool {
	if len(b) < packet.EtherLen || !m.SetDst && !m.SetSrc {
		return false
	}
	if m.SetDst {
		copy(b, m.Dst[:])
	}
	if m.SetSrc {
		copy(b[6:], m.Src[:])
	}
	return true
}
