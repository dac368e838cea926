package dut

import (
	"math"
	"net"
	"net/netip"
	"strings"
	"time"

	"loadtest/units"
)

// The readers of quantities keep the first error, with its place; after one, they answer anything.

func (b *builder) fail(p place, format string, args ...any) {
	if b.err == nil {
		b.err = b.src.errorf(p, format, args...)
	}
}

const (
	maxDelay = time.Hour
	maxRate  = 1e13 // per second
	maxQueue = 1 << 30
)

// rate reads bits on the wire per second, or packets per second where they are allowed; both whole numbers.
func (b *builder) rate(p place, text string, packets bool) (rate int64, inPackets bool) {
	want := "want bits on the wire per second, such as 1G"
	if packets {
		want += ", or packets per second, such as 1Mpps"
	}
	r, err := units.ParseRate(text)
	switch {
	case err != nil:
		b.fail(p, "rate %v", err)
	case r.Kind != units.Wire && !(packets && r.Kind == units.Packets):
		b.fail(p, "rate %q: %s", text, want)
	case r.Value < 1 || r.Value > maxRate:
		b.fail(p, "rate %q: want 1 to 10T", text)
	default:
		return int64(math.Round(r.Value)), r.Kind == units.Packets
	}
	return 1, false
}

// duration reads a time in ps; "" is 0.
func (b *builder) duration(p place, text string, least time.Duration) int64 {
	if text == "" {
		return 0
	}
	d, err := units.ParseDuration(text)
	switch {
	case err != nil:
		b.fail(p, "%v", err)
		return int64(least) * psPerNano
	case d < least || d > maxDelay:
		b.fail(p, "%q: want %v to %v", text, least, maxDelay)
		return int64(least) * psPerNano
	}
	return int64(d) * psPerNano
}

// chance reads a probability as a threshold of random.hit; "" is 0.
func (b *builder) chance(p place, text string) uint64 {
	if text == "" {
		return 0
	}
	l, err := units.ParseLoss(text)
	if err != nil {
		b.fail(p, "%v", err)
	}
	return uint64(math.Ldexp(float64(l), 64))
}

// number reads a whole number, or takes the default.
func (b *builder) number(p place, n *int64, otherwise, least, most int64) int64 {
	if n == nil {
		return otherwise
	}
	if *n < least || *n > most {
		b.fail(p, "%d: want %d to %d", *n, least, most)
		return otherwise
	}
	return *n
}

// mac reads a MAC address; "" is the default.
func (b *builder) mac(p place, text string, otherwise [6]byte) [6]byte {
	if text == "" {
		return otherwise
	}
	m, err := net.ParseMAC(text)
	if err != nil || len(m) != 6 {
		b.fail(p, "MAC address %q: want six bytes, such as 02:00:00:00:00:01", text)
		return otherwise
	}
	return [6]byte(m)
}

func (b *builder) address(p place, text string) netip.Addr {
	a, err := netip.ParseAddr(text)
	if err != nil || a.Zone() != "" || a.Is4In6() {
		b.fail(p, "address %q: want IPv4 or IPv6, such as 172.16.0.10 or fd00:16::10", text)
		return netip.IPv4Unspecified()
	}
	return a
}

func (b *builder) prefix(p place, text string) netip.Prefix {
	a, err := netip.ParsePrefix(text)
	if err != nil || a.Addr().Is4In6() {
		b.fail(p, "prefix %q: want an address and a length, such as 172.17.0.0/16 or fd01::/16", text)
		return netip.PrefixFrom(netip.IPv4Unspecified(), 32)
	}
	return a.Masked()
}

// name checks a name: it stands in port names and in ends of links.
func (b *builder) name(p place, text string) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	switch {
	case text == "":
		b.fail(p, "no name: want letters, digits, - and _")
	case strings.Trim(text, letters) != "":
		b.fail(p, "name %q: want letters, digits, - and _", text)
	}
	return text
}

// list shows names in an error.
func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
