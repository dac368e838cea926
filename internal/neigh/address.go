package neigh

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// An Address is one of the tester's own.
type Address struct {
	Prefix  netip.Prefix // the host's address with the length of its network
	Gateway netip.Addr   // zero: none
	MAC     [6]byte      // zero: the port's
	VLAN    uint16       // 1 to 4094; 0: untagged
}

const form = "want PORT=IP/LEN[,gw=IP][,mac=M][,vlan=N], as eth2=198.18.0.2/16,gw=198.18.0.1"

// ParseAddress reads PORT=IP/LEN[,gw=IP][,mac=M][,vlan=N]. PORT may have commas and "=" of its own: it ends at the last "=" that
// an IP/LEN follows. An error is one line that quotes s and says what would be right.
func ParseAddress(s string) (port string, a Address, err error) {
	at, ip := split(s)
	if at <= 0 {
		return "", a, fmt.Errorf("%q: %s", s, form)
	}
	prefix, options, more := strings.Cut(s[at+1:], ",")
	err = a.setIP(ip, prefix)
	var seen []string
	for more && err == nil {
		var option string
		option, options, more = strings.Cut(options, ",")
		key, value, _ := strings.Cut(option, "=")
		if err = a.set(key, value); err == nil && slices.Contains(seen, key) {
			err = fmt.Errorf("%s is given twice: want it once", key)
		}
		seen = append(seen, key)
	}
	if err == nil {
		err = a.checkGateway()
	}
	if err != nil {
		return "", Address{}, fmt.Errorf("%q: %w", s, err)
	}
	return s[:at], a, nil
}

// split is where the "=" between port and address stands: the last one that an IP/LEN follows, or, where somebody forgot the
// length, the first one with an IP. 0: there is none.
func split(s string) (at int, ip netip.Addr) {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] != '=' || strings.HasSuffix(s[:i], ",gw") {
			continue
		}
		value, _, _ := strings.Cut(s[i+1:], ",")
		text, _, length := strings.Cut(value, "/")
		found, err := netip.ParseAddr(text)
		if err != nil {
			continue
		}
		at, ip = i, found
		if length {
			break
		}
	}
	return at, ip
}

func (a *Address) setIP(ip netip.Addr, prefix string) (err error) {
	_, length, ok := strings.Cut(prefix, "/")
	if ip.Zone() != "" {
		return fmt.Errorf("%q has a zone: want %s, the port says where it is", ip.String(), ip.WithZone(""))
	}
	if !ok {
		return fmt.Errorf("%s has no length: want that of its network, as %s", ip, either(ip, ip.String()+"/24", ip.String()+"/64"))
	}
	if a.Prefix, err = netip.ParsePrefix(prefix); err != nil {
		return fmt.Errorf("length %q of %s: want 0 to %d", length, ip, ip.BitLen())
	}
	return a.unicast(ip)
}

// either is the example for the kind of address at hand.
func either(ip netip.Addr, v4, v6 string) string {
	if ip.Is4() {
		return v4
	}
	return v6
}

// unicast refuses what cannot be one host of the network.
func (a *Address) unicast(ip netip.Addr) error {
	wrong := ""
	switch {
	case ip.Is4In6():
		return fmt.Errorf("%s is IPv4 in IPv6's clothes: want %s", ip, ip.Unmap())
	case ip.IsMulticast():
		wrong = "a multicast group"
	case ip.IsUnspecified():
		wrong = "no address"
	case ip.IsLoopback():
		wrong = "loopback"
	case ip.Is4() && a.Prefix.Bits() < 31 && ip == a.Prefix.Masked().Addr():
		wrong = "the network's own address"
	case ip.Is4() && a.Prefix.Bits() < 31 && !a.Prefix.Contains(ip.Next()):
		wrong = "the network's broadcast address"
	default:
		return nil
	}
	return fmt.Errorf("%s is %s: want the address of one host", ip, wrong)
}

func (a *Address) set(key, value string) (err error) {
	switch key {
	case "gw":
		if a.Gateway, err = netip.ParseAddr(value); err != nil || a.Gateway.Zone() != "" {
			return fmt.Errorf("gw=%q: want an IP address alone, as gw=%s", value, either(a.Prefix.Addr(), "198.18.0.1", "2001:db8::1"))
		}
	case "mac":
		mac, err := net.ParseMAC(value)
		switch {
		case err != nil || len(mac) != 6 || [6]byte(mac) == [6]byte{}:
			return fmt.Errorf("mac=%q: want six bytes, as mac=02:00:00:00:00:01", value)
		case group([6]byte(mac)):
			return fmt.Errorf("mac=%q stands for a group: want one station's, with an even first byte", value)
		}
		a.MAC = [6]byte(mac)
	case "vlan":
		n, err := strconv.ParseUint(value, 10, 16)
		if err != nil || n < 1 || n > 4094 {
			return fmt.Errorf("vlan=%q: want 1 to 4094", value)
		}
		a.VLAN = uint16(n)
	default:
		return fmt.Errorf("option %q: want gw=IP, mac=M or vlan=N", key)
	}
	return nil
}

// checkGateway wants a neighbour. That of an IPv6 address may be one by its link-local address.
func (a *Address) checkGateway() error {
	ip, gw := a.Prefix.Addr(), a.Gateway
	switch {
	case !gw.IsValid():
		return nil
	case gw.Is4() != ip.Is4():
		return fmt.Errorf("gateway %s of %s: want both IPv4 or both IPv6", gw, ip)
	case gw == ip:
		return fmt.Errorf("gateway %s is the tester's own address: want the device's", gw)
	case !a.Prefix.Contains(gw) && !(gw.Is6() && gw.IsLinkLocalUnicast()):
		return fmt.Errorf("gateway %s is outside of %s: want a neighbour of %s", gw, a.Prefix.Masked(), ip)
	}
	return a.unicast(gw)
}

// String is what ParseAddress reads behind "PORT=".
func (a Address) String() string {
	s := a.Prefix.String()
	if a.Gateway.IsValid() {
		s += ",gw=" + a.Gateway.String()
	}
	if a.MAC != [6]byte{} {
		s += ",mac=" + net.HardwareAddr(a.MAC[:]).String()
	}
	if a.VLAN != 0 {
		s += ",vlan=" + strconv.Itoa(int(a.VLAN))
	}
	return s
}
