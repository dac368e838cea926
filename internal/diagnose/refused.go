package diagnose

import (
	"fmt"

	"loadtest/internal/dissect"
	"loadtest/packet"
	"loadtest/units"
)

// refused tells what ICMP says of a stream. That a host is unreachable comes of questions that nobody answers; where those were
// heard, they say more.
func refused(s *Seen, st *Stream) (all []Finding) {
	for _, t := range st.Told {
		if t.means() == noHost && len(s.port(st.RX).open()) > 0 {
			continue
		}
		all = append(all, Finding{Refused, st.Name, t.Port, t.text(st), t.mend(s, st)})
	}
	return all
}

// text is who says what, and how often.
func (t *Told) text(st *Stream) string {
	reason := dissect.Reason(t.V6, t.Type, t.Code)
	switch {
	case t.Gateway.IsValid():
		reason = fmt.Sprintf("%s to %s", reason, t.Gateway)
	case t.MTU > 0:
		reason = fmt.Sprintf("%s, MTU %d", reason, t.MTU)
	case t.unreachable() && st.ToIP.IsValid():
		reason = fmt.Sprintf("%s %s", st.ToIP, reason)
	}
	return fmt.Sprintf("%d ICMP from %s: %s", t.Packets, t.From, reason)
}

// A meaning is what kinds of ICMP ask for the same mending.
type meaning uint8

const (
	other meaning = iota
	noRoute
	noHost
	itself     // the destination is who says so
	prohibited // by a filter, whose default is often to say what the destination would say
	tooBig
	circle
	redirect
)

func (t *Told) unreachable() bool {
	return (t.V6 && t.Type == 1 || !t.V6 && t.Type == 3) && !dissect.TooBig(t.V6, t.Type, t.Code)
}

// means tells the kinds apart (RFC 792, RFC 1812, 5.2.7.1; RFC 4443, 3; RFC 4861, 4.5).
func (t *Told) means() meaning {
	switch {
	case t.Gateway.IsValid():
		return redirect
	case dissect.TooBig(t.V6, t.Type, t.Code):
		return tooBig
	case t.V6 && t.Type == 3 || !t.V6 && t.Type == 11:
		return circle
	case t.unreachable() && t.Itself:
		return itself
	case t.unreachable() && t.V6:
		return map[uint8]meaning{0: noRoute, 1: prohibited, 3: noHost, 4: prohibited, 5: prohibited, 6: noRoute}[t.Code]
	case t.unreachable():
		return map[uint8]meaning{0: noRoute, 1: noHost, 2: prohibited, 3: prohibited, 6: noRoute, 7: noHost, 9: prohibited, 10: prohibited,
			11: noRoute, 12: noHost, 13: prohibited}[t.Code]
	}
	return other
}

func (t *Told) mend(s *Seen, st *Stream) string {
	switch t.means() {
	case noRoute:
		if st.ToIP.IsValid() {
			return fmt.Sprintf("give the device a route to %s via %s", network(st.ToIP), ours(s.port(st.RX)))
		}
	case noHost: // nobody was looked for at RX
		if st.ToIP.IsValid() {
			return fmt.Sprintf("its route leads elsewhere: give the device one to %s via %s", network(st.ToIP), ours(s.port(st.RX)))
		}
	case itself:
		return "that address is the device's own: send to one behind it"
	case prohibited:
		return "a filter drops them: have the device let them pass"
	case tooBig:
		if t.MTU > 0 {
			return fmt.Sprintf("frames of %s at most, or an MTU of %d on the device", largest(t.MTU), st.Size-packet.EtherLen)
		}
		return fmt.Sprintf("smaller frames, or an MTU of %d on the device", st.Size-packet.EtherLen)
	case circle:
		if st.Captured {
			return "routes lead in a circle, or the TTL in " + st.Source + " is too small"
		}
		return "routes lead in a circle: the device's must lead to " + ours(s.port(st.RX))
	case redirect:
		mend := gatewayIs(s.port(st.TX), st, t.Gateway)
		if st.Captured {
			mend += fmt.Sprintf(" --mac-dst %s=gw", st.TX)
		}
		return mend
	}
	return "the device's log may say more"
}

// largest is the largest frame of an MTU.
func largest(mtu int) units.Size { return units.Size(mtu + packet.EtherLen + units.FCS) }
