package diagnose

import (
	"fmt"
	"slices"

	"loadtest/packet"
)

// wrongPort reads the arguments anew, so that the packets are expected where they come.
func wrongPort(s *Seen, st *Stream) (all []Finding) {
	for _, w := range st.Wrong {
		text := fmt.Sprintf("%d of %d came back at %s", w.Packets, st.Sent, w.Port)
		mend := fmt.Sprintf("expect them there: %s %s %s", st.Source, st.TX, w.Port)
		if w.Port == st.TX {
			text += ", out of which they were sent"
			mend = fmt.Sprintf("ports swapped? %s %s %s; to expect them there: %s %s %s", st.Source, st.RX, st.TX, st.Source, st.TX, st.TX)
		}
		all = append(all, Finding{WrongPort, st.Name, w.Port, text, mend})
	}
	return all
}

// unrecognised tells packets that came back changed.
func unrecognised(s *Seen, st *Stream) (all []Finding) {
	odd := slices.Clone(st.Odd)
	slices.SortStableFunc(odd, func(a, b Odd) int { return int(a.How) - int(b.How) })
	for _, o := range odd {
		text, mend := "", ""
		switch o.How {
		case Cut:
			text = fmt.Sprintf("cut (%s)", o.In)
			mend = "have what cuts them, a mirror port or a capture, pass all of a packet; or smaller packets"
		case Fragment:
			text = fmt.Sprintf("in fragments (%s)", o.In)
			mend = fmt.Sprintf("an MTU of %d on the device; or smaller packets", st.Size-packet.EtherLen)
		case Changed:
			text = fmt.Sprintf("changed (%s)", o.In)
			mend = "--tag never knows them by addresses and ports alone"
		case OtherVLAN:
			text = fmt.Sprintf("with other VLAN tags (%s)", o.In)
			mend = "have them untagged at " + st.RX + ", or tagged with TPID 0x8100: the switch's port, or --vlan"
		case Encapsulated:
			text = "inside " + o.In
			mend = fmt.Sprintf("put what takes %s off between the device and %s", o.In, st.RX)
		}
		all = append(all, Finding{Unrecognised, st.Name, st.RX, fmt.Sprintf("%d of %d came back %s", o.Packets, st.Sent, text), mend})
	}
	return all
}

// sealed takes encrypted packets for what became of ours.
func sealed(s *Seen, st *Stream) (all []Finding) {
	p := s.port(st.RX)
	for _, g := range p.Heard.groups {
		if slices.Contains([]string{"ESP", "ESP in UDP", "MACsec"}, g.sealed) {
			all = append(all, Finding{Unrecognised, "", p.Name, fmt.Sprintf("%s hears %d %s: the device encrypts, nobody decrypts", p.Name, g.frames, g.sealed),
				fmt.Sprintf("put the gateway that decrypts between the device and %s", p.Name)})
		}
	}
	return all
}

// wrongMAC compares where a stream goes with who is there.
func wrongMAC(s *Seen, st *Stream) []Finding {
	p := s.port(st.TX)
	group := st.To[0]&1 != 0 // multicast and broadcast reach everybody
	resolved := !st.Captured && len(p.Gateways) > 0
	i := slices.IndexFunc(p.Neighbors, func(n Neighbor) bool { return n.IP.IsValid() })
	if i < 0 {
		i = slices.IndexFunc(p.Neighbors, func(n Neighbor) bool { return n.Role == "" }) // a switch is not who is meant
	}
	if i < 0 || group || resolved || slices.ContainsFunc(p.Neighbors, func(n Neighbor) bool { return n.MAC == st.To }) {
		return nil
	}
	n := p.Neighbors[i]
	text := fmt.Sprintf("%s is sent to %s, but %s hears %s", st.Source, mac(st.To), p.Name, mac(n.MAC))
	mend := fmt.Sprintf("--mac-dst %s=%s", p.Name, mac(n.MAC))
	if n.IP.IsValid() {
		text += fmt.Sprintf(" (%s)", n.IP)
	}
	switch {
	case len(p.Gateways) > 0:
		mend = fmt.Sprintf("--mac-dst %s=gw", p.Name)
	case n.IP.IsValid() && !st.Captured:
		mend += ", or " + gatewayIs(p, st, n.IP)
	}
	return []Finding{{WrongMAC, st.Name, p.Name, text, mend}}
}
