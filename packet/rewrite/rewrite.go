// Package rewrite changes packets when they are loaded, so that they can leave through a port: new stores, never the old one.
// Times, lengths on the wire and marks of short capture stay with their packets.
//
//	captured Store ─Ethernet, MACs.Apply, Swap, Skip→ Store to send
package rewrite

import (
	"fmt"

	"loadtest/packet"
)

// MACs are the addresses to write into Ethernet headers.
type MACs struct {
	Dst, Src       [6]byte
	SetDst, SetSrc bool
}

func (m MACs) write(b []byte) {
	if m.SetDst {
		copy(b, m.Dst[:])
	}
	if m.SetSrc {
		copy(b[6:], m.Src[:])
	}
}

// Apply writes the addresses into a copy of a store of Ethernet. An error names the first record, from 1, that is shorter than
// an Ethernet header.
func (m MACs) Apply(s *packet.Store) (*packet.Store, error) {
	if s.Link > packet.LinkEthernet {
		return nil, noEthernet(s)
	}
	for i := range s.Len() {
		if n := s.Size(i); n < packet.EtherLen {
			return nil, fmt.Errorf("record %d: %d bytes are no Ethernet frame", i+1, n)
		}
	}
	out, _ := keep(s, func(int) bool { return true })
	for i := range out.Len() {
		m.write(out.Frame(i).Data)
	}
	return out, nil
}

func noEthernet(s *packet.Store) error {
	return fmt.Errorf("no Ethernet header (%s, %d)", packet.LinkName(s.Link), s.Link)
}

// Ethernet gives the packets of a store of raw IP, loopback or Linux cooked captures an Ethernet header in place of their own,
// for which both addresses must be set. A store of Ethernet only gets the addresses. Errors name the record, from 1.
func Ethernet(s *packet.Store, m MACs) (*packet.Store, error) {
	if s.Link <= packet.LinkEthernet {
		return m.Apply(s)
	}
	if !m.SetDst || !m.SetSrc {
		return nil, fmt.Errorf("%w: want a destination and a source MAC address for a new one", noEthernet(s))
	}
	out := &packet.Store{Link: packet.LinkEthernet}
	out.Grow(s.Len(), int(s.Bytes())+s.Len()*packet.EtherLen)
	var buf []byte
	var err error
	for i := range s.Len() {
		if buf, err = s.Ethernet(i, buf); err != nil {
			return nil, err
		}
		m.write(buf)
		out.Append(buf, s.Frame(i).Nanos, len(buf)+s.Wire(i)-s.Size(i))
	}
	return out, nil
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
