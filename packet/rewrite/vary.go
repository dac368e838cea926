package rewrite

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loadtest/packet"
)

// A Vary gives each pass through a capture other values of one field, so that no pass repeats the flows of the one before: in
// pass k the value as captured plus k modulo N. It is applied while packets are sent; nothing is kept of a pass.
type Vary struct {
	field varied
	n     uint32
}

// A varied is a field, which the side has that opened the flow (src), or the other one (dst).
type varied uint8

const (
	srcIP varied = iota
	dstIP
	srcPort
	dstPort
	srcMAC
	dstMAC
)

func fields() []string {
	return []string{"src-ip", "dst-ip", "src-port", "dst-port", "src-mac", "dst-mac"}
}

// Most values of a field: of a port, and of what has 32 bits or more.
const (
	mostPorts  = 65535
	mostValues = 1 << 24
)

// ParseVary reads FIELD:N, where N is how many values there are, 2 or more. Errors begin with the text.
func ParseVary(text string) (Vary, error) {
	name, number, _ := strings.Cut(text, ":")
	field := slices.Index(fields(), name)
	if field < 0 {
		return Vary{}, fmt.Errorf("%q: want FIELD:N, as src-ip:1000; fields: %s", text, strings.Join(fields(), ", "))
	}
	v := Vary{field: varied(field)}
	most := uint64(mostValues)
	if v.port() {
		most = mostPorts
	}
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil || n < 2 || n > most {
		return Vary{}, fmt.Errorf("%q: want how many values %s takes, 2 to %d, as %s:1000", text, name, most, name)
	}
	v.n = uint32(n)
	return v, nil
}

// String is what ParseVary reads.
func (v Vary) String() string { return fmt.Sprintf("%s:%d", fields()[v.field], v.n) }

func (v Vary) port() bool { return v.field == srcPort || v.field == dstPort }

// A Place is where Put writes in one packet, and the value that was captured: 12 bytes.
type Place struct {
	base uint32
	at   uint16 // of the field, or of its last 4 bytes
	ip   uint16 // of the IPv4 header's checksum; 0: it does not count the field
	sum  uint16 // of the transport's; 0: likewise
	how  uint8
}

const (
	placePort    = 1 << iota // 2 bytes, never 0
	placeIPOnes              // a checksum of zero is written 0xffff
	placeSumOnes             // likewise
)

// Place finds the field in a frame as it will be sent: after its tag was cleared, before any Put. fromServer says that the packet
// is of the side that did not open the flow, whose source is the flow's destination. false: the frame has no such field, or only
// as a group or a port of 0, or speaks of addresses in its payload, as ICMP errors and neighbour discovery do; it is to be sent as
// it is.
func (v Vary) Place(b []byte, fromServer bool) (Place, bool) {
	end := int(v.field) % 2
	if fromServer {
		end = 1 - end
	}
	if v.field >= srcMAC {
		at := 6 * (1 - end) // the destination stands first
		if len(b) < packet.EtherLen || b[at]&1 != 0 {
			return Place{}, false
		}
		return Place{base: binary.BigEndian.Uint32(b[at+2:]), at: uint16(at + 2)}, true
	}
	h, _ := packet.Parse(b)
	p, ok := look(b, h.L3, h.Type, 0)
	if !ok || p.l4 > 1<<15 || h.Quotes(b) || p.discovery() {
		return Place{}, false
	}
	var to Place
	if v.port() {
		at := p.port(end)
		if at == 0 || binary.BigEndian.Uint16(b[at:]) == 0 {
			return Place{}, false
		}
		to = Place{base: uint32(binary.BigEndian.Uint16(b[at:])), at: uint16(at), sum: uint16(p.sum()), how: placePort}
	} else {
		a := p.addr(end)
		if nobody(address(a)) {
			return Place{}, false
		}
		at := p.addrAt(end) + len(a) - 4
		to = Place{base: binary.BigEndian.Uint32(b[at:]), at: uint16(at), sum: uint16(p.pseudo(end))}
		if !p.v6 {
			to.ip = uint16(p.l3 + 10)
		}
	}
	if to.ip > 0 && binary.BigEndian.Uint16(b[to.ip:]) == 0xffff {
		to.how |= placeIPOnes
	}
	if to.sum > 0 && (p.proto == packet.ProtoUDP || binary.BigEndian.Uint16(b[to.sum:]) == 0xffff) {
		to.how |= placeSumOnes
	}
	return to, true
}

// Put writes the field's value of a pass, from 0, whatever pass the frame holds, and updates the checksums that count it: right
// ones stay right, wrong ones wrong by as much. Pass 0 is the frame as it was. Addresses count on in their last 32 bits, which
// wrap; ports from 65535 on to 1.
func (v Vary) Put(b []byte, p Place, pass uint64) {
	k := uint32(pass % uint64(v.n))
	var d uint32
	if p.how&placePort > 0 {
		field := b[p.at : p.at+2]
		to := uint16((p.base-1+k)%mostPorts + 1)
		d = uint32(^binary.BigEndian.Uint16(field)) + uint32(to)
		binary.BigEndian.PutUint16(field, to)
	} else {
		field := b[p.at : p.at+4]
		was, to := ^binary.BigEndian.Uint32(field), p.base+k
		d = was>>16 + was&0xffff + to>>16 + to&0xffff
		binary.BigEndian.PutUint32(field, to)
	}
	if p.ip > 0 {
		correct(b[p.ip:], d, ones(p.how&placeIPOnes))
	}
	if p.sum > 0 {
		correct(b[p.sum:], d, ones(p.how&placeSumOnes))
	}
}

func ones(set uint8) uint16 {
	if set != 0 {
		return 0xffff
	}
	return 0
}

// Values is after how many passes the field has its first value again.
func (v Vary) Values() int64 {
	return int64(v.n)
}
