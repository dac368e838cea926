package preflight

import (
	"cmp"
	"fmt"
	"slices"

	"loadtest/internal/split"
	"loadtest/internal/survey"
	"loadtest/internal/timeline"
	"loadtest/packet"
	"loadtest/pcap"
	"loadtest/units"
)

// A Read is a source that was read once.
type Read struct {
	Name   string
	File   func(uint16) string // name of a record's file
	Infos  []pcap.Info         // of each file
	Cut    string              // what is wrong with the end of a file; "": nothing
	Survey *survey.Survey
	Told   timeline.Told

	Rule  string       // of --split
	Sides *split.Sides // nil: nobody divided it
}

// Of is what Judge wants to know of it.
func Of(r Read) Capture {
	s := r.Survey
	seen := func(s survey.Seen) Seen {
		to := Seen{Packets: s.Packets, Size: s.Size, Wire: s.Wire, Longest: s.Longest}
		if s.Packets > 0 {
			to.First = Place{r.File(s.First.File), s.First.Number}
		}
		return to
	}
	c := Capture{Name: r.Name, Cut: r.Cut, Packets: s.Packets, Bytes: s.Bytes, WireBytes: s.WireBytes, WireBits: s.WireBits,
		Sizes: sizes(s), Kinds: kinds(s), Apart: []Count{{"IPv4", s.IPv4}, {"IPv6", s.IPv6}, {"VLAN-tagged", s.Tagged}, {"fragments", s.Fragments}},
		Tagged:  Tagged{Auto: s.Taggable.Auto, Always: s.Taggable.Always},
		Wrong:   []Wrong{{"IPv4", seen(s.WrongIPv4)}, {"TCP", seen(s.WrongTCP)}, {"UDP", seen(s.WrongUDP)}},
		Snapped: seen(s.Snapped), Short: seen(s.Short), Runts: seen(s.Runts), Merged: seen(s.Merged), NoIPLen: seen(s.NoIPLength),
		Damaged: seen(s.Damaged), Groups: seen(both(s.Multicast, s.Broadcast)), Control: seen(s.Control)}
	for _, i := range r.Infos {
		c.format(i)
	}
	for _, l := range s.Links {
		c.Links = append(c.Links, Link{l.Type, l.Name, l.Packets})
	}
	c.Times = times(r)
	c.Flows = Flows{TCP: s.Flows.TCP, TwoSided: s.Flows.TwoSided, Opened: s.Flows.Opened, AtLeast: s.Flows.AtLeast,
		Kinds: []Count{{"TCP", s.Flows.TCP}, {"UDP", s.Flows.UDP}, {"ICMP", s.Flows.ICMP}, {"other IP", s.Flows.Other}}}
	if d := r.Sides; d != nil {
		c.Sides = &Sides{Rule: r.Rule, Client: d.Client, Server: d.Server}
		for _, k := range d.Kinds {
			c.Sides.Undecided = append(c.Sides.Undecided, Count{k.Kind, k.Packets})
		}
	}
	return c
}

// both are what is true of either.
func both(a, b survey.Seen) survey.Seen {
	if a.Packets == 0 || b.Packets > 0 && cmp.Or(cmp.Compare(b.First.File, a.First.File), cmp.Compare(b.First.Number, a.First.Number)) < 0 {
		a, b = b, a
	}
	a.Packets += b.Packets
	a.Longest = max(a.Longest, b.Longest)
	return a
}

// sizes are lengths without FCS, as captures have them.
func sizes(s *survey.Survey) Sizes {
	to := Sizes{Min: s.Sizes.Min, Max: s.Sizes.Max}
	if s.Packets > 0 && s.Foreign() == 0 {
		to.Mean = &s.Sizes.Mean
	}
	for _, b := range s.Sizes.Buckets {
		from, end := max(0, b.From-units.FCS), b.To-units.FCS
		if b.To == 0 {
			end = max(from, s.Sizes.Max)
		}
		to.Buckets = append(to.Buckets, Bucket{from, end, b.Packets})
	}
	return to
}

// kinds are what the packets are, each once.
func kinds(s *survey.Survey) []Count {
	transport := s.TCP + s.UDP + s.ICMP + s.OtherIP
	all := []Count{{"TCP", s.TCP}, {"UDP", s.UDP}, {"ICMP", s.ICMP}, {"other IP", s.OtherIP}, {"damaged IP", s.IPv4 + s.IPv6 - transport}}
	for _, k := range s.NonIP {
		all = append(all, Count{k.Kind, k.Packets})
	}
	return append(all, Count{"unreadable", s.Unreadable.Packets})
}

// times are those that are replayed, and what was wrong with those that were captured.
func times(r Read) Times {
	s, t := &r.Survey.Times, &r.Told
	to := Times{First: s.First, Span: t.Span, Untimed: t.Untimed, BackMost: t.Back.Largest, Median: s.GapP50, P99: s.GapP99}
	place := func(p timeline.Place) Place { return Place{r.File(p.File), p.Number} }
	if t.Untimed == t.Packets {
		to.First = nil
	}
	if t.Back.Records > 0 {
		to.Back = Seen{Packets: t.Back.Records, First: place(t.Back.First)}
	}
	if t.Longest.Nanos > 0 {
		to.Longest, to.LongestAt = new(t.Longest.Nanos), new(place(t.Longest.Place))
	}
	for _, p := range s.Peaks {
		to.Peaks = append(to.Peaks, Peak{p.Window, p.Bps, p.Pps})
	}
	return to
}

// format says in words what a file is; of several files, what none before it was.
func (c *Capture) format(i pcap.Info) {
	words := []string{i.Format + " " + i.Version + " " + i.Order}
	if i.Compression != "" {
		words = append(words, i.Compression)
	}
	if i.Sections > 1 {
		words = append(words, fmt.Sprintf("%d sections", i.Sections))
	}
	if n := len(i.Interfaces); n > 1 {
		words = append(words, fmt.Sprintf("%d interfaces", n))
	}
	for _, f := range i.Interfaces {
		if f.Unit != "" {
			words = append(words, "times in "+f.Unit)
		}
		if f.Link <= packet.LinkEthernet || i.Format == "pcapng" {
			c.FCS = max(c.FCS, f.FCS)
		}
	}
	for _, w := range words {
		if !slices.Contains(c.Format, w) {
			c.Format = append(c.Format, w)
		}
	}
}
