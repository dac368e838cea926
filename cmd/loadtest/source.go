package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"loadtest/internal/gen"
	"loadtest/internal/split"
)

// arranged are the streams that the arguments, --stream and -f say, in the pair form both ways or split.
func (a *sources) arranged(c *cobra.Command, args []string, sendOnly bool) (streams []stream, err error) {
	if err := a.readTest(c, args); err != nil {
		return nil, err
	}
	switch {
	case len(a.streams) > 0 && len(args) > 0:
		return nil, usagef("%s: %s beside --stream: want one or the other", c.Name(), strings.Join(args, " "))
	case len(a.streams) > 0:
		streams = slices.Clone(a.streams)
	default:
		if ref, ok := modelled(args); ok {
			streams, err = modelStreams(c, ref)
		} else {
			streams, err = parseArgs(c.Name(), args, sendOnly)
		}
		if err != nil {
			return nil, err
		}
	}
	for i := range streams {
		s := &streams[i]
		if slices.ContainsFunc(streams[:i], func(o stream) bool { return o.name == s.name }) {
			return nil, usagef("%stwo streams are named %s: results could not be told apart; want name= for each", s.at, s.name)
		}
		if !gen.Is(s.source) {
			continue
		}
		made, err := gen.Parse(s.source)
		if err != nil {
			return nil, usagef("%s%w", s.at, err)
		}
		s.made = &made
	}
	var sources []string
	for _, s := range streams {
		sources = append(sources, s.source)
	}
	if err := a.changes.settle(sources); err != nil {
		return nil, err
	}
	a.given = slices.Clone(streams)
	if a.both || a.split != "" && a.split != "no" {
		return a.bothWays(streams)
	}
	return streams, nil
}

// bothWays are the two streams that --both or --split make of one.
func (a *sources) bothWays(streams []stream) ([]stream, error) {
	if len(streams) != 1 || streams[0].rx == "" {
		return nil, usagef("%s belongs to the form SOURCE A B", map[bool]string{true: "--both", false: "--split"}[a.both])
	}
	streams = append(streams, streams[0])
	back := &streams[1]
	back.tx, back.rx, back.name = back.rx, back.tx, ""
	back.title()
	switch {
	case a.both && a.split != "" && a.split != "no":
		return nil, usagef("--both and --split exclude each other: a capture that is split goes both ways already")
	case a.split != "" && a.split != "no" && back.made != nil:
		return nil, usagef("--split: %s has one side only; both directions at once: --both", back.source)
	case back.tx == back.rx:
		return nil, usagef("%s and %s are one port: nothing goes both ways", back.tx, back.rx)
	case a.both:
		back.swap = true
		return streams, nil
	}
	if _, err := split.Parse(a.split); err != nil {
		return nil, usagef("--split %w", err)
	}
	streams[0].side, back.side = clients, servers
	return streams, nil
}

// sizeList reads --sizes, as they were given.
func (a *sources) sizeList(streams []stream) (labels []string, err error) {
	if a.sizes == "" {
		return nil, nil
	}
	for _, s := range streams {
		if s.made == nil {
			return nil, usagef("--sizes: %s is a capture, whose sizes are what they are; want gen sources", s.from())
		}
	}
	for _, size := range strings.Split(a.sizes, ",") {
		size = strings.TrimSpace(size)
		if _, err := streams[0].made.With(size); err != nil {
			return nil, usagef("--sizes %w", err)
		}
		if slices.Contains(labels, size) {
			return nil, usagef("--sizes %s: %s stands twice", a.sizes, size)
		}
		labels = append(labels, size)
	}
	return labels, nil
}

// resized are the streams at one of the sizes.
func resized(streams []stream, size string) ([]stream, error) {
	streams = slices.Clone(streams)
	for i := range streams {
		made, err := streams[i].made.With(size)
		if err != nil {
			return nil, usagef("--sizes %w", fmt.Errorf("of %s: %w", streams[i].source, err))
		}
		streams[i].made = &made
	}
	return streams, nil
}
