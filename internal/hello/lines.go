package hello

import (
	"fmt"
	"slices"
	"strings"

	"loadtest/packet"
)

// Lines are what a run shows: what came back and what the device does, in one line if it does the same to all streams; and one of
// each stream that has packets without a tag.
func (r *Result) Lines() (lines []string) {
	var counts, changes []string
	for i := range r.Streams {
		b := &r.Streams[i]
		count := fmt.Sprintf("%s %d of %d back", b.Name, b.Back, b.Sent)
		if b.Missing != "" {
			count += " (not " + b.Missing + ")"
		}
		counts, changes = append(counts, count), append(changes, b.Change.String())
	}
	heard := slices.DeleteFunc(slices.Clone(changes), func(c string) bool { return c == "" })
	if alike := len(slices.Compact(heard)) <= 1; alike {
		counts = []string{strings.Join(counts, ", ")}
		changes = append(heard, "")[:1]
	}
	for i, count := range counts {
		if changes[i] != "" {
			count += "; " + changes[i]
		}
		lines = append(lines, count)
	}
	for i := range r.Streams {
		if text := r.Streams[i].room.String(); text != "" {
			lines = append(lines, r.Streams[i].Name+": "+text)
		}
	}
	return lines
}

// protocol is an IP protocol's name.
func protocol(p uint8) string {
	switch p {
	case packet.ProtoUDP:
		return "UDP"
	case packet.ProtoTCP:
		return "TCP"
	case packet.ProtoICMP:
		return "ICMP"
	case packet.ProtoICMPv6:
		return "ICMPv6"
	}
	return fmt.Sprintf("IP protocol %d", p)
}
