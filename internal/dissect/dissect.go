// Package dissect says in a few words what a frame is, and takes out of it what a tester wants to know of its neighbours.
//
//	frame ─→ Line: one line for people      ─→ Question, Binding, Role: who asks, who is there
//	      ─→ Quoted: ICMP's answer to a packet of ours      ─→ Inner: what is inside a tunnel
//
// It reads whatever a wire brings: nothing panics, and no byte reaches a text unless it can be printed.
package dissect

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"unicode"

	"loadtest/packet"
	"loadtest/units"
)

// maxLine and maxName bound, in characters, a line and a name that somebody else chose.
const (
	maxLine = 120
	maxName = 32
)

// Line is one line about an Ethernet frame, at most 120 printable characters. Sizes in it are with FCS and padding, as on the
// wire.
func Line(b []byte) string {
	if len(b) < packet.EtherLen {
		return fmt.Sprintf("%d B, too short for Ethernet", len(b))
	}
	f := parse(b)
	return text([]byte(f.vlans()+f.line()), maxLine)
}

// A frame is one that is looked at.
type frame struct {
	packet.Headers
	b  []byte
	ok bool // the headers are whole
}

func parse(b []byte) frame {
	h, ok := packet.Parse(b)
	return frame{h, b, ok}
}

func (f frame) line() string {
	if r, ok := f.resolution(); ok {
		return r.String()
	}
	switch {
	case f.L3 == 0:
		return "cut in its VLAN tags, " + f.size() + " from " + f.from()
	case f.Type == packet.TypeIPv4 || f.Type == packet.TypeIPv6:
		return f.ip()
	case f.Type < 0x0600: // a length (IEEE 802.3, 3.2.6)
		return f.llc()
	}
	return f.link()
}

// vlans is "VLAN 20: ", or "VLAN 10.20: " for a tag in a tag.
func (f frame) vlans() string {
	var ids []string
	for at := 14; at < f.L3; at += 4 {
		ids = append(ids, fmt.Sprint(binary.BigEndian.Uint16(f.b[at:])&0x0fff))
	}
	if ids == nil {
		return ""
	}
	return "VLAN " + strings.Join(ids, ".") + ": "
}

// payload is what follows the EtherType, padding included.
func (f frame) payload() []byte { return f.b[f.L3:] }

// body is what follows IP and its extension headers, without padding: what of it is there.
func (f frame) body() []byte {
	end := min(f.End, len(f.b))
	return f.b[min(f.L4, end):end]
}

// addrs are the source and destination of a frame of IP whose headers are whole.
func (f frame) addrs() (src, dst netip.Addr) {
	ip := f.payload()
	if f.Type == packet.TypeIPv4 {
		return addr(ip[12:16]), addr(ip[16:20])
	}
	return addr(ip[8:24]), addr(ip[24:40])
}

// from is the sender's MAC address.
func (f frame) from() string { return mac(f.b[6:12]) }

// size is the length on the wire.
func (f frame) size() string { return fmt.Sprintf("%d B", max(len(f.b), units.MinFrame)+units.FCS) }

func mac(b []byte) string { return net.HardwareAddr(b).String() }

// addr is the address in 4 or 16 bytes.
func addr(b []byte) netip.Addr {
	a, _ := netip.AddrFromSlice(b)
	return a
}

// text makes foreign bytes fit to print, in so many characters at most.
func text(b []byte, most int) string {
	all := []rune(strings.Trim(string(b), " \x00\r\n\t"))
	if len(all) > most {
		all = append(all[:most-1], '…')
	}
	for i, r := range all {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			all[i] = '?'
		}
	}
	return string(all)
}
