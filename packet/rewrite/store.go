package rewrite

import (
	"fmt"
	"io"

	"loadtest/packet"
)

// Apply writes the addresses into a copy of a store of Ethernet. An error names the first record, from 1, that is shorter than
// an Ethernet header.
func (m MACs) Apply(s *packet.Store) (*packet.Store, error) {
	if s.Link > packet.LinkEthernet {
		return nil, noEthernet(s.Link)
	}
	for i := range s.Len() {
		if n := s.Size(i); n < packet.EtherLen {
			return nil, fmt.Errorf("record %d: %d bytes are no Ethernet frame", i+1, n)
		}
	}
	return Ethernet(s, m)
}

// Ethernet gives the packets of a store of raw IP, loopback or Linux cooked captures an Ethernet header in place of their own,
// for which both addresses must be set. Packets of Ethernet only get the addresses. Errors name the record, from 1.
func Ethernet(s *packet.Store, m MACs) (*packet.Store, error) {
	in, err := s.Open()
	if err != nil {
		return nil, err
	}
	r := Rules{MACs: m}.Reader(in)
	out := &packet.Store{Link: min(s.Link, packet.LinkEthernet)}
	out.Grow(s.Len(), int(s.Bytes())+s.Len()*packet.EtherLen)
	for {
		var rec packet.Record
		switch err := r.Next(&rec); err {
		case nil:
			out.Append(rec.Data, rec.Nanos, rec.Wire)
		case io.EOF:
			return out, nil
		default:
			return nil, err
		}
	}
}

func noEthernet(link uint16) error {
	return fmt.Errorf("no Ethernet header (%s, %d)", packet.LinkName(link), link)
}

// keep copies the packets that pass, and says how many did not.
func keep(s *packet.Store, pass func(i int) bool) (out *packet.Store, skipped int) {
	packets, bytes := 0, 0
	for i := range s.Len() {
		if pass(i) {
			packets++
			bytes += s.Size(i)
		}
	}
	out = &packet.Store{Link: s.Link}
	out.Grow(packets, bytes)
	for i := range s.Len() {
		if pass(i) {
			f := s.Frame(i)
			out.Append(f.Data, f.Nanos, s.Wire(i))
		}
	}
	return out, s.Len() - packets
}

// Skip leaves out the frames that a port does not take, which are longer than maxFrame bytes without FCS, and says how many
// there were. As in Linux, a frame with an 802.1Q tag may be longer by the tag's 4 bytes.
func Skip(s *packet.Store, maxFrame int) (*packet.Store, int) {
	return keep(s, func(i int) bool { return fits(s.Frame(i).Data, maxFrame) })
}

// SkipSnapped leaves out the packets that were captured short, and says how many there were.
func SkipSnapped(s *packet.Store) (*packet.Store, int) {
	return keep(s, func(i int) bool { return s.Wire(i) <= s.Size(i) })
}
