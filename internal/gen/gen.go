// Package gen is the source that needs no capture: packets made from a few words, the same for the same words.
//
//	gen:64,flows=1000,proto=tcp ─Parse→ Spec ─Packets→ packet.Store
package gen

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"loadtest/packet"
	"loadtest/units"
)

// A Spec says which packets to make. It comes from Parse, which checks it.
type Spec struct {
	Sizes    []units.Size // of the frames: one, or the twelve of the IMIX in their order
	Flows    int          // how many tuples of addresses and ports
	Proto    string       // udp, tcp, or icmp: echo requests
	Src, Dst netip.Prefix // that the hosts are of: one family, no address in both
	VLAN     int          // 0: no tag
}

const (
	udp  = "udp"
	tcp  = "tcp"
	icmp = "icmp"

	imix         = "imix"
	defaultFlows = 256
)

// mix is the simple IMIX, 7 : 4 : 1 IP packets of 40, 576 and 1500 bytes, spread evenly. What has longer headers than the
// short ones have room for gets its own shortest size in their place.
func mix(least units.Size) []units.Size {
	s, m, l := max(64, least), units.Size(594), units.Size(1518)
	return []units.Size{s, m, s, s, m, s, l, m, s, s, m, s}
}

// prefixes are where hosts are from if nothing else is said: the networks for benchmarks of RFC 2544 (C.2.2) and, two of its
// /64, of RFC 5180 (section 8).
func prefixes(six bool) (src, dst netip.Prefix) {
	if six {
		return netip.MustParsePrefix("2001:2:0:1::/64"), netip.MustParsePrefix("2001:2:0:2::/64")
	}
	return netip.MustParsePrefix("198.18.0.0/16"), netip.MustParsePrefix("198.19.0.0/16")
}

func (s Spec) six() bool { return s.Src.Addr().Is6() }

// Label is the packets' size for tables: "64 B" or "imix".
func (s Spec) Label() string {
	if len(s.Sizes) > 1 {
		return imix
	}
	return s.size() + " B"
}

func (s Spec) size() string {
	if len(s.Sizes) > 1 {
		return imix
	}
	return strconv.Itoa(int(s.Sizes[0]))
}

// String is the source in the one form that says its size and else only what is not the default. Parse reads it as the same.
func (s Spec) String() string { return s.text(s.size()) }

func (s Spec) text(size string) string {
	text := "gen:" + size
	if s.Flows != defaultFlows {
		text += ",flows=" + strconv.Itoa(s.Flows)
	}
	if s.Proto != udp {
		text += ",proto=" + s.Proto
	}
	src, dst := prefixes(s.six())
	if s.Src != src {
		text += ",src=" + s.Src.String()
	}
	if s.Dst != dst {
		text += ",dst=" + s.Dst.String()
	}
	if s.VLAN != 0 {
		text += ",vlan=" + strconv.Itoa(s.VLAN)
	}
	if s.six() {
		text += ",ip6"
	}
	return text
}

// With is the same source with another size: bytes with FCS, or imix.
func (s Spec) With(size string) (Spec, error) {
	sized, err := s.with(size)
	if err != nil {
		return Spec{}, fmt.Errorf("%q: %w", s.text(size), err)
	}
	return sized, nil
}

func (s Spec) with(size string) (Spec, error) {
	if strings.TrimSpace(size) == imix {
		s.Sizes = mix(s.least())
		return s, nil
	}
	n, err := units.ParseSize(size)
	if err != nil {
		return s, fmt.Errorf("%w; the mix of sizes: imix", err)
	}
	if least := s.least(); n < least {
		return s, fmt.Errorf("%s need %d B", s.names(), least)
	}
	const longest = 0xffff // the total length of IPv4 (RFC 791, 3.1)
	if most := units.Size(s.network() + longest + units.FCS); !s.six() && n > most {
		return s, fmt.Errorf("IPv4 takes at most %d B", most)
	}
	s.Sizes = []units.Size{n}
	return s, nil
}

// network is where the IP header begins.
func (s Spec) network() int {
	if s.VLAN != 0 {
		return packet.EtherLen + 4
	}
	return packet.EtherLen
}

// headers is the length of all headers.
func (s Spec) headers() int {
	n := s.network() + 20
	if s.six() {
		n = s.network() + 40
	}
	if s.Proto == tcp {
		return n + 20
	}
	return n + 8
}

// names are the headers in words.
func (s Spec) names() string {
	text := "IPv4"
	if s.six() {
		text = "IPv6"
	}
	if s.VLAN != 0 {
		text = "a VLAN tag, " + text
	}
	return text + " and " + strings.ToUpper(s.Proto)
}

// least is the smallest size that holds the headers.
func (s Spec) least() units.Size {
	return max(units.MinSize, units.Size(s.headers()+units.FCS))
}

// Tagged is the smallest size with room for a packet.Tag behind the headers: what is smaller is matched by flow.
func (s Spec) Tagged() units.Size {
	return max(units.MinSize, units.Size(s.headers()+packet.TagLen+units.FCS))
}
