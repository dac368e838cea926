package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"loadtest/internal/gen"
	"loadtest/internal/preflight"
	"loadtest/packet"
	"loadtest/packet/rewrite"
	"loadtest/replay"
	"loadtest/units"
)

// A stream is one stream as the arguments say it, and what is sent of it.
type stream struct {
	name, source string
	tx, rx       string     // names of ports; rx "": only sent
	rate         units.Rate // its own; zero: that of all
	share        float64    // of the load; 0 is 1
	at           string     // where it was said, for messages: "T.yaml:7: "; "" on the command line

	made    *gen.Spec // nil: a capture
	swap    bool      // the other direction: addresses swapped
	side    side      // of a capture that is split
	capture *capture

	way         *route           // to the port
	packets     *packet.Store    // as they are sent; with disk the first of them
	disk        bool             // larger than memory
	untagged    *replay.Untagged // with disk
	server      []uint64         // with --vary a bit for each of packets: sent by the side that answers
	varied      []int64          // packets that each --vary changes from pass to pass
	figures     figures
	touched     rewrite.Touched
	skipped     preflight.Skipped
	tally       preflight.Tally
	epoch, span int64 // of the capture, as replay.Stream has them
}

// stdin is the source that is standard input.
const stdin = "-"

// from is the source as messages call it.
func (s stream) from() string {
	from := s.source
	if from == stdin {
		from = "standard input"
	}
	return from + map[side]string{clients: " (clients' side)", servers: " (servers' side)"}[s.side]
}

// captured says whether the packets come from outside.
func (s stream) captured() bool { return s.capture != nil }

// file is the file that a record of the stream is from, for messages.
func (s stream) file(i uint16) string {
	if s.capture == nil || len(s.capture.files) == 1 {
		return s.from()
	}
	return s.capture.file(i)
}

// weight is the stream's factor on the load.
func (s stream) weight() float64 {
	if s.share == 0 {
		return 1
	}
	return s.share
}

// parseArgs reads the arguments of a verb that sends: SOURCE A B, SOURCE PORT in either order, or groups of SOURCE TX RX PORT.
// sendOnly: with two arguments nothing is expected back.
func parseArgs(verb string, args []string, sendOnly bool) ([]stream, error) {
	switch n := len(args); {
	case n == 0:
		return nil, usagef("%s: no arguments; want SOURCE A B, SOURCE PORT, or groups of SOURCE TX RX PORT; see loadtest %s --help", verb, verb)
	case n <= 3 && slices.Contains(args, "none"):
		return nil, usagef("none sends nothing; it stands in groups of SOURCE TX RX PORT, for a port that only receives")
	case n == 2:
		source, port := args[0], args[1]
		if isSource(source) == isSource(port) {
			return nil, usagef("%s%s: of %q and %q exactly one must be a capture file or gen, the other a port", absent(args), verb, source, port)
		}
		if isSource(port) {
			source, port = port, source
		}
		s := stream{name: port, source: source, tx: port, rx: port}
		if sendOnly {
			s.rx = ""
		}
		return []stream{s}, nil
	case n == 3:
		return []stream{{name: args[1] + "→" + args[2], source: args[0], tx: args[1], rx: args[2]}}, nil
	case n > 0 && n%4 == 0:
		return parseGroups(args)
	}
	return nil, usagef("%s: %d arguments; want SOURCE A B, SOURCE PORT, or groups of SOURCE TX RX PORT. Read: %s", verb, len(args), groups(args))
}

// groups shows arguments as groups of four.
func groups(args []string) string {
	var b strings.Builder
	for i := 0; i < len(args); i += 4 {
		g := slices.Clone(args[i:min(i+4, len(args))])
		for len(g) < 4 {
			g = append(g, "?")
		}
		fmt.Fprintf(&b, "[%s] ", strings.Join(g, " "))
	}
	return strings.TrimSpace(b.String())
}

// parseGroups reads Snabb's form: TX names PORT, and RX must be some group's TX.
func parseGroups(args []string) (streams []stream, err error) {
	port := map[string]string{}
	var names []string
	for g := range slices.Chunk(args, 4) {
		if _, twice := port[g[1]]; twice {
			return nil, usagef("the name %q stands for two streams; each TX needs a name of its own", g[1])
		}
		for _, name := range names {
			if port[name] == g[3] {
				return nil, usagef("port %s stands for %q and for %q; each group needs a port of its own", g[3], name, g[1])
			}
		}
		port[g[1]] = g[3]
		names = append(names, g[1])
	}
	i := 0
	for g := range slices.Chunk(args, 4) {
		i++
		if g[0] == "none" {
			continue
		}
		rx, ok := port[g[2]]
		if !ok {
			return nil, usagef("stream %d expects its packets at %q, but no stream is named so. Names: %s. For a port that only receives: none %s %s PORT",
				i, g[2], strings.Join(names, ", "), g[2], g[1])
		}
		streams = append(streams, stream{name: g[1], source: g[0], tx: g[3], rx: rx})
	}
	if len(streams) == 0 {
		return nil, usagef("every source is none: nothing to send")
	}
	return streams, nil
}

// isSource says whether an argument can only be a source: packets to be made, a file that is there, or standard input.
func isSource(s string) bool {
	if gen.Is(s) {
		return true
	}
	if s == stdin {
		return true
	}
	for _, file := range sourceFiles(s) {
		if info, err := os.Stat(file); err != nil || info.IsDir() {
			return false
		}
	}
	return true
}

// absent says which argument is no file, where one is named as a capture.
func absent(args []string) string {
	for _, a := range args {
		named := slices.Contains([]string{".pcap", ".pcapng", ".cap"}, strings.ToLower(filepath.Ext(a))) && !strings.HasPrefix(a, "pcap:") ||
			strings.Contains(a, "/") && !strings.Contains(a, ":")
		if _, err := os.Stat(a); named && errors.Is(err, fs.ErrNotExist) {
			return fmt.Sprintf("%q: no such file; ", a)
		}
	}
	return ""
}

// ports are the names of all ports of the streams, each once.
func ports(streams []stream) (names []string) {
	for _, s := range streams {
		for _, p := range []string{s.tx, s.rx} {
			if p != "" && !slices.Contains(names, p) {
				names = append(names, p)
			}
		}
	}
	return names
}
