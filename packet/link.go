package packet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// LINKTYPE_ numbers of the headers that packets are captured with (IANA, pcap link types).
const (
	LinkEthernet = 1
	LinkRaw      = 101 // an IP packet and nothing before it; 12 and 14 are what some systems wrote for it
	LinkLoop     = 108 // an address family before an IP packet
	LinkSLL      = 113 // Linux cooked: what interface "any" gives
	LinkIPv4     = 228
	LinkIPv6     = 229
	LinkSLL2     = 276

	linkRaw12, linkRaw14 = 12, 14
)

// LinkName is a Store's link type for a message; 0, made here, is Ethernet.
func LinkName(link uint16) string {
	switch link {
	case 0, LinkEthernet:
		return "Ethernet"
	case LinkRaw, linkRaw12, linkRaw14:
		return "raw IP"
	}
	name, ok := map[uint16]string{9: "PPP", 104: "Cisco HDLC", 105: "802.11", LinkLoop: "loopback", LinkSLL: "Linux cooked",
		127: "802.11 radiotap", LinkIPv4: "IPv4", LinkIPv6: "IPv6", 253: "netlink", LinkSLL2: "Linux cooked v2"}[link]
	if !ok {
		return "unknown"
	}
	return name
}

// Ethernet is the packet as an Ethernet frame. Where it has an Ethernet header that is the packet itself; else what is behind the
// header of its link type is copied to buf[:0], behind an Ethernet header whose addresses are zero. Errors name the record.
func (r *Record) Ethernet(buf []byte) ([]byte, error) {
	if r.Link <= LinkEthernet {
		return r.Data, nil
	}
	typ, head, err := linkHeader(r.Link, r.Data)
	if err != nil {
		return nil, fmt.Errorf("record %d: %w", r.Number, err)
	}
	if n := r.Wire - head; typ == 0 { // IEEE 802.3, clause 3.2.6
		if n > 1500 {
			return nil, fmt.Errorf("record %d: %d bytes in an 802.3 frame: want at most 1500", r.Number, n)
		}
		typ = uint16(n)
	}
	buf = append(buf[:0], make([]byte, EtherLen)...)
	binary.BigEndian.PutUint16(buf[12:], typ)
	return append(buf, r.Data[head:]...), nil
}

// linkHeader is the EtherType of a packet and the length of the header that says so; the EtherType is 0 if the packet has a
// length instead.
func linkHeader(link uint16, b []byte) (typ uint16, head int, err error) {
	protocol := 0 // where the header has it
	switch link {
	case LinkRaw, linkRaw12, linkRaw14, LinkIPv4, LinkIPv6:
		typ, err = version(b)
		return typ, 0, err
	case LinkLoop:
		head = 4
	case LinkSLL:
		protocol, head = 14, 16
	case LinkSLL2:
		protocol, head = 0, 20
	default:
		return 0, 0, fmt.Errorf("link type %d (%s): want Ethernet, raw IP, loopback or Linux cooked", link, LinkName(link))
	}
	if len(b) < head {
		return 0, 0, fmt.Errorf("%d bytes: a header of %s has %d", len(b), LinkName(link), head)
	}
	if link == LinkLoop {
		typ, err = family(b)
		return typ, head, err
	}
	switch typ = binary.BigEndian.Uint16(b[protocol:]); {
	case typ == 1 || typ == 4: // 802.3 without and with an LLC header
		return 0, head, nil
	case typ < 0x0600:
		return 0, 0, fmt.Errorf("protocol 0x%04x is no EtherType", typ)
	}
	return typ, head, nil
}

// family reads an address family: in network byte order, but link type 0, else the same, has that of the machine that captured.
func family(b []byte) (typ uint16, err error) {
	f := binary.BigEndian.Uint32(b)
	if f > 0xffff {
		f = bits.ReverseBytes32(f)
	}
	if !slices.Contains([]uint32{2, 10, 24, 28, 30}, f) { // IPv6 has another number on Linux, NetBSD, FreeBSD and Darwin
		return 0, fmt.Errorf("address family %d: want IPv4 (2) or IPv6 (10, 24, 28, 30)", f)
	}
	return version(b[4:])
}

// version is the EtherType of an IP packet.
func version(b []byte) (typ uint16, err error) {
	switch {
	case len(b) == 0:
		return 0, errors.New("0 bytes are no IP packet")
	case b[0]>>4 == 4:
		return TypeIPv4, nil
	case b[0]>>4 == 6:
		return TypeIPv6, nil
	}
	return 0, fmt.Errorf("IP version %d: want 4 or 6", b[0]>>4)
}
