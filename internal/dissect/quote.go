package dissect

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"loadtest/packet"
)

// A Quote is an ICMP error with the packet that it is about (RFC 792, RFC 4443), or a redirect (RFC 4861, 4.5).
type Quote struct {
	Type, Code uint8
	V6         bool
	From       netip.Addr // who says so
	MTU        int        // of fragmentation needed, packet too big: the IP packet's; else 0
	Gateway    netip.Addr // of a redirect; else invalid
	Packet     []byte     // the quoted packet from its IP header on, cut as its sender liked; a part of the frame
}

// Quoted is what an ICMP or ICMPv6 error quotes.
func Quoted(b []byte) (q Quote, ok bool) { return quoted(parse(b)) }

func quoted(f frame) (q Quote, ok bool) {
	p := f.body()
	if !f.icmp() || len(p) < 8 {
		return q, false
	}
	q = Quote{Type: p[0], Code: p[1], V6: f.Type == packet.TypeIPv6}
	q.From, _ = f.addrs()
	if Reason(q.V6, q.Type, q.Code) == "" {
		return Quote{}, false
	}
	q.Packet = p[8:]
	switch {
	case q.V6 && q.Type == redirect6:
		if len(p) < 40 {
			return Quote{}, false
		}
		q.Gateway = addr(p[8:24])
		if q.Packet = option(p[40:], 4); len(q.Packet) >= 6 {
			q.Packet = q.Packet[6:]
		}
	case q.V6 && q.Type == 2:
		q.MTU = int(binary.BigEndian.Uint32(p[4:]))
	case q.V6 && q.Type != 4:
		q.Packet = unextended(q.Packet, 8*int(p[4]))
	case !q.V6 && q.Type == 5:
		q.Gateway = addr(p[4:8])
	case !q.V6 && q.Type != 4:
		if q.Type == 3 && q.Code == 4 {
			q.MTU = int(binary.BigEndian.Uint16(p[6:])) // RFC 1191, 4
		}
		q.Packet = unextended(q.Packet, 4*int(p[5]))
	}
	version, header := byte(4), 20
	if q.V6 {
		version, header = 6, 40
	}
	if len(q.Packet) < header || q.Packet[0]>>4 != version {
		return Quote{}, false
	}
	return q, true
}

// unextended is a quoted packet without the extensions that may follow (RFC 4884, 4); n is its length, 0 if there are none.
func unextended(p []byte, n int) []byte {
	if n == 0 {
		return p
	}
	return p[:min(n, len(p))]
}

// to is where the quoted packet went.
func (q Quote) to() netip.Addr {
	if q.V6 {
		return addr(q.Packet[24:40])
	}
	return addr(q.Packet[16:20])
}

// String is the line about it, without the protocol.
func (q Quote) String() string {
	reason := Reason(q.V6, q.Type, q.Code)
	switch {
	case q.Gateway.IsValid():
		return fmt.Sprintf("redirect from %s: %s via %s", q.From, q.to(), q.Gateway)
	case TooBig(q.V6, q.Type, q.Code):
		return fmt.Sprintf("%s, MTU %d, from %s (to %s)", reason, q.MTU, q.From, q.to())
	case q.Type == 3 && !q.V6 || q.Type == 1 && q.V6:
		return fmt.Sprintf("%s says %s %s", q.From, q.to(), reason)
	}
	return fmt.Sprintf("%s from %s (to %s)", reason, q.From, q.to())
}

// TooBig says whether a type and code of ICMP mean that a packet does not fit the next link.
func TooBig(v6 bool, kind, code uint8) bool { return v6 && kind == 2 || !v6 && kind == 3 && code == 4 }

// Reason is what an ICMP error means, "" for what is none: "unreachable (port)", "time exceeded", "redirect".
func Reason(v6 bool, kind, code uint8) string {
	names := map[uint8]string{3: "unreachable", 4: "source quench", 5: "redirect", 11: "time exceeded", 12: "parameter problem"}
	if v6 {
		names = map[uint8]string{1: "unreachable", 2: "packet too big", 3: "time exceeded", 4: "parameter problem", redirect6: "redirect"}
	}
	name := names[kind]
	switch {
	case TooBig(v6, kind, code) && !v6:
		return "fragmentation needed"
	case name == "time exceeded" && code == 1:
		return name + " in reassembly"
	case name != "unreachable":
		return name
	}
	details := []string{"net", "host", "protocol", "port", "", "source route", "net unknown", "host unknown", "isolated", "net prohibited",
		"host prohibited", "net for this service", "host for this service", "prohibited", "precedence", "precedence"} // RFC 1812, 5.2.7.1
	if v6 {
		details = []string{"no route", "prohibited", "beyond scope", "address", "port", "source prohibited", "route rejects"} // RFC 4443, 3.1
	}
	if int(code) >= len(details) {
		return fmt.Sprintf("%s (code %d)", name, code)
	}
	return fmt.Sprintf("%s (%s)", name, details[code])
}
