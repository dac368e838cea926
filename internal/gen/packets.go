package gen

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"

	"loadtest/packet"
)

// Options are what only the run knows.
type Options struct {
	Src, Dst [6]byte      // MAC addresses, written as they are also with Swap
	Avoid    []netip.Addr // gateways and the tester's own: no flow gets these
	Swap     bool         // the other direction: each flow has its addresses and ports the other way round
}

// Packets makes one packet of each size for each flow: every flow sees all sizes. They have no times, and their payload is zeros.
// UDP goes to the echo port as in RFC 2544 (C.2.6.4), TCP is a segment with PSH and ACK; all checksums are right.
func (s Spec) Packets(o Options) (*packet.Store, error) {
	t, err := s.tuples(o.Avoid)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", s, err)
	}
	store := &packet.Store{Link: packet.LinkEthernet}
	store.Grow(len(s.Sizes)*s.Flows, int(s.Bytes()))
	buf := make([]byte, slices.Max(s.Sizes).Frame()) // only headers are ever written to it
	for round := range s.Sizes {
		for flow := range s.Flows {
			b := buf[:s.Sizes[(round+flow)%len(s.Sizes)].Frame()]
			s.ethernet(b, o)
			s.ip(b[s.network():], t.tuple(uint64(flow)), uint16(store.Len()), o.Swap)
			store.Append(b, 0, len(b))
		}
	}
	return store, nil
}

// Bytes is how many bytes Packets makes: nothing else keeps a source from asking for more than there is memory.
func (s Spec) Bytes() int64 {
	n := 0
	for _, size := range s.Sizes {
		n += size.Frame()
	}
	return int64(n) * int64(s.Flows)
}

func (s Spec) ethernet(b []byte, o Options) {
	copy(b, o.Dst[:])
	copy(b[6:], o.Src[:])
	if s.VLAN != 0 {
		binary.BigEndian.PutUint16(b[12:], packet.TypeVLAN)
		binary.BigEndian.PutUint16(b[14:], uint16(s.VLAN))
	}
	typ := uint16(packet.TypeIPv4)
	if s.six() {
		typ = packet.TypeIPv6
	}
	binary.BigEndian.PutUint16(b[s.network()-2:], typ)
}

// ip writes the packet that fills b.
func (s Spec) ip(b []byte, t tuple, id uint16, swap bool) {
	proto := s.number()
	src, dst := t.src[12:], t.dst[12:]
	if s.six() {
		src, dst = t.src[:], t.dst[:]
	}
	from, to := t.port, uint16(serverPort)
	if swap {
		src, dst, from, to = dst, src, to, from
	}
	var rest []byte
	if s.six() { // RFC 8200, 3
		b[0], b[6], b[7] = 0x60, proto, 64
		binary.BigEndian.PutUint16(b[4:], uint16(len(b)-40))
		copy(b[8:], src)
		copy(b[24:], dst)
		rest = b[40:]
	} else { // RFC 791, 3.1
		clear(b[:20])
		b[0], b[8], b[9] = 0x45, 64, proto
		binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
		binary.BigEndian.PutUint16(b[4:], id)
		copy(b[12:], src)
		copy(b[16:], dst)
		binary.BigEndian.PutUint16(b[10:], ^fold(sum(b[:20])))
		rest = b[20:]
	}
	pseudo := sum(src) + sum(dst) + uint32(proto) + uint32(len(rest)) // RFC 768; RFC 8200, 8.1
	s.transport(rest, from, to, pseudo)
}

// number is the IP protocol.
func (s Spec) number() uint8 {
	switch {
	case s.Proto == udp:
		return packet.ProtoUDP
	case s.Proto == tcp:
		return packet.ProtoTCP
	case s.six():
		return packet.ProtoICMPv6
	}
	return packet.ProtoICMP
}

// transport writes the header that b begins with; the payload behind it is zeros, which add nothing to its checksum.
func (s Spec) transport(b []byte, from, to uint16, pseudo uint32) {
	head, check := b[:8], 6
	switch s.Proto {
	case tcp: // RFC 9293, 3.1
		head, check = b[:20], 16
		clear(head)
		binary.BigEndian.PutUint32(b[4:], 1) // sequence, acknowledgment
		binary.BigEndian.PutUint32(b[8:], 1)
		b[12], b[13] = 5<<4, 0x18                 // length in words; PSH, ACK
		binary.BigEndian.PutUint16(b[14:], 65535) // window
	case udp:
		clear(head)
		binary.BigEndian.PutUint16(b[4:], uint16(len(b)))
	case icmp:
		check = 2
		clear(head)
		b[0] = 8 // echo request (RFC 792)
		if s.six() {
			b[0] = 128 // RFC 4443, 4.1
		} else {
			pseudo = 0
		}
		binary.BigEndian.PutUint32(b[4:], 1<<16|1) // identifier, sequence
	}
	if s.Proto != icmp {
		binary.BigEndian.PutUint16(b, from)
		binary.BigEndian.PutUint16(b[2:], to)
	}
	c := ^fold(pseudo + sum(head))
	if c == 0 && s.Proto == udp { // 0 would say that there is none
		c = 0xffff
	}
	binary.BigEndian.PutUint16(b[check:], c)
}

// sum adds up the words of an even number of bytes.
func sum(b []byte) (n uint32) {
	for ; len(b) > 0; b = b[2:] {
		n += uint32(binary.BigEndian.Uint16(b))
	}
	return n
}

// fold is a sum in one's complement (RFC 1071).
func fold(n uint32) uint16 {
	n = n>>16 + n&0xffff
	return uint16(n>>16 + n)
}
