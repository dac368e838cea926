package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"loadtest/internal/match"
)

func linkDown(s *Seen, st *Stream) (all []Finding) {
	for _, p := range s.ports(st) {
		if !p.Down {
			continue
		}
		mend := "look at the cable and at what it leads to"
		if command := ip(p.Name, "link set %s up"); command != "" {
			mend = command + "; if it is up, " + mend
		}
		all = append(all, Finding{LinkDown, "", p.Name, p.Name + "'s link is down", mend})
	}
	return all
}

// ip is a command about a port's interface, whose name may have a backend before it and a namespace behind; "" if no interface of
// the kernel has such a name.
func ip(port, command string) string {
	if backend, rest, ok := strings.Cut(port, ":"); ok && slices.Contains([]string{"afpacket", "afxdp", "xdp"}, backend) {
		port = rest
	}
	name, netns, ok := strings.Cut(port, "@")
	switch command = fmt.Sprintf(command, name); {
	case strings.ContainsAny(port, ":/"):
		return ""
	case ok:
		return "ip -n " + netns + " " + command
	}
	return "ip " + command
}

// notLeaving wants most frames to be stuck: a few that are cannot be why nothing comes back.
func notLeaving(s *Seen, st *Stream) []Finding {
	p := s.port(st.TX)
	untaken := 2*st.Sent < st.Due && !p.Down
	stuck := p.Driver >= 0 && 2*p.Driver < p.Offered
	failed := p.Offered > 0 && 2*p.TxErrors > p.Offered
	if !untaken && !stuck && !failed {
		return nil
	}
	text := p.sent()
	if untaken {
		text = fmt.Sprintf("it took %d of %d", st.Sent, st.Due)
	}
	mend := "the counters of its driver say why"
	if command := ip(p.Name, "-s -s link show %s"); command != "" {
		mend = command + " and ethtool -S say why"
	}
	return []Finding{{NotLeaving, "", p.Name, fmt.Sprintf("frames do not leave %s: %s", p.Name, text), mend}}
}

// sent is what became of the frames that were given to a port: "driver sent 60 of 100, 40 errors".
func (p *Port) sent() string {
	text := fmt.Sprintf("sent %d", p.Offered)
	switch {
	case p.Driver >= p.Offered:
		text = fmt.Sprintf("driver sent %d", p.Driver)
	case p.Driver >= 0:
		text = fmt.Sprintf("driver sent %d of %d", p.Driver, p.Offered)
	}
	if p.TxErrors > 0 {
		text += fmt.Sprintf(", %d errors", p.TxErrors)
	}
	return text
}

// blocked looks for what only the ports of switches send that hold packets back.
func blocked(s *Seen, st *Stream) (all []Finding) {
	for _, p := range s.ports(st) {
		if p.hears(match.STP) {
			all = append(all, Finding{Blocked, "", p.Name, p.Name + " hears spanning tree: the switch's port may still be learning",
				"--wait 60s, or make it an edge port (portfast)"})
		}
		if p.hears(match.EAPOL) {
			all = append(all, Finding{Blocked, "", p.Name, p.Name + " hears 802.1X: the switch's port wants a login",
				"turn 802.1X off at that port of the switch"})
		}
	}
	return all
}

// hears says whether frames of a kind came in, or somebody is known for them.
func (p *Port) hears(k match.Kind) bool {
	return p.Heard.counts(k) > 0 || slices.ContainsFunc(p.Neighbors, func(n Neighbor) bool { return n.Role == k.String() })
}
