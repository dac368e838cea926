package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

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
	if math.IsInf(load.Value, 1) {
		return load
	}
	least, port := math.Inf(1), ""
	for _, st := range s.streams {
		need := 0.0
		for _, o := range s.streams {
			if o.tx == st.tx {
				need += o.weight() * s.bits(o, load.Kind)
			}
		}
		if most := float64(s.devices[st.tx].Info.LineRate) / need; most > 0 && most < least {
			least, port = most, st.tx
		}
	}
	const noise = 1e-12 // of the divisions
	s.atLine = load.Value >= least*(1-noise)
	if load.Value <= least*(1+noise) {
		return load
	}
	load.Value = least
	if load.Kind == units.Factor { // as one would write it
		load.Value = floor(least, math.Pow10(int(math.Floor(math.Log10(least)))-3))
	}
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
	if r.Kind == units.Max {
		return usagef("--%s %v: want a distance between two loads, as 1M, 1kpps, 1%% or x0.1", flag, r)
	}
	return nil
}

// highest refuses a rate that is no highest load.
func highest(r units.Rate, why string) error {
	if r.Kind == units.Max {
		return usagef("--rate %v: %s a highest load, as 10G, 1.2Mpps or x10", r, why)
	}
	return nil
}

// distance resolves the distance between two loads; without one it is so small a part of the highest.
func (s *session) distance(flag string, r, top units.Rate, part float64) (units.Rate, error) {
	if r == (units.Rate{}) {
		return units.Rate{Kind: top.Kind, Value: decimal(top.Value / part)}, nil
	}
	if unit(r) != unit(top) {
		return r, usagef("--%s %v and --rate %v: want both in bits, both in packets, or both as multiples of the captured pace", flag, r, top)
	}
	return s.load(flag, r)
}

// decimal is the number that was meant, without the noise of its divisions and products.
func decimal(x float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 15, 64), 64)
	return short
}

// floor is x in whole steps.
func floor(x, step float64) float64 { return decimal(math.Floor(x/step) * step) }

// mean is the mean padded frame of a stream in bytes without FCS, and the share of its packets that have room for a tag.
func (s *session) mean(st stream) (frame, tagged float64) {
	n := float64(st.figures.packets)
	return float64(st.figures.padded) / n, float64(st.figures.tagged) / n
}

// bits are what a stream takes of the wire per second at load 1; 0 at a pace that is not known.
func (s *session) bits(st stream, kind units.RateKind) float64 {
	frame, _ := s.mean(st)
	each := 8 * (frame + units.Overhead)
	switch {
	case kind == units.Packets:
		return each
	case kind == units.Factor && st.span > 0:
		return each * float64(st.figures.packets) / (float64(st.span) / 1e9)
	case kind == units.Factor:
		return 0
	}
	return 1
}

// paced refuses multiples of a captured pace where there is none. once: a packet alone needs none, as it is sent once.
func (s *session) paced(once bool) error {
	for _, st := range s.streams {
		switch {
		case !st.captured():
			return usagef("%s has no pace of its own; give a rate, as -b 1G", st.from())
		case st.span <= 0 && !(once && st.capture.survey.Packets == 1):
			return usagef("%s: its packets carry no times to replay; give a rate, as -b 1G", st.from())
		}
	}
	return nil
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
