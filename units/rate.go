package units

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// RateKind says what the Value of a Rate counts.
type RateKind uint8

// The kinds of rate, with what a user writes.
const (
	Wire    RateKind = iota // bit/s on the wire: 1e9, 10G, 9.4Gbps
	Layer2                  // bit/s of frames with FCS: 9.4Gbps-l2
	Packets                 // packets/s: 1.2Mpps
	Percent                 // of the port's line rate: 40%
	Factor                  // times the captured pace: x10
	Max                     // as fast as the port takes it: max
)

// A Rate is a load as a user asks for it, per stream. Its zero value means none was given.
type Rate struct {
	Kind  RateKind
	Value float64 // by Kind; 0 for Max
}

const (
	rateForms = "10 Gbit/s on the wire: 10G; packets: 1.2Mpps; share of the line: 40%"
	moreForms = rateForms + "; frames with FCS: 10Gbps-l2; times the captured pace: x10; as fast as possible: max"
)

// prefixes of SI and their powers of ten. Case is ignored, so m is mega.
var prefixes = map[string]int{"": 0, "k": 3, "m": 6, "g": 9, "t": 12}

// ParseRate reads a rate as the kinds of rate show it, in any case. It is always positive and finite.
func ParseRate(s string) (Rate, error) {
	r, err := parseRate(strings.TrimSpace(s))
	if err != nil {
		return Rate{}, fmt.Errorf("%q: %w", s, err)
	}
	return r, nil
}

func parseRate(s string) (Rate, error) {
	lower := strings.ToLower(s)
	factor, isFactor := strings.CutPrefix(lower, "x")
	switch {
	case s == "":
		return Rate{}, errors.New("want a rate. " + moreForms)
	case lower == "max":
		return Rate{Kind: Max}, nil
	case strings.HasPrefix(factor, "-"):
		return Rate{}, errors.New("want a positive rate. " + moreForms)
	case isFactor:
		s = factor
	}
	value, unit, err := number(s)
	if err != nil {
		return Rate{}, fmt.Errorf("%w, then a unit. %s", err, moreForms)
	}
	kind, shift := Factor, 0
	if !isFactor {
		if kind, shift, err = rateUnit(unit); err != nil {
			return Rate{}, err
		}
	} else if unit != "" {
		return Rate{}, fmt.Errorf("want a number alone after x. %s", moreForms)
	}
	v, err := value(shift)
	switch {
	case err != nil:
		return Rate{}, fmt.Errorf("%w for a rate. %s", err, moreForms)
	case v == 0:
		return Rate{}, errors.New("want a positive rate. " + moreForms)
	case kind == Percent && v > 100:
		return Rate{}, errors.New("a line takes at most 100%. " + moreForms)
	}
	return Rate{kind, v}, nil
}

// rateUnit is what a unit counts, and its power of ten.
func rateUnit(unit string) (RateKind, int, error) {
	u := strings.ToLower(unit)
	if u == "%" {
		return Percent, 0, nil
	}
	kind := Wire
	if p, ok := strings.CutSuffix(u, "pps"); ok {
		kind, u = Packets, p
	} else {
		if p, ok := strings.CutSuffix(u, "-l2"); ok {
			kind, u = Layer2, p
		}
		// GBps is how bytes are written, whatever the rule about case: a factor of 8 must not pass in silence.
		if strings.Contains(unit, "Bps") || strings.Contains(u, "byte") {
			return 0, 0, errors.New("bytes are no rate here. " + rateForms)
		}
		for _, bits := range []string{"bps", "bit/s", "bit"} {
			if p, ok := strings.CutSuffix(u, bits); ok {
				u = p
				break
			}
		}
	}
	if shift, ok := prefixes[u]; ok {
		return kind, shift, nil
	}
	p, ok := strings.CutSuffix(strings.TrimSuffix(u, "/s"), "b")
	if _, known := prefixes[strings.TrimSuffix(p, "i")]; ok && known {
		if strings.Contains(unit, "B") {
			return 0, 0, errors.New("bytes are no rate here. " + rateForms)
		}
		return 0, 0, errors.New("b may be bits or bytes. " + rateForms)
	}
	return 0, 0, fmt.Errorf("unknown unit %q. %s", unit, moreForms)
}

// String is the rate as ParseRate reads it, to the same value.
func (r Rate) String() string {
	switch r.Kind {
	case Max:
		return "max"
	case Factor:
		return "x" + decimal(r.Value, 0)
	case Percent:
		return decimal(r.Value, 0) + "%"
	}
	unit := [...]string{Wire: "bps", Layer2: "bps-l2", Packets: "pps"}[r.Kind]
	prefix, shift := si(r.Value)
	return decimal(r.Value, -shift) + prefix + unit
}

// si is the largest prefix that leaves v at least 1, and its power of ten.
func si(v float64) (prefix string, shift int) {
	switch v = math.Abs(v); {
	case v >= 1e12:
		return "T", 12
	case v >= 1e9:
		return "G", 9
	case v >= 1e6:
		return "M", 6
	case v >= 1e3:
		return "k", 3
	}
	return "", 0
}

// Load is the rate as an engine takes it: of kind Wire (+Inf for Max), Packets or Factor. line is the port's line rate, 0 if
// it is not known; meanFrame is the stream's mean frame in bytes, padded to MinFrame, without FCS, 0 if it is not known.
// No rate above the line is refused here: that is the caller's, who knows which streams share the line.
func (r Rate) Load(line BitRate, meanFrame float64) (Rate, error) {
	switch r.Kind {
	case Max:
		return Rate{Wire, math.Inf(1)}, nil
	case Percent:
		if !(line > 0) {
			return Rate{}, fmt.Errorf("%v: the port's line rate is not known. %s", r, "10 Gbit/s on the wire: 10G; packets: 1.2Mpps")
		}
		return Rate{Wire, r.Value * float64(line) / 100}, nil
	case Layer2:
		if !(meanFrame > 0) {
			return Rate{}, fmt.Errorf("%v: the stream's frame size is not known. %s", r, "10 Gbit/s on the wire: 10G; packets: 1.2Mpps")
		}
		return Rate{Wire, r.Value * (meanFrame + Overhead) / (meanFrame + FCS)}, nil
	}
	return r, nil
}
