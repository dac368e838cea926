package preflight

import (
	"encoding/json"
	"io"
	"slices"
)

// Version is the version of the JSON. A new key does not change it; a changed or removed one does.
const Version = 1

// An Inspection is a capture, and what each of some ports would do with it.
type Inspection struct {
	Capture  Capture
	Memory   int64     // that sending it takes, in bytes
	Machine  int64     // what this machine has, 0: unknown
	Findings []Finding // that no port tells
	Ports    []Plan
}

// A Plan is what a port would do with a capture.
type Plan struct {
	Port     Port
	Tally    Tally
	Findings []Finding
}

// Inspect judges a capture for each port. tallies are what a Check saw for each of them, in their order.
func Inspect(c Capture, ports []Port, tallies []Tally, o Options) Inspection {
	i := Inspection{Capture: c, Memory: c.Memory(), Machine: o.Memory, Findings: Judge(c, Port{}, Tally{}, o)}
	for n, p := range ports {
		plan := Plan{Port: p, Tally: tallies[n]}
		for _, f := range Judge(c, p, tallies[n], o) {
			if f.Port != "" {
				plan.Findings = append(plan.Findings, f)
			}
		}
		i.Findings = slices.DeleteFunc(i.Findings, func(f Finding) bool {
			return slices.ContainsFunc(plan.Findings, func(g Finding) bool { return g.Kind == f.Kind })
		})
		i.Ports = append(i.Ports, plan)
	}
	return i
}

// Refused says whether something cannot be sent as it is.
func (i *Inspection) Refused() bool {
	refused := func(f Finding) bool { return f.Level == Refuse }
	return slices.ContainsFunc(i.Findings, refused) || slices.ContainsFunc(i.Ports, func(p Plan) bool {
		return slices.ContainsFunc(p.Findings, refused)
	})
}

// JSON writes an inspection as one line. Keys carry their units; null is "there is none" or "not measured".
func JSON(w io.Writer, i Inspection) error {
	c := i.Capture
	bps, pps := c.Mean()
	line := struct {
		Type string `json:"type"`
		V    int    `json:"v"`
		Capture
		MeanBps  *float64   `json:"mean_wire_bps"`
		MeanPps  *float64   `json:"mean_pps"`
		Memory   int64      `json:"memory_bytes"`
		Machine  *int64     `json:"machine_memory_bytes"`
		Findings []Finding  `json:"findings"`
		Ports    []jsonPort `json:"ports"`
	}{Type: "inspect", V: Version, Capture: c.listed(), MeanBps: some(float64(bps)), MeanPps: some(float64(pps)), Memory: i.Memory,
		Machine: some(i.Machine), Findings: list(i.Findings), Ports: []jsonPort{}}
	for _, p := range i.Ports {
		line.Ports = append(line.Ports, p.json())
	}
	b, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// A jsonPort is a Plan in JSON.
type jsonPort struct {
	Name     string    `json:"name"`
	Backend  string    `json:"backend"`
	Driver   string    `json:"driver"`
	Mode     string    `json:"mode"`
	Up       *bool     `json:"link_up"`
	MTU      *int      `json:"mtu_bytes"`
	MaxFrame *int      `json:"frame_limit_bytes"` // without FCS
	LineBps  *float64  `json:"line_rate_bps"`
	MostPps  *float64  `json:"most_pps"`
	Merges   bool      `json:"merges_segments"`
	Records  Tally     `json:"records"`
	Findings []Finding `json:"findings"`
}

func (p *Plan) json() jsonPort {
	o := p.Port
	j := jsonPort{Name: o.Name, Backend: o.Backend, Driver: o.Driver, Mode: o.Mode, MTU: some(o.MTU), MaxFrame: some(o.MaxFrame),
		LineBps: some(float64(o.LineRate)), MostPps: some(float64(o.MostPPS)), Merges: o.Merges, Records: p.Tally, Findings: list(p.Findings)}
	if o.UpKnown {
		j.Up = &o.Up
	}
	return j
}

// listed is a capture with its lists empty where they are nil: a list that is empty is not null.
func (c Capture) listed() Capture {
	c.Format, c.Links, c.Sizes.Buckets, c.Kinds, c.Apart, c.Wrong = list(c.Format), list(c.Links), list(c.Sizes.Buckets), list(c.Kinds), list(c.Apart), list(c.Wrong)
	c.Flows.Kinds, c.Times.Peaks = list(c.Flows.Kinds), list(c.Times.Peaks)
	if c.Sides != nil {
		s := *c.Sides
		s.Undecided = list(s.Undecided)
		c.Sides = &s
	}
	return c
}

func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// some is a number that is not known where it is 0.
func some[T int | int64 | float64](v T) *T {
	if v == 0 {
		return nil
	}
	return &v
}
