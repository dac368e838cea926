package main

import (
	"io"

	"loadtest/internal/preflight"
	"loadtest/internal/split"
	"loadtest/packet"
	"loadtest/packet/rewrite"
)

// A route is what the records of a source go through on their way to a port. It is a source itself, of the packets as they leave.
type route struct {
	from  packet.Source
	sides *split.Sides // nil: all of it
	side  side
	mark  *marking // nil: nobody asks who sent what
	rules rewrite.Rules
	check func() *preflight.Check
}

// A run of it is one pass.
type routeReader struct {
	*rewrite.Reader
	check *preflight.Check
}

func (r *route) Open() (packet.Reader, error) { return r.open() }

func (r *route) open() (*routeReader, error) {
	in, err := r.begin()
	if err != nil {
		return nil, err
	}
	return &routeReader{r.rules.Reader(in), r.check()}, nil
}

// begin is the part of it before the rules.
func (r *route) begin() (packet.Reader, error) {
	from := r.from
	if r.sides != nil {
		from = r.sides.Source(from, r.side == servers)
	}
	in, err := from.Open()
	if err != nil || r.mark == nil {
		return in, err
	}
	return &marked{Reader: in, marking: r.mark}, nil
}

// Next is the next packet that is sent.
func (r *routeReader) Next(rec *packet.Record) error {
	for {
		if err := r.Reader.Next(rec); err != nil {
			return err
		}
		if r.check.Add(rec) {
			return nil
		}
	}
}

// A marking says who sent each record: the side that opened its flow, or the one that answers.
type marking struct {
	sides  *split.Sides // nil: all are of one side
	server bool         // that side; with sides, both have changed places
}

type marked struct {
	packet.Reader
	*marking
	n int64
}

func (m *marked) Next(rec *packet.Record) error {
	err := m.Reader.Next(rec)
	rec.Server = m.server != (m.sides != nil && m.sides.FromServer(m.n))
	m.n++
	return err
}

// tally goes along the route once, and says what would become of the records; raw: as they are, where they have no way to the port.
func (r *route) tally(raw bool) (t preflight.Tally, touched rewrite.Touched, err error) {
	check := r.check()
	in, err := r.begin()
	if err != nil {
		return t, touched, err
	}
	rules := r.rules.Reader(in)
	if !raw {
		in = rules
	}
	defer in.Close()
	var rec packet.Record
	for {
		if err := in.Next(&rec); err == io.EOF {
			return check.Tally(), rules.Touched(), nil
		} else if err != nil {
			return t, touched, err
		}
		check.Add(&rec)
	}
}
