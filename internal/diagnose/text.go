package diagnose

import (
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"loadtest/units"
)

// What a text shows at most; a run may have 256 streams.
const (
	mostStreams  = 4
	mostPorts    = 8
	mostFindings = 3
)

// Text tells of the streams that nothing came back of after waiting so long: a line for each, one for each of their ports, and
// what is likely. It is empty if there is no such stream.
func Text(s Seen, wait time.Duration) string {
	var lost []*Stream
	for i := range s.Streams {
		if s.Streams[i].lost() {
			lost = append(lost, &s.Streams[i])
		}
	}
	if len(lost) == 0 {
		return ""
	}
	var lines []string
	for _, st := range lost[:min(mostStreams, len(lost))] {
		lines = append(lines, fmt.Sprintf("%s: nothing came back in %s: %d sent, 0 of ours at %s", st.title(), seconds(wait), st.Sent, st.RX))
	}
	if more := len(lost) - mostStreams; more > 0 {
		lines = append(lines, fmt.Sprintf("and so for %d more streams", more))
	}
	lines = append(lines, portLines(&s, lost)...)
	head := "likely"
	for _, f := range together(Of(s)) {
		about := ""
		if f.Stream != "" && len(lost) > 1 {
			about = f.Stream + ": "
		}
		lines = append(lines, fmt.Sprintf("     %s: %s%s. %s", head, about, f.Text, f.Mend))
		head = "or"
	}
	return strings.Join(lines, "\n")
}

// title is a stream's name, with its ports if that does not tell them.
func (st *Stream) title() string {
	ports := st.TX + "→" + st.RX
	if st.Name == ports {
		return ports
	}
	return fmt.Sprintf("%s (%s)", st.Name, ports)
}

// portLines is a line for each port of the lost streams that is listed.
func portLines(s *Seen, lost []*Stream) (lines []string) {
	var ports []*Port
	sends := map[*Port]bool{}
	width := 0
	for _, st := range lost {
		for _, p := range slices.Backward(s.ports(st)) { // the sending one first
			sends[p] = sends[p] || p.Name == st.TX
			if !slices.Contains(ports, p) && len(ports) < mostPorts {
				ports = append(ports, p)
				width = max(width, len(p.Name))
			}
		}
	}
	for _, p := range ports {
		text := p.link()
		if sends[p] && p.Offered > 0 {
			text += ", " + p.sent()
		}
		lines = append(lines, fmt.Sprintf("     %-*s  %s; heard %s", width, p.Name, text, p.Heard.list(p.notes())))
	}
	return lines
}

// link is its state, and its rate as ports are sold: "link 10G", "link 2.5G", "link 100M".
func (p *Port) link() string {
	switch {
	case p.Down:
		return "link down"
	case p.Line <= 0:
		return "link up"
	case p.Line < units.Gbps:
		return "link " + units.PlainGbps(1000*p.Line) + "M"
	}
	return "link " + units.PlainGbps(p.Line) + "G"
}

// together makes one finding of those that say the same of several ports, all of which must be mended; a few are enough.
func together(all []Finding) (some []Finding) {
	for _, f := range all {
		if n := len(some); n > 0 && some[n-1].Cause == f.Cause && some[n-1].Text == f.Text {
			some[n-1].Mend += " " + f.Mend
			continue
		}
		some = append(some, f)
	}
	return some[:min(mostFindings, len(some))]
}

// seconds is a time of waiting, to a tenth of a second.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(math.Round(d.Seconds()*10)/10, 'f', -1, 64) + " s"
}

func mac(m [6]byte) string { return net.HardwareAddr(m[:]).String() }
