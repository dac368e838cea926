package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loadtest/internal/dissect"
	"loadtest/internal/match"
)

// mostHeard bounds how many kinds of frames a line tells.
const mostHeard = 4

// Heard is what came in at a port that is not ours: how many frames of each kind, and one of them decoded. Its zero value has
// heard nothing.
type Heard struct{ groups []group }

// A group is frames that are told together.
type group struct {
	kind   match.Kind
	asks   bool   // ARP or ND that asks for an address
	sealed string // "ESP", "MACsec", …: what nobody can look into; else ""

	frames  int
	example string // the first, decoded
	alike   bool   // the others ask the same
}

// See takes note of a frame.
func (h *Heard) See(b []byte) {
	g := group{kind: match.KindOf(b), frames: 1, alike: true}
	_, _, _, _, g.asks = dissect.Question(b)
	if name, inner, ok := dissect.Inner(b); ok && inner == nil {
		g.sealed = name
	}
	for i := range h.groups {
		old := &h.groups[i]
		if old.kind != g.kind || old.asks != g.asks || old.sealed != g.sealed {
			continue
		}
		old.frames++
		if g.asks && old.alike { // what differs in the others is no matter
			old.alike = dissect.Line(b) == old.example
		}
		return
	}
	g.example = dissect.Line(b)
	h.groups = append(h.groups, g)
}

// String lists what was heard, what tells most first: "31 ARP who-has 198.19.0.2 from 00:1b:21:aa:00:02, 2 LLDP (core-sw1 Gi0/3)".
func (h *Heard) String() string { return h.list(nil) }

// list is String with notes behind questions of a kind: ARP or IPv6ND.
func (h *Heard) list(notes map[match.Kind]string) string {
	if len(h.groups) == 0 {
		return "nothing"
	}
	groups := slices.Clone(h.groups)
	slices.SortStableFunc(groups, func(a, b group) int {
		return cmp.Or(one(!a.telling())-one(!b.telling()), cmp.Compare(b.frames, a.frames))
	})
	var all []string
	others := 0
	for i, g := range groups {
		switch {
		case i >= mostHeard:
			others += g.frames
		case g.asks:
			all = append(all, g.String()+notes[g.kind])
		default:
			all = append(all, g.String())
		}
	}
	if others > 0 {
		all = append(all, fmt.Sprintf("%d others", others))
	}
	return strings.Join(all, ", ")
}

// one counts what is so; in sorting it comes behind what is not.
func one(so bool) int {
	if so {
		return 1
	}
	return 0
}

// telling says whether such frames may say why packets do not come back.
func (g *group) telling() bool {
	switch g.kind {
	case match.IPv4ICMP, match.IPv6ICMP, match.GRE, match.LLDP, match.STP, match.EAPOL:
		return true
	}
	return g.asks || g.sealed != ""
}

// String is "31 ARP who-has 198.19.0.2 from 00:1b:21:aa:00:02" where all ask that, else the kind with its first as an example.
func (g *group) String() string {
	if g.asks {
		question, _, _ := strings.Cut(g.example, " (") // the asker's address is of no help here
		if !g.alike {
			question = strings.Replace(question, "who-has ", "who-has (first ", 1) + ")"
		}
		return fmt.Sprintf("%d %s", g.frames, question)
	}
	name := g.sealed
	if name == "" {
		name = g.kind.String()
	}
	short := name[strings.LastIndexByte(name, ' ')+1:] // "UDP" of "IPv4 UDP"
	example := strings.TrimPrefix(strings.TrimPrefix(g.example, name+" "), short+" ")
	return fmt.Sprintf("%d %s (%s)", g.frames, name, example)
}

// counts says how many frames of a kind were heard.
func (h *Heard) counts(k match.Kind) (n int) {
	for _, g := range h.groups {
		if g.kind == k {
			n += g.frames
		}
	}
	return n
}
