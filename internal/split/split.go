// Package split takes a capture that holds both sides of a conversation apart: what clients sent leaves by one port, what servers
// sent by another, so that a device in between sees each come from where it should.
//
//	capture ─Decide→ Sides ─Stores→ clients' packets, servers' packets
package split

import (
	"bytes"
	"encoding/binary"
	"net/netip"

	"loadtest/packet"
)

// Sides say who sent each packet of a store.
type Sides struct {
	FromServer []bool // by packet

	Client, Server int // packets of each side
	Undecided      int // of these, how many no rule was about: they went with their MAC address
	TwoSided       int // TCP flows of which the store has both directions
}

// Decide says for each packet of a store, of any link type with IP, which side sent it.
//
// A packet that the rule is not about (no IP, too short) goes with its source MAC address, to the side of the first packet from
// there that was decided; else opposite to where its destination is; else, and in captures without Ethernet, it is a client's.
//
// Errors name the record, from 1, that is too short for its link type, or say which rule needs another link type.
func Decide(s *packet.Store, o Options) (Sides, error) {
	if err := o.fits(s.Link); err != nil {
		return Sides{}, err
	}
	d := Sides{FromServer: make([]bool, s.Len())}
	known := make([]bool, s.Len())
	t := newTable()
	numbers := make([]numbered, s.Len())
	var b []byte
	var err error
	for i := range s.Len() {
		if b, err = s.Ethernet(i, b); err != nil {
			return Sides{}, err
		}
		numbers[i] = none
		if m, ok := read(b); ok {
			numbers[i] = t.add(m)
		}
	}
	t.settle()
	rule := o.rule(s, t, numbers)
	for i := range s.Len() {
		var server bool
		server, known[i] = rule(i)
		d.FromServer[i] = server && known[i]
	}
	d.rest(s, known)
	for _, server := range d.FromServer {
		if server {
			d.Server++
		}
	}
	d.Client = s.Len() - d.Server
	d.TwoSided = t.twoSided()
	return d, nil
}

// rule says which side sent packet i; known is false where it says nothing about it.
func (o Options) rule(s *packet.Store, t *table, numbers []numbered) func(i int) (server, known bool) {
	switch o.By {
	case CIDR:
		return func(i int) (server, known bool) {
			if numbers[i] == none {
				return false, false
			}
			return !o.inside(t.source(numbers[i])), true
		}
	case MAC:
		var client []byte
		return func(i int) (server, known bool) {
			src := source(s, i)
			if client == nil {
				client = src
			}
			return !bytes.Equal(src, client), src != nil
		}
	case SLL:
		return func(i int) (server, known bool) {
			return outgoing(s, i) != outgoing(s, 0), true
		}
	}
	return func(i int) (server, known bool) {
		if numbers[i] == none {
			return false, false
		}
		return t.fromServer(numbers[i]), true
	}
}

func (o Options) inside(a netip.Addr) bool {
	for _, p := range o.Inside {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// outgoing says whether a Linux cooked packet was sent by the machine that captured it.
func outgoing(s *packet.Store, i int) bool {
	b := s.Frame(i).Data
	if s.Link == packet.LinkSLL2 {
		return b[10] == 4
	}
	return binary.BigEndian.Uint16(b) == 4
}

// source is the MAC address that a packet is from, nil where there is none.
func source(s *packet.Store, i int) []byte {
	if b := s.Frame(i).Data; s.Link <= packet.LinkEthernet && len(b) >= packet.EtherLen {
		return b[6:12]
	}
	return nil
}

// rest decides packets that the rule is not about.
func (d *Sides) rest(s *packet.Store, known []bool) {
	server := make(map[string]bool) // by MAC address
	for i := range s.Len() {
		if src := source(s, i); src != nil && known[i] {
			if _, ok := server[string(src)]; !ok {
				server[string(src)] = d.FromServer[i]
			}
		}
	}
	for i := range s.Len() {
		if known[i] {
			continue
		}
		d.Undecided++
		src := source(s, i)
		if src == nil {
			continue
		}
		if from, ok := server[string(src)]; ok {
			d.FromServer[i] = from
		} else if to, ok := server[string(s.Frame(i).Data[:6])]; ok {
			d.FromServer[i] = !to
		}
	}
}

// Stores are the packets of each side, with the times that they had. s is the store that was decided on, or one with its packets
// rewritten.
func (d Sides) Stores(s *packet.Store) (client, server *packet.Store) {
	stores := [2]*packet.Store{{Link: s.Link}, {Link: s.Link}}
	var size [2]int
	for i, from := range d.FromServer {
		size[side(from)] += s.Size(i)
	}
	stores[0].Grow(d.Client, size[0])
	stores[1].Grow(d.Server, size[1])
	for i, from := range d.FromServer {
		f := s.Frame(i)
		stores[side(from)].Append(f.Data, f.Nanos, s.Wire(i))
	}
	return stores[0], stores[1]
}

func side(server bool) int {
	if server {
		return 1
	}
	return 0
}

// TwoSidedTCP is how many TCP flows a store has both directions of: sent out of one port, a firewall drops one of them. Packets
// that are too short for their link type are passed over.
func TwoSidedTCP(s *packet.Store) int {
	t := newTable()
	var b []byte
	var err error
	for i := range s.Len() {
		if b, err = s.Ethernet(i, b); err != nil {
			continue
		}
		if m, ok := read(b); ok && m.proto == packet.ProtoTCP {
			t.add(m)
		}
	}
	return t.twoSided()
}
