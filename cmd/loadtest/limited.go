package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"loadtest/trial"
	"loadtest/units"
)

// limited says that the tester itself was the limit of a trial, so that nothing is known about the device: how far it came, on
// what kind of port, and a load that it can do. nil: it was not.
func (s *session) limited(r *trial.Result) error {
	const no = "no verdict about the device: the tester "
	for _, p := range r.Ports {
		if p.Missed > 0 {
			return notMeasured(fmt.Sprintf("%sdropped %d packets that came in at %s (%s). Lower: -b", no, p.Missed, p.Name, s.devices[p.Name].Info.Backend))
		}
	}
	var worst *trial.Stream
	most := float64(s.unsent)
	for i := range r.Streams {
		if share, ok := r.Streams[i].UnsentRatio(); ok && share > most {
			worst, most = &r.Streams[i], share
		}
	}
	if worst == nil {
		return nil
	}
	from := s.streams[slices.IndexFunc(s.streams, func(st stream) bool { return st.name == worst.Name })]
	of := ""
	if len(r.Streams) > 1 {
		of = " of " + worst.Name
	}
	seconds := max(r.Elapsed, 1).Seconds()
	sent, asked := float64(worst.Sent)/seconds, float64(worst.Intended)/seconds
	name, unit := "packets/s", 1.0
	switch {
	case asked >= 1e6:
		name, unit = "Mpps", 1e6
	case asked >= 1e3:
		name, unit = "kpps", 1e3
	}
	return notMeasured(fmt.Sprintf("%ssent %s of %s %s%s (%s). Lower: -b%s", no, digits(sent/unit), digits(asked/unit), name, of,
		s.devices[from.tx].Info.Backend, below(sent/from.weight())))
}

// digits are a number's first three.
func digits(x float64) string {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	return strconv.FormatFloat(short, 'f', -1, 64)
}

// below is a round rate that is safely below so many packets per second, as -b takes it; nothing where there is none.
func below(pps float64) string {
	pps *= 0.97
	one := math.Pow(10, math.Floor(math.Log10(pps)))
	step := one / 2
	if pps < 2*one {
		step = one / 10
	}
	step = max(1, step)
	if pps = math.Floor(pps/step) * step; !(pps > 0) {
		return ""
	}
	return " " + units.Rate{Kind: units.Packets, Value: pps}.String()
}
