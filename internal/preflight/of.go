package preflight

import (
	"fmt"
	"slices"

	"loadtest/internal/split"
	"loadtest/internal/survey"
	"loadtest/internal/timeline"
	"loadtest/packet"
	"loadtest/pcap"
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
		Sizes: Sizes{Min: s.Sizes.Min, Max: s.Sizes.Max}, Kinds: kinds(s), Apart: []Count{{"VLAN-tagged", s.Tagged}, {"fragments", s.Fragments}},
		Tagged:  Tagged{Auto: s.Taggable.Auto, Always: s.Taggable.Always},
		Wrong:   []Wrong{{"IPv4", seen(s.WrongIPv4)}, {"TCP", seen(s.WrongTCP)}, {"UDP", seen(s.WrongUDP)}},
		Snapped: seen(s.Snapped), Short: seen(s.Short), Runts: seen(s.Runts), Merged: seen(s.Merged), NoIPLen: seen(s.NoIPLength),
		Groups: seen(s.Multicast), Control: seen(s.Control)}
	if b := seen(s.Broadcast); b.Packets > 0 {
		if c.Groups.Packets == 0 || b.First.Record < c.Groups.First.Record {
			c.Groups.First, c.Groups.Size, c.Groups.Wire = b.First, b.Size, b.Wire
		}
		c.Groups.Packets += b.Packets
		c.Groups.Longest = max(c.Groups.Longest, b.Longest)
	}
	for _, i := range r.Infos {
		c.format(i)
	}
	for _, l := range s.Links {
		c.Links = append(c.Links, Link{l.Type, l.Name, l.Packets})
	}
	for _, b := range s.Sizes.Buckets {
		c.Sizes.Buckets = append(c.Sizes.Buckets, Bucket{b.From, b.To, b.Packets})
	}
	c.Times = times(r)
	c.Flows = Flows{TCP: s.Flows.TCP, TwoSided: s.Flows.TwoSided, Opened: s.Flows.Opened,
		Kinds: []Count{{"TCP", s.Flows.TCP}, {"UDP", s.Flows.UDP}, {"ICMP", s.Flows.ICMP}, {"other IP", s.Flows.Other}}}
	if d := r.Sides; d != nil {
		c.Sides = &Sides{Rule: r.Rule, Client: d.Client, Server: d.Server}
		for _, k := range d.Kinds {
			c.Sides.Undecided = append(c.Sides.Undecided, Count{k.Kind, k.Packets})
		}
	}
	return c
}

// kinds are what the packets are, each once.
func kinds(s *survey.Survey) []Count {
	all := []Count{{"TCP", s.TCP}, {"UDP", s.UDP}, {"ICMP", s.ICMP}, {"other IP", s.OtherIP}, {"damaged IP", s.Damaged.Packets}}
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
