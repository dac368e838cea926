package testbed

import (
	"math"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// integer reads a whole number in YANG's notation (RFC 7950, section 9.2.1): 64, 0x40, 0100.
func integer(s string) (int, bool) {
	s = strings.TrimPrefix(s, "+")
	base := 10
	if hex, ok := strings.CutPrefix(s, "0x"); ok {
		s, base = hex, 16
	} else if len(s) > 1 && s[0] == '0' {
		base = 8
	}
	n, err := strconv.ParseUint(s, base, 32)
	return int(n), err == nil
}

// luaInteger reads a number in Lua's notation, which packet-size is in: 64, 0x40, 6.4e1. It must be whole.
func luaInteger(s string) (int, bool) {
	s = strings.ToLower(strings.Trim(s, " \t\n"))
	if strings.Trim(s, "0123456789abcdefpx.+-") != "" {
		return 0, false // what Go takes beyond Lua: 1_000, inf
	}
	if strings.Contains(s, "0x") && !strings.Contains(s, "p") {
		s += "p0"
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		return 0, false
	}
	return int(f), true
}

// address reads an address of the family 4 or 6, without a zone.
func address(s string, family int) (netip.Addr, bool) {
	a, err := netip.ParseAddr(s)
	return a, err == nil && a.Is4() == (family == 4) && a.Zone() == ""
}

// mac reads six octets in hexadecimal with colons.
func mac(s string) (net.HardwareAddr, bool) {
	m, err := net.ParseMAC(s)
	return m, err == nil && len(m) == 6 && strings.Count(s, ":") == 5
}

var pci = regexp.MustCompile(`^([0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[01][0-9a-fA-F]\.[0-7]$`)

// isPCI says whether s is [domain:]bus:slot.function, as lspci prints it. A bus has 32 slots, a slot 8 functions.
func isPCI(s string) bool {
	return pci.MatchString(s)
}

// isIfname says whether Linux takes s as the name of an interface.
func isIfname(s string) bool {
	bad := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == '/' || r == ':' }
	return s != "" && len(s) < 16 && s != "." && s != ".." && !strings.ContainsFunc(s, bad)
}
