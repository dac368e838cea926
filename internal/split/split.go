// Package split takes a capture that holds both sides of a conversation apart: what clients sent leaves by one port, what servers
// sent by another, so that a device in between sees each come from where it should. It keeps a bit for each packet, and while it
// decides, the flows and where each MAC address is.
//
//	capture ─learn→ flows, stations ─settle→ sides of them ─capture again→ Sides ─Source→ clients' packets, servers' packets
package split

import (
	"io"

	"loadtest/packet"
)

// Sides say who sent each packet of a capture.
type Sides struct {
	Client, Server           int64   // packets of each side
	ClientBytes, ServerBytes int64   // as captured
	Undecided                int64   // of these, how many no rule was about: they went with their MAC address
	Kinds                    []Count // what those are
	TwoSided                 int64   // TCP flows of which the capture has both directions

	// How many flows were decided by the SYN of TCP or its answer, by where their hosts are in other flows, and by who spoke first
	// and from which port. Of rules other than Auto they are what that would go by.
	BySYN, ByHosts, ByFirst int64

	server []uint64 // a bit for each packet
}

// FromServer says who sent packet i, from 0.
func (s *Sides) FromServer(i int64) bool {
	return uint64(i)/64 < uint64(len(s.server)) && s.server[i/64]>>(i%64)&1 == 1
}

// Source are the packets of one side, with the times that they had. src is what was decided on, or the same packets rewritten.
func (s *Sides) Source(src packet.Source, server bool) packet.Source {
	return &sideSource{sides: s, from: src, server: server}
}

type sideSource struct {
	sides  *Sides
	from   packet.Source
	server bool
}

func (s *sideSource) Open() (packet.Reader, error) {
	r, err := s.from.Open()
	if err != nil {
		return nil, err
	}
	return &sideReader{Reader: r, sideSource: s}, nil
}

type sideReader struct {
	packet.Reader
	*sideSource
	next int64
}

func (r *sideReader) Next(to *packet.Record) error {
	for {
		if err := r.Reader.Next(to); err != nil {
			return err
		}
		r.next++
		if r.sides.FromServer(r.next-1) == r.server {
			return nil
		}
	}
}

// Decide says for each packet of a capture, of any link type with IP, which side sent it. It reads the capture twice.
//
// A packet that the rule is not about (no IP, too short) goes with its source MAC address, to the side of the first packet from
// there that was decided; else opposite to where its destination is; else, and without an Ethernet header, it is a client's.
//
// Errors are the reader's, or name the record that is too short for its link type, or that the rule cannot be used for.
func Decide(src packet.Source, o Options) (*Sides, error) {
	d := &decision{options: o, flows: NewFlows(0), stations: make(map[[6]byte]int), kinds: make(Kinds)}
	packets, err := each(src, d.learn)
	if err != nil {
		return nil, err
	}
	d.flows.settle()
	s := &Sides{server: make([]uint64, (packets+63)/64)}
	if _, err = each(src, func(r *packet.Record, b []byte) error {
		server, known := d.side(r, b)
		if !known {
			s.Undecided++
			server = d.neighbor(r)
		}
		switch at := s.Client + s.Server; {
		case server && at < packets:
			s.server[at/64] |= 1 << (at % 64)
			s.Server++
			s.ServerBytes += int64(len(r.Data))
		default: // also what was not there before
			s.Client++
			s.ClientBytes += int64(len(r.Data))
		}
		return nil
	}); err != nil {
		return nil, err
	}
	s.Kinds, s.TwoSided = d.kinds.Counts(), d.flows.Counts().TwoSided
	s.BySYN, s.ByHosts, s.ByFirst = d.flows.known()
	return s, nil
}

// each gives all records of a pass and their Ethernet frames, and counts them.
func each(src packet.Source, do func(r *packet.Record, b []byte) error) (n int64, err error) {
	rd, err := src.Open()
	if err != nil {
		return 0, err
	}
	defer rd.Close()
	var r packet.Record
	var buf []byte
	for ; ; n++ {
		if err := rd.Next(&r); err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, err
		}
		b, err := r.Ethernet(buf)
		if err != nil {
			return n, err
		}
		if r.Link > packet.LinkEthernet {
			buf = b
		}
		if err := do(&r, b); err != nil {
			return n, err
		}
	}
}
