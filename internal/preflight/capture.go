package preflight

import (
	"slices"
	"strings"

	"loadtest/packet"
	"loadtest/units"
)

// A Capture is what is known of a source that was read once. Lengths are without FCS. What was not measured is nil.
type Capture struct {
	Name      string   `json:"file"`
	Format    []string `json:"format"` // in words: pcapng 1.0 little-endian, zstd, 3 interfaces
	Cut       string   `json:"cut"`    // where and how it ends too early; "": it does not
	FCS       int      `json:"fcs_removed_bytes"`
	Packets   int64    `json:"packets"`
	Bytes     int64    `json:"captured_bytes"`
	WireBytes int64    `json:"wire_bytes"`
	WireBits  int64    `json:"wire_bits"` // with padding and all that surrounds frames

	Links   []Link  `json:"links"`
	Sizes   Sizes   `json:"sizes"`
	Times   Times   `json:"times"`
	Kinds   []Count `json:"kinds"` // what the packets are; each is of one kind
	Apart   []Count `json:"also"`  // what some of them are besides: fragments, VLAN tags
	Flows   Flows   `json:"flows"`
	Sides   *Sides  `json:"sides"`
	Tagged  Tagged  `json:"taggable"`
	Wrong   []Wrong `json:"wrong_checksums"`
	Snapped Seen    `json:"snapped"`
	Short   Seen    `json:"too_short"`      // for an Ethernet header
	Runts   Seen    `json:"padded_by_wire"` // shorter than the shortest frame
	Merged  Seen    `json:"merged_by_offload"`
	NoIPLen Seen    `json:"ip_length_zero"`
	Damaged Seen    `json:"damaged_ip"` // headers that are cut or contradict themselves
	Groups  Seen    `json:"multicast_broadcast"`
	Control Seen    `json:"link_control"` // that bridges keep: LLDP, STP, LACP, pause
}

// A Link is how many packets have a link type.
type Link struct {
	Type    uint16 `json:"link_type"`
	Name    string `json:"name"`
	Packets int64  `json:"packets"`
}

// Sizes are the lengths of frames on the wire, also of those that get an Ethernet header.
type Sizes struct {
	Min     int      `json:"min_bytes"`
	Max     int      `json:"max_bytes"`
	Mean    *float64 `json:"mean_bytes"` // nil: some have no Ethernet header yet
	Buckets []Bucket `json:"buckets"`
}

// A Bucket counts frames of lengths from From to To.
type Bucket struct {
	From    int   `json:"from_bytes"`
	To      int   `json:"to_bytes"`
	Packets int64 `json:"packets"`
}

// A Count is packets of one kind.
type Count struct {
	Kind    string `json:"kind"`
	Packets int64  `json:"packets"`
}

// Flows are what the packets belong to.
type Flows struct {
	TCP      int64   `json:"tcp"`
	TwoSided int64   `json:"tcp_two_sided"` // of these, of how many both sides are there
	Opened   int64   `json:"tcp_opened"`    // of these, how many have a SYN
	AtLeast  bool    `json:"at_least"`      // there are more: not all could be told apart
	Kinds    []Count `json:"kinds"`         // all flows by kind, TCP too; Packets counts flows
}

// Sides are who sent how many packets.
type Sides struct {
	Rule      string  `json:"rule"` // of --split
	Client    int64   `json:"client"`
	Server    int64   `json:"server"`
	Undecided []Count `json:"undecided"` // of these, what no rule was about
}

// Tagged are packets with room for the tester's tag.
type Tagged struct {
	Auto   int64 `json:"auto"` // where nothing is lost
	Always int64 `json:"always"`
}

// Wrong are packets whose checksum is wrong.
type Wrong struct {
	Protocol string `json:"protocol"`
	Seen
}

// Seen counts records of which something is true.
type Seen struct {
	Packets int64 `json:"packets"`
	First   Place `json:"first,omitzero"`
	Size    int   `json:"first_bytes,omitzero"`      // of the first, as captured
	Wire    int   `json:"first_wire_bytes,omitzero"` // that it had on the wire
	Longest int   `json:"longest_bytes,omitzero"`
}

// see counts a record.
func (s *Seen) see(name func(uint16) string, r *packet.Record) {
	if s.Packets == 0 {
		s.First, s.Size, s.Wire = Place{name(r.File), r.Number}, len(r.Data), r.Wire
	}
	s.Packets++
	s.Longest = max(s.Longest, len(r.Data))
}

// frame is the mean frame, padded, in bytes without FCS.
func (c *Capture) frame() float64 {
	if c.Packets == 0 {
		return 0
	}
	return float64(c.WireBits)/8/float64(c.Packets) - units.Overhead
}

// tally is what a Check would have seen, but for frames that are too long for a port.
func (c *Capture) tally(o Options) Tally {
	t := Tally{Packets: c.Packets, Bytes: c.Bytes, Snapped: c.Snapped, Short: c.Short}
	for _, l := range c.Links {
		if l.Type <= packet.LinkEthernet || o.MACs && carried(l.Type) {
			continue
		}
		if t.NoEthernet.Packets == 0 || !carried(l.Type) && carried(t.Link) {
			t.Link = l.Type
		}
		t.NoEthernet.Packets += l.Packets
	}
	return t
}

// carried says whether packets of a link type can be given an Ethernet header.
func carried(link uint16) bool {
	return slices.Contains([]uint16{packet.LinkRaw, packet.LinkLoop, packet.LinkSLL, packet.LinkSLL2, packet.LinkIPv4, packet.LinkIPv6}, link) ||
		strings.HasPrefix(packet.LinkName(link), "raw")
}
