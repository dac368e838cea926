package testfile

import (
	"math"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"loadtest/units"
)

// asStream is a stream, as an example.
const asStream = "{source: gen:64, tx: eth2, rx: eth3}"

// streams reads the list of streams.
func (d *document) streams(n ast.Node) ([]Stream, error) {
	list, ok := n.(*ast.SequenceNode)
	if !ok || len(list.Values) == 0 {
		return nil, d.errorAt(n, "streams: want a list, in each line one as - %s", asStream)
	}
	var streams []Stream
	for _, v := range list.Values {
		m, ok := v.(*ast.MappingNode)
		if !ok || len(m.Values) == 0 {
			return nil, d.errorAt(v, "streams: want each as %s", asStream)
		}
		s, err := d.stream(m)
		if err != nil {
			return nil, err
		}
		streams = append(streams, s)
	}
	return streams, nil
}

// stream reads one.
func (d *document) stream(m *ast.MappingNode) (s Stream, err error) {
	share := ""
	keys := []string{"name", "source", "tx", "rx", "rate", "share"}
	fields := []*string{&s.Name, &s.Source, &s.TX, &s.RX, &s.Rate, &share}
	seen := make(map[string]int)
	for _, e := range m.Values {
		key, err := d.key(e, seen)
		if err != nil {
			return s, err
		}
		if err := d.field(&s, e, key, keys, fields); err != nil {
			return s, err
		}
	}
	s.Line = m.Values[0].Key.GetToken().Position.Line
	switch {
	case s.Source == "":
		return s, d.errorAt(m, "a stream without source: want a capture or a generator, as %s", asStream)
	case s.TX == "":
		return s, d.errorAt(m, "a stream without tx: want the port that it goes out of, as %s", asStream)
	case s.Rate != "" && share != "":
		return s, d.errorAt(m, "rate and share of one stream: want one of them; a share is of --rate")
	}
	return s, nil
}

// field reads one value of a stream.
func (d *document) field(s *Stream, e *ast.MappingValueNode, key string, keys []string, fields []*string) error {
	for i, k := range keys {
		if k != key {
			continue
		}
		text, err := d.word(key, e.Value)
		if err != nil {
			return err
		}
		*fields[i] = text
		return d.meant(s, e.Value, key, text)
	}
	if near := nearest(key, keys); near != "" {
		return d.errorAt(e.Key, "unknown key %q of a stream: did you mean %s?", key, near)
	}
	return d.errorAt(e.Key, "unknown key %q of a stream: want one of %s", key, strings.Join(keys, ", "))
}

// meant checks the values that mean the same for every verb.
func (d *document) meant(s *Stream, n ast.Node, key, text string) error {
	switch key {
	case "source":
		if text == "none" {
			return d.errorAt(n, "source none: a port that only receives needs no stream; it is the rx of the stream that it gets")
		}
	case "rate":
		if _, err := units.ParseRate(text); err != nil {
			return d.errorAt(n, "rate %v", err)
		}
	case "share":
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x > 0) || math.IsInf(x, 1) {
			return d.errorAt(n, "share %q: want a number above 0, as 2 or 0.5: the stream's factor on --rate", text)
		}
		s.Share = x
	}
	return nil
}
