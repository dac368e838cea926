package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"loadtest/nic/dial"
	"loadtest/trial"
	"loadtest/units"
)

// limited says that the tester itself was the limit of a trial, so that nothing is known about the device: how far it came, on
// what kind of port, and a load that it can do. nil: it was not.
func (s *session) limited(spec trial.Spec, r *trial.Result) error {
	const no = "no verdict about the device: the tester "
	for _, p := range r.Ports {
		if p.Missed > 0 {
			return notMeasured(fmt.Sprintf("%sdropped %d packets that came in at %s (%s). Lower: -b", no, p.Missed, p.Name, s.devices[p.Name].Info.Backend))
		}
	}
	var worst *trial.Stream
	most := float64(s.unsent)
	if r.Starved > 0 {
		most = -1
	}
	for i := range r.Streams {
		if share, ok := r.Streams[i].UnsentRatio(); ok && share > most {
			worst, most = &r.Streams[i], share
		}
	}
	switch {
	case r.Starved > 0:
		return notMeasured(fmt.Sprintf("%sis limited by disk: packets waited %d ms for it. Lower: -b%s; or a faster disk, or --memory", no,
			max(1, r.Starved.Milliseconds()), s.lower(spec, r, worst)))
	case worst == nil:
		return nil
	case r.Pauses() > 0:
		return notMeasured(fmt.Sprintf("no verdict about this load: %d PAUSE frames came, the other end held the tester up (flow control). Without it: %s; lower: -b%s",
			r.Pauses(), s.unpaused(r), s.lower(spec, r, worst)))
	}
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
	port := s.devices[s.of(worst).tx].Info
	faster := ""
	if port.Passed != "" {
		faster = ". No faster way: " + port.Passed
	}
	return notMeasured(fmt.Sprintf("%ssent %s of %s %s%s (%s). Lower: -b%s%s", no, digits(sent/unit), digits(asked/unit), name, of,
		port.Backend, s.lower(spec, r, worst), faster))
}

// unpaused is the command that makes the port, which PAUSE frames held up, heed them no more.
func (s *session) unpaused(r *trial.Result) string {
	for _, p := range r.Ports {
		iface, ns, ok := dial.Interface(p.Name)
		switch {
		case p.Line.Pauses == 0 || !ok:
		case ns == "":
			return "ethtool -A " + iface + " rx off tx off"
		default:
			return "ip netns exec " + ns + " ethtool -A " + iface + " rx off tx off"
		}
	}
	return "switch flow control off"
}

// of is the stream that a result is of.
func (s *session) of(r *trial.Stream) stream {
	return s.streams[slices.IndexFunc(s.streams, func(st stream) bool { return st.name == r.Name })]
}

// lower is a load that the tester can do, going by how much of the one that was asked for it sent of a stream: of the same kind where
// that is the captured pace, else in packets.
func (s *session) lower(spec trial.Spec, r *trial.Result, worst *trial.Stream) string {
	switch {
	case worst == nil:
		return ""
	case spec.Unit == trial.Factor:
		return below(units.Rate{Kind: units.Factor, Value: spec.At(0) * float64(worst.Sent) / float64(worst.Intended)})
	}
	return below(units.Rate{Kind: units.Packets, Value: float64(worst.Sent) / max(r.Elapsed, 1).Seconds() / s.of(worst).weight()})
}

// digits are a number's first three.
func digits(x float64) string {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	return strconv.FormatFloat(short, 'f', -1, 64)
}

// below is a round rate that is safely below one, as -b takes it; nothing where there is none.
func below(r units.Rate) string {
	r.Value *= 0.97
	one := math.Pow(10, math.Floor(math.Log10(r.Value)))
	step := one / 2
	if r.Value < 2*one {
		step = one / 10
	}
	if r.Kind == units.Packets {
		step = max(1, step)
	}
	if r.Value = floor(r.Value, step); !(r.Value > 0) {
		return ""
	}
	return " " + r.String()
}
