package hello

import (
	"slices"
	"strings"
)

// A step is what the device did to one packet.
type step struct {
	from, to look
	wrapping string // "inside GRE", "taken out of GRE", "GRE → VXLAN"; "" if it is as it was
}

// stepOf compares a probe with what came back of it: what is inside an encapsulation that only one of them has with the whole other
// one, and what is inside of all where they have others.
func stepOf(p *probe, b []byte) (s step) {
	was, is := p.within, encapsulations(b)
	deep, deeper := len(was), len(is)
	switch more := len(is) - len(was); {
	case slices.Equal(was, is):
		deep, deeper = 0, 0
	case more > 0 && slices.Equal(is[more:], was):
		deep, deeper, s.wrapping = 0, more, "inside "+strings.Join(is[:more], "/")
	case more < 0 && slices.Equal(was[-more:], is):
		deep, deeper, s.wrapping = -more, 0, "taken out of "+strings.Join(was[:-more], "/")
	default:
		s.wrapping = strings.Join(was, "/") + " → " + strings.Join(is, "/")
	}
	s.from, s.to = lookAt(p.frame, deep), lookAt(b, deeper)
	return s
}

// comparable tells whether the ends of both are there, and of the same packet.
func (s *step) comparable() bool { return s.wrapping == "" && s.from.ip && s.to.ip }
