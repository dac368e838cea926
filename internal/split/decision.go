package split

import (
	"encoding/binary"

	"loadtest/packet"
)

// A decision is what the first pass learns, by which the second one decides.
type decision struct {
	options  Options
	flows    *Flows
	stations map[[6]byte]int // the flow of the first packet from a MAC address that has one, as Flows.add numbers them
	kinds    Kinds           // of what the rule is not about

	begun    bool    // the first packet was seen, and what is the client's of it:
	client   [6]byte // MAC address
	outgoing bool    // direction
}

// learn sees a packet of the first pass.
func (d *decision) learn(r *packet.Record, b []byte) error {
	if err := d.options.fits(r); err != nil {
		return err
	}
	h, ok := packet.Parse(b)
	var m message
	n := none
	if ok = m.read(b, &h, ok); ok {
		n = d.flows.add(&m)
	}
	src, station := source(r)
	switch d.options.By {
	case MAC:
		if station && !d.begun {
			d.client, d.begun = src, true
		}
		ok = station
	case SLL:
		if !d.begun {
			d.outgoing, d.begun = outgoing(r), true
		}
		ok = true
	case No:
		ok = true
	default:
		if _, seen := d.stations[src]; ok && station && !seen {
			d.stations[src] = n
		}
	}
	if !ok {
		d.kinds[KindOf(b, &h)]++
	}
	return nil
}

// side says which side sent a packet; known is false where the rule says nothing about it.
func (d *decision) side(r *packet.Record, b []byte) (server, known bool) {
	switch d.options.By {
	case MAC:
		src, ok := source(r)
		return src != d.client, ok
	case SLL:
		return outgoing(r) != d.outgoing, true
	case No:
		return false, true
	}
	h, ok := packet.Parse(b)
	var m message
	if !m.read(b, &h, ok) {
		return false, false
	}
	return d.fromServer(d.flows.lookup(&m)), true
}

// fromServer says which side sent a packet of a flow.
func (d *decision) fromServer(n int) bool {
	if n == none {
		return false
	}
	if d.options.By == CIDR {
		return !d.options.inside(d.flows.source(n))
	}
	return d.flows.fromServer(n)
}

// neighbor says on which side a packet goes by its MAC addresses.
func (d *decision) neighbor(r *packet.Record) (server bool) {
	src, ok := source(r)
	if !ok {
		return false
	}
	if n, ok := d.stations[src]; ok {
		return d.fromServer(n)
	}
	if n, ok := d.stations[[6]byte(r.Data)]; ok {
		return !d.fromServer(n)
	}
	return false
}

// known are how many flows are decided by what.
func (t *Flows) known() (bySYN, byHost, byFirst int64) {
	for n := range t.count {
		switch t.flow(n).known() {
		case syn, synAck:
			bySYN++
		case byHosts:
			byHost++
		default:
			byFirst++
		}
	}
	return bySYN, byHost, byFirst
}

// outgoing says whether a Linux cooked packet was sent by the machine that captured it.
func outgoing(r *packet.Record) bool {
	if r.Link == packet.LinkSLL2 {
		return r.Data[10] == 4
	}
	return binary.BigEndian.Uint16(r.Data) == 4
}

// source is the MAC address that a packet is from; false where there is none.
func source(r *packet.Record) (mac [6]byte, ok bool) {
	if r.Link > packet.LinkEthernet || len(r.Data) < packet.EtherLen {
		return mac, false
	}
	return [6]byte(r.Data[6:]), true
}
