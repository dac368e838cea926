package gen

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"loadtest/internal/spell"
)

// Is says whether an argument is this source; a file of that name is ./gen.
func Is(text string) bool {
	return text == "gen" || strings.HasPrefix(text, "gen:") || strings.HasPrefix(text, "gen,")
}

// Parse reads a source. Without a SIZE it is 64 bytes with FCS, or the smallest that the headers need. IPv6 prefixes imply ip6.
// Errors begin with the text.
func Parse(text string) (Spec, error) {
	s, err := parse(text)
	if err != nil {
		return Spec{}, fmt.Errorf("%q: %w", text, err)
	}
	return s, nil
}

func parse(text string) (s Spec, err error) {
	if !Is(text) {
		return s, errors.New("want gen[:SIZE][,flows=256][,proto=udp][,src=PREFIX][,dst=PREFIX][,vlan=N][,ip6]")
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return s, errors.New("want one line of text")
	}
	words := strings.Split(text, ",")
	_, size, sized := strings.Cut(words[0], ":")
	s = Spec{Flows: defaultFlows, Proto: udp}
	six := false
	var seen []string
	for _, word := range words[1:] {
		key, value, valued := strings.Cut(word, "=")
		switch {
		case slices.Contains(seen, key):
			return s, fmt.Errorf("%s is given twice", key)
		case key == "ip6" && !valued:
			six = true
		case key == "ip6":
			return s, errors.New("ip6 takes no value")
		default:
			if err := s.set(key, value); err != nil {
				return s, err
			}
		}
		seen = append(seen, key)
	}
	if err := s.family(six); err != nil {
		return s, err
	}
	if !sized {
		size = strconv.Itoa(int(s.least()))
	}
	if s, err = s.with(size); err != nil {
		return s, err
	}
	_, err = s.tuples(nil)
	return s, err
}

// set takes a word of the source that has a value.
func (s *Spec) set(key, value string) (err error) {
	switch key {
	case "flows":
		s.Flows, err = number(key, value, 1<<31-1)
	case "vlan":
		s.VLAN, err = number(key, value, 4094) // 0 and 4095 are no VLANs (IEEE 802.1Q, table 9-2)
	case "proto":
		s.Proto = value
		if value != udp && value != tcp && value != icmp {
			err = fmt.Errorf("proto=%s: want udp, tcp or icmp", value)
		}
	case "src":
		s.Src, err = prefix(key, value)
	case "dst":
		s.Dst, err = prefix(key, value)
	default:
		err = unknown(key)
	}
	return err
}

// unknown says what a word may have been meant to be.
func unknown(key string) error {
	keys := []string{"flows", "proto", "src", "dst", "vlan", "ip6"}
	var near []string
	for _, k := range keys {
		if spell.Slips(strings.ToLower(key), k) < min(3, len(k)-1) {
			near = append(near, k)
		}
	}
	if near == nil {
		return fmt.Errorf("unknown key %q. Keys: %s; the size stands first: gen:64", key, strings.Join(keys, ", "))
	}
	return fmt.Errorf("unknown key %q. Near: %s", key, strings.Join(near, ", "))
}

func number(key, value string, most int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%s=%s: want 1 to %d", key, value, most)
	}
	return n, nil
}

// prefix reads where hosts are from; a bare address is the only one.
func prefix(key, value string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(value)
	if a, bare := netip.ParseAddr(value); bare == nil && a.Zone() == "" {
		p, err = netip.PrefixFrom(a, a.BitLen()), nil
	}
	if err != nil || p.Addr().Is4In6() || p.Addr().IsMulticast() {
		return p, fmt.Errorf("%s=%s: want a prefix of hosts, as 198.18.0.0/16 or 2001:2:0:1::/64", key, value)
	}
	return p.Masked(), nil
}

// family fills in the prefixes that were not given.
func (s *Spec) family(six bool) error {
	six = six || s.Src.Addr().Is6() || s.Dst.Addr().Is6()
	src, dst := prefixes(six)
	if !s.Src.IsValid() {
		s.Src = src
	}
	if !s.Dst.IsValid() {
		s.Dst = dst
	}
	for _, p := range []netip.Prefix{s.Src, s.Dst} {
		if six && p.Addr().Is4() {
			return fmt.Errorf("%s among IPv6: want prefixes of one family", p)
		}
	}
	// Apart, no packet has its own source as destination, and no flow of the other direction is one of these.
	if s.Src.Overlaps(s.Dst) {
		return fmt.Errorf("src %s and dst %s overlap: want two prefixes apart, as 10.0.0.0/25 and 10.0.0.128/25", s.Src, s.Dst)
	}
	return nil
}
