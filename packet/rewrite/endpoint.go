package rewrite

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// A Mapping gives one end of a packet, source or destination, another address, another port, or both. Both directions of a flow
// are mapped alike, as each end is looked at by itself.
type Mapping struct{ From, To Endpoint }

// An Endpoint is addresses, ports, or both.
type Endpoint struct {
	Prefix netip.Prefix // masked; invalid: any address
	Port   uint16       // of TCP and UDP; 0: any
}

// ParseMap reads FROM=TO, each ADDRESS[/LEN][:PORT] or :PORT; IPv6 with a port is [ADDRESS/LEN]:PORT. TO's length says how many
// bits are new, the others are kept. Errors begin with the text.
func ParseMap(text string) (Mapping, error) {
	m, err := parseMap(text)
	if err != nil {
		return Mapping{}, fmt.Errorf("%q: %w", text, err)
	}
	return m, nil
}

func parseMap(text string) (m Mapping, err error) {
	from, to, ok := strings.Cut(text, "=")
	if !ok {
		return m, errors.New("want FROM=TO, as 10.0.0.0/8=172.16.0.0/16, 10.0.0.1:80=10.0.0.2:8080, :80=:8080, [2001:db8::/32]:80=[fd00::/32]:81")
	}
	if m.From, err = parseEndpoint(from); err != nil {
		return m, err
	}
	if m.To, err = parseEndpoint(to); err != nil {
		return m, err
	}
	a, b := m.From.Prefix, m.To.Prefix
	switch {
	case b.IsValid() && !a.IsValid():
		return m, errors.New("an address only behind =: want one before it too, as 0.0.0.0/0:80=10.0.0.1:8080")
	case b.IsValid() && a.Addr().Is4() != b.Addr().Is4():
		return m, errors.New("IPv4 and IPv6: want addresses of one family")
	case m.To.Port > 0 && m.From.Port == 0:
		return m, errors.New("a port only behind =: want one before it too, as 10.0.0.1:80=10.0.0.2:8080")
	case m.From == m.To:
		return m, errors.New("both sides are the same")
	}
	return m, nil
}

func parseEndpoint(text string) (e Endpoint, err error) {
	address, port, ported := text, "", false
	switch at := strings.LastIndexByte(text, ':'); {
	case strings.HasPrefix(text, "["):
		inside, behind, closed := strings.Cut(text[1:], "]")
		if !closed || behind != "" && !strings.HasPrefix(behind, ":") {
			return e, fmt.Errorf("%q: want [ADDRESS/LEN]:PORT", text)
		}
		address, ported = inside, behind != ""
		port = strings.TrimPrefix(behind, ":")
	case at >= 0 && strings.IndexByte(text, ':') == at:
		address, port, ported = text[:at], text[at+1:], true
	}
	if ported {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return e, fmt.Errorf("port %q: want 1 to 65535", port)
		}
		e.Port = uint16(n)
		if address == "" {
			return e, nil
		}
	}
	e.Prefix, err = netip.ParsePrefix(address)
	if a, bare := netip.ParseAddr(address); bare == nil && a.Zone() == "" {
		e.Prefix, err = netip.PrefixFrom(a, a.BitLen()), nil
	}
	if err != nil || e.Prefix.Addr().Is4In6() {
		return e, fmt.Errorf("%q: want an address, a prefix, as 10.0.0.0/8 or 2001:db8::/32, a port, as :80, or address and port", text)
	}
	e.Prefix = e.Prefix.Masked()
	return e, nil
}

// String is what ParseMap reads.
func (m Mapping) String() string { return m.From.String() + "=" + m.To.String() }

func (e Endpoint) String() string {
	address, port := "", ""
	if e.Port > 0 {
		port = ":" + strconv.Itoa(int(e.Port))
	}
	switch p := e.Prefix; {
	case p.IsValid() && p.IsSingleIP():
		address = p.Addr().String()
	case p.IsValid():
		address = p.String()
	}
	if e.Prefix.Addr().Is6() && port != "" {
		address = "[" + address + "]"
	}
	return address + port
}

// covers says whether every end that is one of o is one of e.
func (e Endpoint) covers(o Endpoint) bool {
	p, q := e.Prefix, o.Prefix
	return (e.Port == 0 || e.Port == o.Port) && (!p.IsValid() || q.IsValid() && p.Bits() <= q.Bits() && p.Contains(q.Addr()))
}

// translate gives the address the mapping's new bits, if it has any. false: it is not of the mapping, or it belongs to nobody or
// to a group, before or after, and no more than everybody's is mapped.
func (m Mapping) translate(a netip.Addr) (netip.Addr, bool) {
	if !m.From.Prefix.IsValid() {
		return a, true
	}
	if !m.From.Prefix.Contains(a) {
		return a, false
	}
	if !m.To.Prefix.IsValid() {
		return a, true
	}
	to, left := m.To.Prefix.Addr().As16(), m.To.Prefix.Bits()
	b := a.As16()
	part := b[:]
	high := to[:]
	if a.Is4() {
		part, high = part[12:], high[12:]
	}
	for i := 0; left > 0; i++ {
		keep := byte(0xff) >> min(left, 8)
		part[i] = high[i] | part[i]&keep
		left -= 8
	}
	n := netip.AddrFrom16(b)
	if a.Is4() {
		n = n.Unmap()
	}
	if m.From.Prefix.Bits() < wide && (nobody(a) || nobody(n)) {
		return a, false
	}
	return n, true
}

// wide is the length below which a prefix holds more than one kind of address.
const wide = 8

// nobody says whether no single host has the address.
func nobody(a netip.Addr) bool { return groupIP(a) || a.IsUnspecified() }

// end is what the first mapping that fits makes of one end. skipped: one needed a port, and the packet is a later fragment.
func end(rules []Mapping, a netip.Addr, port uint16, later bool) (to netip.Addr, toPort uint16, skipped bool) {
	i := slices.IndexFunc(rules, func(m Mapping) bool {
		if m.From.Port > 0 && m.From.Port != port {
			if later {
				_, fits := m.translate(a)
				skipped = skipped || fits
			}
			return false
		}
		var fits bool
		to, fits = m.translate(a)
		return fits
	})
	if i < 0 {
		return a, port, skipped
	}
	if toPort = rules[i].To.Port; toPort == 0 {
		toPort = port
	}
	return to, toPort, skipped
}
