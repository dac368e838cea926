// Package survey says what a capture holds: sizes, times, flows, and what will be in the way of sending it. One pass sees each
// record once; what is kept is a flow each of a limited number, and figures.
//
//	records ─Add→ sizes, pace, frames ─Done→ Survey
package survey

import (
	"cmp"
	"slices"

	"loadtest/internal/split"
	"loadtest/internal/timeline"
	"loadtest/packet"
	"loadtest/units"
)

// mostFlows is how many flows are told apart; their table then takes 256 MB. A capture with more of them is larger than that.
const mostFlows = 4 << 20

// A Survey is what was seen of a capture. Lengths are in bytes, without FCS if nothing else is said; times are ns. What is said
// of frames is about what would be sent: packets without an Ethernet header count as if they had one.
type Survey struct {
	Packets   int64  `json:"packets"`
	Bytes     int64  `json:"captured_bytes"`
	WireBytes int64  `json:"wire_bytes"` // as long as they were on the wire
	WireBits  int64  `json:"wire_bits"`  // frames with padding and all that surrounds them
	Links     []Link `json:"links"`      // most packets first
	Sizes     Sizes  `json:"sizes"`
	Times     Times  `json:"times"`

	Snapped    Seen `json:"snapped"`      // captured short
	Longer     Seen `json:"longer"`       // captured with more bytes than they had on the wire
	Unreadable Seen `json:"unreadable"`   // of a link type that cannot be sent, or too short for its header
	Short      Seen `json:"short"`        // less than an Ethernet header
	Runts      Seen `json:"runts"`        // shorter than the shortest frame: the wire pads them
	Merged     Seen `json:"merged"`       // TCP beyond 1514 bytes and VLAN tags: receive offload merged it, or the MTU was large
	NoIPLength Seen `json:"no_ip_length"` // the IP header says 0: captured before segmentation offload
	Multicast  Seen `json:"multicast"`
	Broadcast  Seen `json:"broadcast"`
	Control    Seen `json:"control"` // to 01:80:c2:00:00:0x, which no bridge forwards; of the multicast ones

	IPv4      int64         `json:"ipv4"` // by EtherType, damaged ones too
	IPv6      int64         `json:"ipv6"`
	NonIP     []split.Count `json:"non_ip"` // these, IPv4 and IPv6 and what is unreadable are all packets
	ARP       int64         `json:"arp"`
	Damaged   Seen          `json:"damaged"` // IP with headers that are cut or contradict themselves
	Fragments int64         `json:"fragments"`
	Tagged    int64         `json:"vlan_tagged"`

	TCP     int64 `json:"tcp"` // packets, fragments too
	UDP     int64 `json:"udp"`
	ICMP    int64 `json:"icmp"` // also ICMPv6
	OtherIP int64 `json:"other_ip"`

	Flows    split.Counts `json:"flows"`
	Taggable Taggable     `json:"taggable"`

	// Wrong checksums of whole packets. Offload leaves them to the card, so captures of a sender's own packets have many.
	WrongIPv4 Seen `json:"wrong_ipv4_checksum"` // of the header
	WrongTCP  Seen `json:"wrong_tcp_checksum"`
	WrongUDP  Seen `json:"wrong_udp_checksum"`

	flows *split.Flows
	kinds split.Kinds
	links map[uint16]int64 // but for the latest:
	link  Link
	buf   []byte
	pace  pace
}

// A Link is how many packets have a link type.
type Link struct {
	Type    uint16 `json:"link_type"`
	Name    string `json:"name"`
	Packets int64  `json:"packets"`
}

// Taggable are packets with room for the tester's tag.
type Taggable struct {
	Auto   int64 `json:"auto"` // where nothing is lost by it
	Always int64 `json:"always"`
}

// Seen counts records of which something is true.
type Seen struct {
	Packets int64          `json:"packets"`
	First   timeline.Place `json:"first"`
	Size    int            `json:"first_bytes"`      // of the first, as captured
	Wire    int            `json:"first_wire_bytes"` // that it had on the wire
	Longest int            `json:"longest_wire_bytes"`
}

func (s *Seen) see(r *packet.Record) {
	if s.Packets++; s.Packets == 1 {
		s.First, s.Size, s.Wire = place(r), len(r.Data), r.Wire
	}
	s.Longest = max(s.Longest, r.Wire)
}

func place(r *packet.Record) timeline.Place { return timeline.Place{File: r.File, Number: r.Number} }

// New is a Survey of nothing yet.
func New() *Survey {
	s := &Survey{flows: split.NewFlows(mostFlows), kinds: make(split.Kinds), links: make(map[uint16]int64)}
	s.Sizes.Buckets = buckets()
	s.pace.begin()
	return s
}

// Add sees the next record. Times are taken as they are: of several files a timeline makes one capture first.
func (s *Survey) Add(r *packet.Record) {
	s.Packets++
	s.Bytes += int64(len(r.Data))
	s.WireBytes += int64(r.Wire)
	if r.Link != s.link.Type {
		s.turn(r.Link)
	}
	s.link.Packets++
	switch n := len(r.Data); {
	case r.Wire > n:
		s.Snapped.see(r)
	case r.Wire < n:
		s.Longer.see(r)
	}
	b, frame := r.Data, r.Wire
	if r.Link > packet.LinkEthernet {
		var err error
		if b, err = r.Ethernet(s.buf); err == nil {
			s.buf = b
			frame = max(0, frame+len(b)-len(r.Data))
		} else {
			s.Unreadable.see(r)
		}
	}
	bits := units.WireBits(frame)
	s.WireBits += bits
	s.Sizes.add(frame, s.Packets == 1)
	s.Times.add(r, bits, &s.pace)
	if b != nil {
		s.frame(r, b, frame)
	}
}

// turn goes on to packets of another link type.
func (s *Survey) turn(typ uint16) {
	if s.link.Packets > 0 {
		s.links[s.link.Type] += s.link.Packets
	}
	s.link = Link{Type: typ}
}

// Done completes the figures, once all records were added.
func (s *Survey) Done() {
	s.turn(s.link.Type)
	s.Links = make([]Link, 0, len(s.links))
	for typ, n := range s.links {
		s.Links = append(s.Links, Link{Type: typ, Name: packet.LinkName(typ), Packets: n})
	}
	slices.SortFunc(s.Links, func(a, b Link) int {
		return cmp.Or(cmp.Compare(b.Packets, a.Packets), cmp.Compare(a.Type, b.Type))
	})
	if s.Packets > 0 {
		s.Sizes.Mean = float64(s.WireBytes) / float64(s.Packets)
	}
	s.NonIP, s.ARP = s.kinds.Counts(), s.kinds[packet.TypeARP]
	s.Flows = s.flows.Counts()
	s.Times.done(s.Packets, s.WireBits, &s.pace)
}

// Foreign is the link type, other than Ethernet, that most packets have; 0: all are Ethernet.
func (s *Survey) Foreign() uint16 {
	for _, l := range s.Links {
		if l.Type > packet.LinkEthernet {
			return l.Type
		}
	}
	return 0
}
