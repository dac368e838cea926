// Package preflight judges what would be sent against what a port can do, before the first frame: what is refused, what a reader
// of the result has to know, and which flag or command helps. It opens nothing and asks nobody.
//
//	records ─Check.Add→ Tally ┐
//	survey ─Of→ Capture, Port ┴─Judge→ Findings ─Inspect→ Text, JSON
package preflight

import (
	"cmp"
	"fmt"
	"slices"
)

// Level says how much a Finding weighs.
type Level uint8

// Levels, worst first.
const (
	Refuse Level = iota // it cannot be sent, or would not measure what it seems to
	Warn                // it can be sent, and the result will be worse for it
	Note                // good to know
)

// String is the level as texts have it.
func (l Level) String() string { return [...]string{"refused", "warning", "note"}[l] }

// MarshalText is the level as JSON has it: refuse, warn or note.
func (l Level) MarshalText() ([]byte, error) {
	return []byte([...]string{"refuse", "warn", "note"}[l]), nil
}

// Kinds of Finding that others ask for.
const (
	TwoSided   = "two_sided"   // both sides of TCP would leave by one port
	PortMerges = "port_merges" // where packets come back they come as fewer
	Cut        = "cut"         // a file ends in the middle of a record
)

// A Place is a record of a file.
type Place struct {
	File   string `json:"file"`
	Record int64  `json:"record"` // in its file, from 1; 0: there is none
}

// String is the place as messages have it: "prod.pcapng record 8812".
func (p Place) String() string { return fmt.Sprintf("%s record %d", p.File, p.Record) }

// A Finding is one thing about a capture, or about a capture and a port.
type Finding struct {
	Kind  string `json:"kind"` // in snake case; never changes
	Level Level  `json:"level"`
	Text  string `json:"text"` // one line: where, what, and what would be right

	Port    string   `json:"port,omitempty"` // "": true of the capture, whatever the port
	Place   *Place   `json:"first,omitempty"`
	Packets *int64   `json:"packets,omitempty"`
	Flows   *int64   `json:"flows,omitempty"`
	Bytes   *int     `json:"frame_bytes,omitempty"`       // of the frame at Place, without FCS
	Limit   *int     `json:"frame_limit_bytes,omitempty"` // of the port, without FCS
	NeedBps *float64 `json:"need_wire_bps,omitempty"`
	LineBps *float64 `json:"line_rate_bps,omitempty"`
	NeedPps *float64 `json:"need_pps,omitempty"`
	MostPps *float64 `json:"most_pps,omitempty"`
}

// Judge finds what there is to say about sending a capture out of a port, worst first. The zero Port is none: then only what is
// true for any port is found. t is what a Check saw of the records as they would leave; if it saw none, the capture's own figures
// stand in, and nothing is said about frames that are too long.
func Judge(c Capture, p Port, t Tally, o Options) []Finding {
	j := &judge{c: c, p: p, o: o}
	if t.Packets == 0 {
		t = c.tally(o)
	}
	j.whole()
	j.found = append(j.found, t.findings(c.Name, p, o.Skip, o.Resegment)...)
	j.traffic()
	j.times()
	if p.Name != "" {
		j.port()
		j.rates()
	}
	slices.SortStableFunc(j.found, func(a, b Finding) int { return cmp.Compare(a.Level, b.Level) })
	return j.found
}

// A judge collects findings about one capture and one port.
type judge struct {
	c     Capture
	p     Port
	o     Options
	found []Finding
}

func (j *judge) add(level Level, kind, format string, args ...any) *Finding {
	j.found = append(j.found, Finding{Kind: kind, Level: level, Text: fmt.Sprintf(format, args...)})
	return &j.found[len(j.found)-1]
}
