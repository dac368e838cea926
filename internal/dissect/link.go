package dissect

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"loadtest/packet"
)

// EtherTypes beside those of package packet.
const (
	typeTransparent = 0x6558 // Ethernet in GRE, Geneve
	typeRARP        = 0x8035
	typeMPLS        = 0x8847
	typePPPoE       = 0x8864
	typeSlow        = 0x8809
	typeEAPOL       = 0x888e
	typeMACsec      = 0x88e5
)

// link is a line about a frame of neither IP nor LLC.
func (f frame) link() string {
	p := f.payload()
	switch f.Type {
	case packet.TypeLLDP:
		return f.station("LLDP", lldp(p))
	case typeEAPOL:
		return "802.1X " + eapol(p) + " from " + f.from()
	case typeSlow:
		if len(p) >= 30 && p[0] == 1 { // IEEE 802.1AX, 6.4.2: LACP, its actor
			return fmt.Sprintf("LACP system %s, port %d", mac(p[6:12]), binary.BigEndian.Uint16(p[16:]))
		}
	case typeRARP:
		if len(p) >= 28 && binary.BigEndian.Uint16(p[6:]) == 3 { // RFC 903: who am I
			return "RARP who-is " + mac(p[18:24]) + " from " + mac(p[8:14])
		}
		if len(p) >= 28 && binary.BigEndian.Uint16(p[6:]) == 4 {
			return "RARP " + mac(p[18:24]) + " is " + addr(p[24:28]).String()
		}
	}
	name, ok := map[uint16]string{
		packet.TypeARP: "ARP", typeRARP: "RARP", 0x8808: "flow control", typeSlow: "slow protocol", typeMPLS: "MPLS", 0x8848: "MPLS",
		0x8863: "PPPoE discovery", typePPPoE: "PPPoE", typeMACsec: "MACsec", 0x88f7: "PTP", 0x8902: "CFM", 0x9000: "loopback test",
	}[f.Type]
	if !ok {
		name = fmt.Sprintf("EtherType 0x%04x", f.Type)
	}
	return fmt.Sprintf("%s, %s from %s", name, f.size(), f.from())
}

// station is a line about a device that tells its name.
func (f frame) station(protocol, name string) string {
	if name == "" {
		return protocol + " from " + f.from()
	}
	return protocol + " " + name
}

// lldp is the name of a system and its port (IEEE 802.1AB, 8.5).
func lldp(p []byte) string {
	var chassis, system, port, description string
	for len(p) >= 2 {
		kind, n := p[0]>>1, int(binary.BigEndian.Uint16(p)&0x01ff)
		if p = p[2:]; kind == 0 || n > len(p) {
			break
		}
		switch v := p[:n]; kind {
		case 1:
			chassis = lldpID(v, 4)
		case 2:
			port = lldpID(v, 3)
		case 4:
			description = text(v, maxName)
		case 5:
			system = text(v, maxName)
		}
		p = p[n:]
	}
	if system == "" {
		system = chassis
	}
	if port == "" || strings.Count(port, ":") == 5 && description != "" { // a MAC address says less than a name
		port = description
	}
	return strings.TrimSpace(system + " " + port)
}

// lldpID is the value of a chassis or port. Its subtypes for a MAC address and, one higher, for an address with its family (1 IPv4,
// 2 IPv6) differ; of all others it is text.
func lldpID(v []byte, subtypeMAC byte) string {
	switch {
	case len(v) == 7 && v[0] == subtypeMAC:
		return mac(v[1:])
	case (len(v) == 2+4 || len(v) == 2+16) && v[0] == subtypeMAC+1:
		return addr(v[2:]).String()
	case len(v) > 1:
		return text(v[1:], maxName)
	}
	return ""
}

// eapol is what a frame of port authentication says (IEEE 802.1X, 11.3; RFC 3748, 4).
func eapol(p []byte) string {
	if len(p) < 4 {
		return "EAPOL"
	}
	if name, ok := map[byte]string{1: "EAPOL start", 2: "EAPOL logoff", 3: "EAPOL key", 5: "MACsec key agreement"}[p[1]]; ok {
		return name
	}
	if p[1] != 0 || len(p) < 8 {
		return "EAPOL"
	}
	name := map[byte]string{1: "request", 2: "response", 3: "success", 4: "failure"}[p[4]]
	if len(p) > 8 && p[4] <= 2 && p[8] == 1 {
		name = "identity " + name
	}
	return strings.TrimSpace("EAP " + name)
}

// llc is a line about a frame whose type is a length (IEEE 802.2).
func (f frame) llc() string {
	if d, ok := f.bpdu(); ok {
		return f.stp(d)
	}
	p := f.payload()
	if cisco(p, 0x2000) && len(p) > 12 {
		return f.station("CDP", cdp(p[12:]))
	}
	if len(p) > 0 && p[0] == 0xfe { // ISO network layer
		return "IS-IS, " + f.size() + " from " + f.from()
	}
	if len(p) > 0 {
		return fmt.Sprintf("LLC 0x%02x, %s from %s", p[0], f.size(), f.from())
	}
	return "LLC, " + f.size() + " from " + f.from()
}

// cisco says whether a payload is SNAP of Cisco with this protocol.
func cisco(p []byte, protocol uint16) bool {
	return len(p) >= 8 && bytes.HasPrefix(p, []byte{0xaa, 0xaa, 3, 0, 0, 0x0c}) && binary.BigEndian.Uint16(p[6:]) == protocol
}

// bpdu is a spanning tree's message: the standard's, or Cisco's for each VLAN.
func (f frame) bpdu() (d []byte, ok bool) {
	if f.L3 == 0 || f.Type >= 0x0600 {
		return nil, false
	}
	p := f.payload()
	switch {
	case len(p) >= 3 && p[0] == 0x42:
		return p[3:], true
	case cisco(p, 0x010b):
		return p[8:], true
	}
	return nil, false
}

// stp is a line about a BPDU (IEEE 802.1D, 9.3). A bridge is its priority and its MAC address.
func (f frame) stp(d []byte) string {
	if len(d) >= 4 && d[3] == 0x80 {
		return "STP topology change from " + f.from()
	}
	if len(d) < 27 {
		return "STP from " + f.from()
	}
	return fmt.Sprintf("STP root %x.%s, bridge %x.%s, port %x", d[5:7], mac(d[7:13]), d[17:19], mac(d[19:25]), d[25:27])
}

// cdp is the name of a device and its port.
func cdp(p []byte) string {
	var device, port string
	for len(p) >= 4 {
		kind, n := binary.BigEndian.Uint16(p), int(binary.BigEndian.Uint16(p[2:]))
		if n < 4 || n > len(p) {
			break
		}
		switch kind {
		case 1:
			device = text(p[4:n], maxName)
		case 3:
			port = text(p[4:n], maxName)
		}
		p = p[n:]
	}
	return strings.TrimSpace(device + " " + port)
}
