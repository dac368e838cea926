package replay

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"loadtest/packet"
)

// packets makes a random store for a lane, and what is known of each packet. Addresses are the lane's own.
func packets(rng *rand.Rand, lane int, tags packet.TagMode) (*packet.Store, []fact) {
	s, facts := &packet.Store{}, []fact(nil)
	room := []float64{0, 1, 0.5}[rng.IntN(3)]
	nanos := int64(1e18)
	for i := range 2 + rng.IntN(40) {
		b, f := made(rng, lane, rng.Float64() < room)
		binary.BigEndian.PutUint32(b[2:], uint32(i))
		b[11] = byte(lane)
		f.lane, f.size = lane, len(b)
		f.tagged = packet.TagOffset(b, tags) >= 0
		s.Append(b, nanos, len(b))
		facts = append(facts, f)
		nanos += 1000 + rng.Int64N(30000)
	}
	return s, facts
}

// made is one frame: IPv4, IPv6 or neither, in a VLAN or not, of any size.
func made(rng *rand.Rand, lane int, room bool) ([]byte, fact) {
	size := []int{34, 60, 64, 128, 1514, 34 + rng.IntN(1480)}[rng.IntN(6)]
	flow := byte(rng.IntN(4))
	b := []byte{2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0}
	if rng.IntN(3) == 0 {
		b = append(b, 0x81, 0, 0, byte(1+lane))
	}
	at := len(b) + 2
	var f fact
	switch kind := rng.IntN(5); {
	case kind == 0 && size >= at+48:
		b = append(b, 0x86, 0xdd, 0x60, 0, 0, 0, 0, 0, 17, 64)
		binary.BigEndian.PutUint16(b[at+4:], uint16(size-at-40))
		b = append(b, 0x20, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, byte(lane), 0x20, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, flow)
		b = append(b, 0, 7, 0, 9, byte((size-at-40)>>8), byte(size-at-40), 0, 0)
		f = fact{kind: "IPv6 UDP", flow: fmt.Sprint("6 ", lane, flow)}
	case kind == 1:
		b = append(b, 0x88, 0xb5, byte(lane), flow, 1)
		f = fact{kind: "other", flow: fmt.Sprint("raw ", lane, flow, room)}
	default:
		proto, name := byte(253), "IPv4"
		if size >= at+28 {
			proto, name = 17, "IPv4 UDP"
		}
		ip := max(size-at, 20)
		if proto == 17 && rng.IntN(3) == 0 {
			ip = 28 + rng.IntN(ip-27) // the rest is padding
		}
		b = append(b, 8, 0, 0x45, 0, byte(ip>>8), byte(ip), 0, 0, 0, 0, 64, proto, 0, 0, 198, 18, 0, byte(lane), 198, 19, 0, flow)
		if proto == 17 {
			b = append(b, 0, 7, 0, 9, byte((ip-20)>>8), byte(ip-20), 0, 0)
		}
		f = fact{kind: name, flow: fmt.Sprint("4 ", lane, flow, proto)}
		size = max(size, len(b))
		b = append(b, make([]byte, size-len(b))...)
		if !room && proto == 17 && ip > 28 {
			b[at+ip-1] = 7
		}
		return b, f
	}
	b = append(b, make([]byte, max(0, size-len(b)))...)
	if !room {
		b[len(b)-1] = 7
		if f.kind == "other" {
			f.flow += fmt.Sprint(" ", len(b)-at)
		}
	}
	return b, f
}

// foreign is a frame that nobody here sent, and its kind.
func foreign(rng *rand.Rand) (string, []byte) {
	b := make([]byte, 60+rng.IntN(100))
	copy(b, []byte{2, 0, 0, 0, 9, 9, 2, 0, 0, 0, 9, 9})
	switch rng.IntN(4) {
	case 0:
		b[12], b[13] = 8, 6
		return "ARP", b
	case 1:
		b[12], b[13] = 0x88, 0xcc
		return "LLDP", b
	case 2:
		copy(b[12:], []byte{8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 1, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 8})
		return "ICMP", b
	}
	copy(b[12:], []byte{0x86, 0xdd, 0x60, 0, 0, 0, 0, 20, 58, 255})
	b[54] = 135
	return "IPv6 ND", b
}
