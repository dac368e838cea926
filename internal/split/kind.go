package split

import (
	"cmp"
	"fmt"
	"slices"

	"loadtest/packet"
)

// A Kind is what a frame is that belongs to no flow: an EtherType, or one of the below.
type Kind uint16

const (
	tooShort Kind = iota // for an Ethernet header
	llc                  // IEEE 802.3: a length in place of the EtherType
)

// KindOf is that of a frame, of which Parse said h. An IP packet that belongs to no flow is one that is cut or damaged.
func KindOf(b []byte, h *packet.Headers) Kind {
	switch {
	case len(b) < packet.EtherLen:
		return tooShort
	case h.Type < 0x0600:
		return llc
	}
	return Kind(h.Type)
}

// String is the protocol's name, else its EtherType.
func (k Kind) String() string {
	switch k {
	case tooShort:
		return "too short"
	case llc:
		return "802.3 LLC"
	case packet.TypeIPv4:
		return "IPv4, cut or damaged"
	case packet.TypeIPv6:
		return "IPv6, cut or damaged"
	case packet.TypeARP:
		return "ARP"
	case packet.TypeLLDP:
		return "LLDP"
	case packet.TypeVLAN, packet.TypeQinQ:
		return "VLAN, cut"
	}
	name, ok := map[Kind]string{0x8035: "RARP", 0x8808: "flow control", 0x8809: "slow protocol", 0x8847: "MPLS", 0x8848: "MPLS multicast",
		0x8863: "PPPoE discovery", 0x8864: "PPPoE", 0x888e: "802.1X", 0x88e5: "MACsec", 0x88f7: "PTP", 0x8902: "CFM", 0x9000: "loopback test"}[k]
	if !ok {
		name = fmt.Sprintf("EtherType 0x%04x", uint16(k))
	}
	return name
}

// Kinds counts packets.
type Kinds map[Kind]int64

// A Count is how many packets are of a kind.
type Count struct {
	Kind    string `json:"kind"`
	Packets int64  `json:"packets"`
}

// Counts are those of all kinds, most packets first.
func (k Kinds) Counts() []Count {
	all := make([]Count, 0, len(k))
	for kind, n := range k {
		all = append(all, Count{Kind: kind.String(), Packets: n})
	}
	slices.SortFunc(all, func(a, b Count) int { return cmp.Or(cmp.Compare(b.Packets, a.Packets), cmp.Compare(a.Kind, b.Kind)) })
	return all
}
