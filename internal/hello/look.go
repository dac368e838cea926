package hello

import (
	"encoding/binary"
	"fmt"
	"strings"

	"loadtest/internal/dissect"
	"loadtest/packet"
)

// A look is what a device may change of a packet.
type look struct {
	mac  [2][6]byte // destination, source
	vlan string     // numbers of its VLAN tags from the outside in, "10.20"; "" without
	ip   bool       // the rest is there
	ttl  uint8
	ends tuple
}

// lookAt looks at an Ethernet frame, and at the packet that is so many encapsulations deep in it.
func lookAt(b []byte, deep int) (l look) {
	l.mac = [2][6]byte{[6]byte(b), [6]byte(b[6:])}
	l.vlan = vlans(b).String()
	for range deep {
		_, b, _ = dissect.Inner(b)
	}
	a := arrive(b, "", 0)
	if l.ends, l.ip = tupleOf(a); l.ip {
		if l.ttl = b[a.h.L3+8]; a.h.Type == packet.TypeIPv6 {
			l.ttl = b[a.h.L3+7]
		}
	}
	return l
}

// deepest bounds how many encapsulations are looked through.
const deepest = 4

// encapsulations are the names of what a frame carries others in, from the outside in.
func encapsulations(b []byte) (names []string) {
	for len(names) < deepest {
		name, inner, ok := dissect.Inner(b)
		if !ok {
			break
		}
		names, b = append(names, name), inner
	}
	return names
}

// tags are the VLAN tags of a frame.
type tags struct {
	ids []string // their numbers from the outside in
	end int      // where the EtherType of what they tag stands
	odd uint16   // a TPID that packet.Parse does not know: vendors used it before IEEE 802.1ad; 0: none
}

func vlans(b []byte) (t tags) {
	for t.end = 12; t.end+4 <= len(b); t.end += 4 {
		switch tpid := binary.BigEndian.Uint16(b[t.end:]); tpid {
		case 0x9100, 0x9200, 0x9300:
			t.odd = tpid
		case packet.TypeVLAN, packet.TypeQinQ:
		default:
			return t
		}
		t.ids = append(t.ids, fmt.Sprint(binary.BigEndian.Uint16(b[t.end+2:])&0xfff))
	}
	return t
}

func (t tags) String() string { return strings.Join(t.ids, ".") }
