package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loadtest/internal/spell"
	"loadtest/units"
)

// streamKeys are what --stream knows.
func streamKeys() []string { return []string{"src", "tx", "rx", "name", "rate", "share"} }

// parseStream reads one --stream: src=S,tx=PORT,rx=PORT[,name=N][,rate=R] or share=2.
func parseStream(text string) (s stream, err error) {
	fields, err := streamFields(text)
	if err != nil {
		return s, fmt.Errorf("%q: %w", text, err)
	}
	s.source, s.tx, s.rx, s.name = fields["src"], fields["tx"], fields["rx"], fields["name"]
	if err := s.weigh(fields["rate"], fields["share"]); err != nil {
		return s, fmt.Errorf("%q: %w", text, err)
	}
	if s.source == "" || s.tx == "" {
		return s, fmt.Errorf("%q: want src=SOURCE,tx=PORT[,rx=PORT][,name=N][,rate=R], as src=a.pcap,tx=eth2,rx=eth3", text)
	}
	if s.source == "none" {
		return s, fmt.Errorf("%q: nothing is sent; a port that only receives is the rx of a stream", text)
	}
	s.title()
	return s, nil
}

// title names a stream that has no name after its ports.
func (s *stream) title() {
	switch {
	case s.name != "":
	case s.rx == "" || s.rx == s.tx:
		s.name = s.tx
	default:
		s.name = s.tx + "→" + s.rx
	}
}

// weigh reads a stream's own rate or share; both may be empty.
func (s *stream) weigh(rate, share string) (err error) {
	switch {
	case rate != "" && share != "":
		return errors.New("rate and share exclude each other")
	case rate != "":
		if s.rate, err = units.ParseRate(rate); err != nil {
			return fmt.Errorf("rate %w", err)
		}
		if k := s.rate.Kind; k != units.Wire && k != units.Packets && k != units.Factor {
			return fmt.Errorf("rate %s: want bits, packets or a multiple of the captured pace, as 1G, 10kpps or x2", rate)
		}
	case share != "":
		if s.share, err = strconv.ParseFloat(share, 64); err != nil || !(s.share > 0 && s.share <= 1e6) {
			return fmt.Errorf("share %q: want a factor on the load above 0, as 2 or 0.5", share)
		}
	}
	return nil
}

// streamFields takes the text apart. Sources and ports have commas of their own: what does not begin with a key that is still
// missing belongs to the field before it.
func streamFields(text string) (map[string]string, error) {
	fields, last := map[string]string{}, ""
	for _, part := range strings.Split(text, ",") {
		key, value, ok := strings.Cut(part, "=")
		_, have := fields[key]
		switch {
		case ok && slices.Contains(streamKeys(), key) && !have:
			fields[key], last = value, key
		case last == "src" || last == "tx" || last == "rx":
			fields[last] += "," + part
		case have:
			return nil, fmt.Errorf("%s= stands twice", key)
		default:
			near, least := "", 3 // two slips of the finger at most
			for _, k := range streamKeys() {
				if n := spell.Slips(key, k); n < min(least, len(k)-1) {
					near, least = fmt.Sprintf(" Did you mean %s=?", k), n
				}
			}
			return nil, fmt.Errorf("%q is none of src=, tx=, rx=, name=, rate=, share=.%s", part, near)
		}
	}
	return fields, nil
}

// shares turns the streams' own rates into shares of the highest, which is the load; the zero Rate if they have none.
func shares(streams []stream) (units.Rate, error) {
	var top units.Rate
	for _, s := range streams {
		switch {
		case s.rate == (units.Rate{}):
		case top != (units.Rate{}) && s.rate.Kind != top.Kind:
			return top, usagef("stream %s has rate %v, another %v: want all in bits, all in packets, or all as multiples of the captured pace", s.name, s.rate, top)
		case s.rate.Value > top.Value:
			top = s.rate
		}
	}
	if top == (units.Rate{}) {
		return top, nil
	}
	for i := range streams {
		s := &streams[i]
		if s.rate == (units.Rate{}) {
			return top, usagef("stream %s has no rate, but others have: want rate= for each, or share= for each", s.name)
		}
		s.share = s.rate.Value / top.Value
	}
	return top, nil
}
