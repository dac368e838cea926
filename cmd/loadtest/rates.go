package main

import (
	"fmt"
	"math"
	"strings"

	"loadtest/packet"
	"loadtest/trial"
	"loadtest/units"
)

// load resolves a rate for the slowest of the transmitting ports; the zero Rate is its line rate. What --rate asks for is cut
// down to what the lines take.
func (s *session) load(flag string, r units.Rate) (units.Rate, error) {
	line, on := units.BitRate(math.Inf(1)), ""
	frame := 0.0
	for _, st := range s.streams {
		if l := s.lineOf(st); l < line {
			line, on = l, st.tx
		}
		f, _ := s.mean(st)
		frame = max(frame, f)
	}
	if r == (units.Rate{}) {
		r = units.Rate{Kind: units.Percent, Value: 100}
	}
	if r.Kind == units.Percent && line == 0 {
		return r, usagef("--%s: the line rate of %s is not known; give a rate, as -b 10G", flag, on)
	}
	if r.Kind == units.Max && line == 0 && s.clock.Virtual() {
		return r, usagef("--%s max: %s has no line rate, and simulated time no other bound; give a rate, as -b 10G", flag, on)
	}
	load, err := r.Load(line, frame)
	if err != nil {
		return r, usagef("--%s %w", flag, err)
	}
	if flag == "rate" {
		load = s.within(r, load)
	}
	return load, nil
}

// lineOf is the load at which all streams of a stream's port together take its line; 0: unknown.
func (s *session) lineOf(st stream) units.BitRate {
	n := 0.0
	for _, o := range s.streams {
		if o.tx == st.tx {
			n += o.weight()
		}
	}
	return units.BitRate(float64(s.devices[st.tx].Info.LineRate) / n)
}

// within is a load that no line is too slow for; asked is how it was given.
func (s *session) within(asked, load units.Rate) units.Rate {
	if load.Kind == units.Factor || math.IsInf(load.Value, 1) {
		return load
	}
	least, port := math.Inf(1), ""
	for _, st := range s.streams {
		most := float64(s.lineOf(st))
		if load.Kind == units.Packets {
			frame, _ := s.mean(st)
			most /= 8 * (frame + units.Overhead)
		}
		if most > 0 && most < least {
			least, port = most, st.tx
		}
	}
	const noise = 1e-12 // of the divisions
	s.atLine = load.Value >= least*(1-noise)
	if load.Value <= least*(1+noise) {
		return load
	}
	load.Value = least
	if !s.quiet {
		line := units.Rate{Value: float64(s.devices[port].Info.LineRate)}
		fmt.Fprintf(s.command.ErrOrStderr(), "note: --rate %s: %s is a %s line; %s is the load\n", short(asked), port, short(line), short(load))
	}
	return load
}

// short is a rate as it is mostly written: 10G.
func short(r units.Rate) string { return strings.TrimSuffix(r.String(), "bps") }

// finite refuses a rate that is no distance between two loads.
func finite(flag string, r units.Rate) error {
	if r.Kind == units.Max || r.Kind == units.Factor {
		return usagef("--%s %v: want a distance between two loads, as 1M, 1kpps or 1%%", flag, r)
	}
	return nil
}

// highest refuses a rate that is no highest load.
func highest(r units.Rate, why string) error {
	if r.Kind == units.Max || r.Kind == units.Factor {
		return usagef("--rate %v: %s a highest load, as 10G or 1.2Mpps", r, why)
	}
	return nil
}

// mean is the mean padded frame of a stream in bytes without FCS, and the share of its packets that have room for a tag.
func (s *session) mean(st stream) (frame, tagged float64) {
	bytes, tags := 0, 0
	for i := range st.packets.Len() {
		bytes += max(st.packets.Size(i), units.MinFrame)
		if packet.TagOffset(st.packets.Frame(i).Data, s.tag) >= 0 {
			tags++
		}
	}
	n := float64(st.packets.Len())
	return float64(bytes) / n, float64(tags) / n
}

// unit is what a resolved rate's load counts.
func unit(r units.Rate) trial.Unit {
	switch r.Kind {
	case units.Packets:
		return trial.Packets
	case units.Factor:
		return trial.Factor
	}
	return trial.WireBits
}

// shared is a Spec's Share: the streams' factors on the load.
func (s *session) shared() map[string]float64 {
	all := map[string]float64{}
	for _, st := range s.streams {
		if st.share != 0 {
			all[st.name] = st.share
		}
	}
	return all
}
