package rewrite_test

import (
	"io"

	"loadtest/packet"
	"loadtest/packet/rewrite"
)

// stored are the packets that rules make of a store's.
func stored(s *packet.Store, rules rewrite.Rules) (*packet.Store, rewrite.Touched, error) {
	in, err := s.Open()
	if err != nil {
		return nil, rewrite.Touched{}, err
	}
	r := rules.Reader(in)
	out := &packet.Store{Link: min(s.Link, packet.LinkEthernet)}
	for {
		var rec packet.Record
		switch err := r.Next(&rec); err {
		case nil:
			out.Append(rec.Data, rec.Nanos, rec.Wire)
		case io.EOF:
			return out, r.Touched(), nil
		default:
			return nil, r.Touched(), err
		}
	}
}

// ethernet are the packets of a store with these MAC addresses.
func ethernet(s *packet.Store, m rewrite.MACs) (*packet.Store, error) {
	out, _, err := stored(s, rewrite.Rules{MACs: m})
	return out, err
}

// turned is a store's other direction, and how many packets have none.
func turned(s *packet.Store) (*packet.Store, int) {
	out, touched, _ := stored(s, rewrite.Rules{Swap: true})
	return out, int(touched.Groups)
}
