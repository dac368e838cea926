package preflight

import (
	"encoding/binary"
	"errors"

	"loadtest/packet"
)

// A Check looks at each record that is about to be sent: can it leave through the port as it is?
type Check struct {
	name func(file uint16) string
	p    Port
	skip Skips
	t    Tally
}

// NewCheck makes a Check of records for a port. name is what messages call a record's file.
func NewCheck(name func(file uint16) string, p Port, skip Skips) *Check {
	return &Check{name: name, p: p, skip: skip}
}

// A Tally is what a Check saw of records as they would leave. A record that fails several checks counts in the first.
type Tally struct {
	Packets int64 `json:"packets"` // looked at
	Bytes   int64 `json:"bytes"`
	Sent    int64 `json:"sent"` // of these, what the port takes and nobody leaves out
	Kept    int64 `json:"sent_bytes"`

	NoEthernet Seen   `json:"no_ethernet"`
	Link       uint16 `json:"no_ethernet_link_type,omitzero"` // of the first
	Short      Seen   `json:"too_short"`                      // for an Ethernet header
	Snapped    Seen   `json:"snapped"`
	Oversize   Seen   `json:"too_long"`
	Merged     int64  `json:"too_long_merged_tcp"`         // of the too long ones, what looks like TCP that receive offload merged
	Trailing   int64  `json:"too_long_by_trailer"`         // of the too long ones, those whose IP packet is not: an FCS may follow it
	Need       int    `json:"needed_frame_bytes,omitzero"` // longest frame that a port must take to take them all, where tags do not count
	Groups     Seen   `json:"skipped_multicast"`
}

// vlanTag is what a frame with an 802.1Q tag may be longer than the MTU allows: one tag's bytes, in Linux.
const vlanTag = 4

// Add looks at a record and says whether it is sent: what cannot be is refused or, if that was asked for, skipped.
func (k *Check) Add(r *packet.Record) (send bool) {
	t, size := &k.t, len(r.Data)
	t.Packets++
	t.Bytes += int64(size)
	switch {
	case r.Link > packet.LinkEthernet:
		if t.NoEthernet.Packets == 0 {
			t.Link = r.Link
		}
		t.NoEthernet.see(k.name, r)
	case size < packet.EtherLen:
		t.Short.see(k.name, r)
	case r.Wire > size:
		t.Snapped.see(k.name, r)
	case k.p.MaxFrame > 0 && k.counted(r.Data) > k.p.MaxFrame:
		t.Oversize.see(k.name, r)
		t.Need = max(t.Need, k.counted(r.Data))
		switch h, ok := packet.Parse(r.Data); {
		case ok && ip(&h) && h.End-(size-k.counted(r.Data)) <= k.p.MaxFrame:
			t.Trailing++
		case merged(r.Data, &h, ok):
			t.Merged++
		}
	case k.skip.Multicast && r.Data[0]&1 != 0:
		t.Groups.see(k.name, r)
	default:
		t.Sent++
		t.Kept += int64(size)
		return true
	}
	return false
}

// counted is how long a frame is as its port counts: the kernel lets one 802.1Q tag pass.
func (k *Check) counted(b []byte) int {
	if k.p.kernel() && binary.BigEndian.Uint16(b[12:]) == packet.TypeVLAN {
		return len(b) - vlanTag
	}
	return len(b)
}

// merged says whether a long frame, of which Parse said h and ok, is TCP; where the card was to cut it the length of its IP packet
// may be 0.
func merged(b []byte, h *packet.Headers, ok bool) bool {
	if !ok && h.Type == packet.TypeIPv4 && len(b) >= h.L3+20 {
		return binary.BigEndian.Uint16(b[h.L3+2:]) == 0 && b[h.L3+9] == packet.ProtoTCP
	}
	return ok && ip(h) && h.Proto == packet.ProtoTCP && !h.Fragment
}

func ip(h *packet.Headers) bool { return h.Type == packet.TypeIPv4 || h.Type == packet.TypeIPv6 }

// Tally is what was seen so far.
func (k *Check) Tally() Tally { return k.t }

// Skipped are the packets that were left out so far, by why.
func (k *Check) Skipped() Skipped {
	var s Skipped
	if k.skip.Snapped {
		s.Snapped = k.t.Snapped.Packets
	}
	if k.skip.Oversize {
		s.Oversize = k.t.Oversize.Packets
	}
	s.Multicast = k.t.Groups.Packets
	return s
}

// Skipped are packets that were left out because somebody asked for it.
type Skipped struct{ Oversize, Snapped, Multicast int64 }

// Packets are all of them.
func (s Skipped) Packets() int64 { return s.Oversize + s.Snapped + s.Multicast }

// Err refuses what cannot be sent and is not skipped: it names file, record, size, port and limit, how many there are, and what helps.
func (k *Check) Err() error {
	for _, f := range k.t.findings(k.name(0), k.p, k.skip, false) {
		if f.Level == Refuse {
			return errors.New(f.Text)
		}
	}
	return nil
}
