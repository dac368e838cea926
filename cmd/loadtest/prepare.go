package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"loadtest/internal/gen"
	"loadtest/internal/host"
	"loadtest/internal/preflight"
	"loadtest/internal/split"
	"loadtest/packet"
	"loadtest/replay"
	"loadtest/units"
)

// A side of a capture that is split.
type side uint8

const (
	whole side = iota
	clients
	servers
)

// undivided refuses a capture with both sides of TCP that would leave by one port, unless that was asked for; before a port is opened.
func (s *session) undivided() error {
	for _, st := range s.streams {
		if !st.captured() {
			continue
		}
		for _, f := range preflight.Judge(st.capture.facts("", nil), preflight.Port{}, preflight.Tally{}, preflight.Options{Split: s.split != ""}) {
			if f.Kind == preflight.TwoSided {
				return usageError{errors.New(f.Text)}
			}
		}
	}
	return nil
}

// prepare makes of each stream's source what is sent: the side, the direction, Ethernet headers, addresses, what fits.
func (s *session) prepare(streams []stream) error {
	disk, err := s.larger(streams)
	if err != nil {
		return err
	}
	for i := range streams {
		st := &streams[i]
		st.disk = disk && st.captured()
		err := s.route(st)
		if err == nil {
			err = s.collect(st)
		}
		if err == nil {
			err = s.preflight(st)
		}
		if err != nil && s.command.Context().Err() != nil {
			return context.Cause(s.command.Context())
		}
		if err != nil {
			return usageError{err}
		}
	}
	return nil
}

// larger says whether the captures are larger than the memory that they may take, so that they stream from disk.
func (s *session) larger(streams []stream) (bool, error) {
	most := s.room(host.Read())
	if most == 0 {
		return false, nil
	}
	need, stored := int64(0), ""
	for _, st := range streams {
		if st.captured() && st.side != servers { // both sides together are the capture
			need += st.capture.survey.Bytes + perPacket*st.capture.survey.Packets
			if st.capture.stored {
				stored = st.from()
			}
		}
	}
	if need > most && stored != "" {
		return true, usagef("%s takes %v of memory, and may have %v; it cannot be read twice: want a file, or more --memory", stored, units.Bytes(need), units.Bytes(most))
	}
	return need > most, nil
}

// room is how much memory captures may take; 0: nobody knows.
func (a *changes) room(machine host.Facts) int64 {
	if a.memory > 0 {
		return a.memory
	}
	return machine.Free / 2
}

// perPacket is what a packet takes beside its bytes: its place and time, and where its tag goes.
const perPacket = 16 + 8

// replayed is the stream as the engine wants it.
func (s *session) replayed(st stream) replay.Stream {
	r := replay.Stream{Name: st.name, Source: st.from(), Packets: st.packets, TX: st.tx, RX: st.rx, Skipped: int(st.skipped.Packets()),
		Epoch: st.epoch, Span: st.span, Vary: s.vary}
	if len(s.vary) > 0 {
		r.FromServer = func(i int) bool { return st.server[i/64]>>(i%64)&1 == 1 }
	}
	if st.disk {
		r.Disk, r.Count, r.Untagged = st.way, st.figures.packets, st.untagged
	}
	return r
}

// make generates the packets of a gen source.
func (s *session) make(st *stream) (packets *packet.Store, err error) {
	made := *st.made
	if a := s.address(st.tx, made.Src.Addr().Is4()); a != nil && a.VLAN != 0 && made.VLAN == 0 {
		if made, err = gen.Parse(fmt.Sprintf("%s,vlan=%d", st.source, a.VLAN)); err == nil && s.size != "" {
			made, err = made.With(s.size)
		}
		if err != nil {
			return nil, fmt.Errorf("with the VLAN of --addr: %w", err)
		}
	}
	if memory := host.Read().Memory; memory > 0 && made.Bytes() > memory/4 {
		return nil, fmt.Errorf("%s: its packets take %.3g GB, this machine has %.3g GB; want fewer flows", st.source, float64(made.Bytes())/1e9, float64(memory)/1e9)
	}
	m, err := s.macs(st, true)
	if err != nil {
		return nil, err
	}
	return made.Packets(gen.Options{Src: m.Src, Dst: m.Dst, Avoid: s.taken(), Swap: st.swap})
}

// route says what becomes of a stream's records on their way to the port.
func (s *session) route(st *stream) (err error) {
	port := s.devices[st.tx].Info
	rules, err := s.rules(st.tx, port.MaxFrame)
	if err != nil {
		return err
	}
	skips := s.skips()
	skips.Made = st.made != nil
	st.way = &route{rules: rules, check: func() *preflight.Check { return preflight.NewCheck(st.file, preflight.PortOf(port), skips) }}
	if len(s.vary) > 0 {
		if st.way.mark, err = s.marks(st); err != nil {
			return err
		}
	}
	switch {
	case st.made != nil:
		st.way.from, err = s.make(st)
		return err
	case st.captured():
		return s.captured(st)
	}
	st.way.from = st.packets // the demo's
	return nil
}

// marks says who sent a stream's records, for fields that differ from pass to pass.
func (s *session) marks(st *stream) (*marking, error) {
	m := &marking{server: st.swap || st.side == servers}
	if !st.captured() || st.side != whole || st.capture.survey.Flows.TwoSided == 0 {
		return m, nil
	}
	o, err := split.Parse("auto")
	if err == nil {
		m.sides, err = split.Decide(st.capture.line, o)
	}
	return m, err
}

// captured is the route of a capture.
func (s *session) captured(st *stream) (err error) {
	c, w := st.capture, st.way
	w.from, st.epoch, st.span = c.line, c.epoch, c.told.Span+c.told.Mean
	if st.side != whole {
		sides, err := s.sides(c)
		if err != nil {
			return fmt.Errorf("%s: %w", st.from(), err)
		}
		if sides.Client == 0 || sides.Server == 0 {
			return fmt.Errorf("%s: --split=%s leaves one side without packets (%d and %d); other ways: %s", st.from(), s.split, sides.Client, sides.Server,
				"auto, mac, a CIDR of the clients; without --split all of it leaves by one port")
		}
		w.sides, w.side = sides, st.side
	}
	if w.rules.MACs, err = s.macs(st, false); err != nil {
		return err
	}
	w.rules.Swap = st.swap
	if link := c.survey.Foreign(); link > packet.LinkEthernet && !(w.rules.SetDst && w.rules.SetSrc) {
		return fmt.Errorf("%s has no Ethernet header (%s, %d): --mac-dst gw with --addr %s=IP/LEN,gw=IP, or --mac-dst MAC --mac-src MAC",
			st.from(), packet.LinkName(link), link, st.tx)
	}
	return nil
}

// sides divides a capture as --split says, once.
func (s *session) sides(c *capture) (*split.Sides, error) {
	if c.sides == nil {
		o, err := split.Parse(s.split)
		if err != nil {
			return nil, fmt.Errorf("--split %w", err)
		}
		if c.sides, err = split.Decide(c.line, o); err != nil {
			return nil, err
		}
	}
	return c.sides, nil
}

// figures are those of what a stream sends in one pass.
type figures struct{ packets, padded, tagged int64 }

// mostHead is how many packets of a capture that streams from disk are at hand beforehand.
const mostHead = 1000

// collect goes along a stream's route once: what is sent comes into memory, or is looked at only.
func (s *session) collect(st *stream) error {
	r, err := st.way.open()
	if err != nil {
		return err
	}
	defer r.Close()
	store := &packet.Store{Link: packet.LinkEthernet}
	st.figures, st.untagged, st.server, st.varied = figures{}, &replay.Untagged{}, nil, make([]int64, len(s.vary))
	if c := st.capture; c != nil && !st.disk {
		n, bytes := c.survey.Packets, c.survey.Bytes
		if d := st.way.sides; d != nil && st.side == servers {
			n, bytes = d.Server, d.ServerBytes
		} else if d != nil {
			n, bytes = d.Client, d.ClientBytes
		}
		store.Grow(int(n), int(bytes+8*n)) // two VLAN tags more
	}
	var rec packet.Record
	for {
		if err := r.Next(&rec); err == io.EOF {
			break
		} else if err != nil {
			return fmt.Errorf("%s: %w", st.from(), err)
		}
		f := &st.figures
		if f.packets++; f.packets%4096 == 0 && s.command.Context().Err() != nil {
			return s.command.Context().Err()
		}
		f.padded += int64(max(len(rec.Data), units.MinFrame))
		if packet.TagOffset(rec.Data, s.tag) >= 0 {
			f.tagged++
		}
		for i, v := range s.vary {
			if _, ok := v.Place(rec.Data, rec.Server); ok {
				st.varied[i]++
			}
		}
		if st.disk {
			st.untagged.Add(&rec, s.tag)
		}
		if !st.disk || f.packets <= mostHead {
			if n := store.Len(); len(s.vary) > 0 {
				if n%64 == 0 {
					st.server = append(st.server, 0)
				}
				if rec.Server {
					st.server[n/64] |= 1 << (n % 64)
				}
			}
			store.Append(rec.Data, rec.Nanos, rec.Wire)
		}
	}
	if err := collided(r.Touched(), st.from()); err != nil {
		return err
	}
	st.packets, st.touched, st.skipped, st.tally = store, r.Touched(), r.check.Skipped(), r.check.Tally()
	switch err := r.check.Err(); {
	case err != nil:
		return err
	case st.figures.packets == 0 && st.swap && st.touched.Groups > 0:
		return fmt.Errorf("%s: nothing in it has another direction", st.from())
	case st.figures.packets == 0:
		return fmt.Errorf("%s: all its packets (%d) are skipped: nothing to send for stream %s", st.source, st.skipped.Packets(), st.name)
	}
	if i := slices.Index(st.varied, 0); i >= 0 {
		return fmt.Errorf("--vary %v: no packet of %s has that field", s.vary[i], st.from())
	}
	return nil
}
