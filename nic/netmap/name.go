package netmap

import (
	"fmt"
	"strconv"
	"strings"
)

// A request is what a name stands for.
type request struct {
	name    string // as the kernel knows it
	host    bool   // the rings of the host's stack
	ring    int    // one ring alone; every: all of them
	virtual bool   // a switch's port or a pipe: there is no interface behind it
}

const (
	every     = -1
	mostRings = 4096 // the kernel's ring numbers have 12 bits

	nameBytes  = 64 // NETMAP_REQ_IFNAMSIZ, with the 0 behind it
	ifaceBytes = 16 // IFNAMSIZ, as well
)

// parse reads a name without "netmap:": eth0, all its rings; eth0-2, one; eth0^, those of the host's stack; vale1:a, and pipes of any,
// vale1:p{1 (master) and vale1:p}1 (slave).
func parse(name string) (request, error) {
	r, err := form(name)
	if err != nil {
		return r, fmt.Errorf("port %q: %w", name, err)
	}
	return r, nil
}

func form(name string) (request, error) {
	r := request{name: name, ring: every}
	base := name
	if i := strings.IndexAny(name, "{}"); i >= 0 {
		base, r.virtual = name[:i], true
		if _, err := strconv.ParseUint(name[i+1:], 10, 16); err != nil {
			if base == "" {
				base = "vale1:p"
			}
			return r, fmt.Errorf("want a pipe's number behind %c, as %s%c1", name[i], base, name[i])
		}
	}
	if strings.HasPrefix(base, "vale") {
		r.virtual = true
		return r, switched(base)
	}
	if iface, behind, ok := strings.Cut(base, "^"); ok && !r.virtual {
		if behind != "" {
			return r, fmt.Errorf("want nothing behind ^, which is all host rings, as %s^", iface)
		}
		r.name, r.host, base = iface, true, iface
	} else if iface, number, ok := strings.Cut(base, "-"); ok && !r.virtual {
		n, err := strconv.ParseUint(number, 10, 16)
		if err != nil || n >= mostRings {
			return r, fmt.Errorf("want a ring's number from 0 to %d behind -, as %s-0", mostRings-1, iface)
		}
		r.name, r.ring, base = iface, int(n), iface
	}
	switch {
	case base == "" || strings.ContainsAny(base, "^*/@: "):
		return r, fmt.Errorf("want an interface, as eth2, eth2-0 (one ring) or eth2^ (host rings), a switch's port, as vale1:a, or a pipe, as vale1:p{1")
	case len(base) >= ifaceBytes:
		return r, fmt.Errorf("want at most %d letters before -, ^, { or }, not %d", ifaceBytes-1, len(base))
	}
	return r, nil
}

// switched says what is wrong with the name of a port of a VALE switch.
func switched(base string) error {
	number, port, _ := strings.Cut(base, ":")
	switch {
	case port == "":
		return fmt.Errorf("want a switch and a port of it, as %s:a", number)
	case strings.ContainsAny(base, "^*/@ ") || strings.Contains(port, ":"):
		return fmt.Errorf("want only a switch and a port of it, as %s:a: it has no host rings and is in no namespace", number)
	case len(port) >= ifaceBytes:
		return fmt.Errorf("want at most %d letters behind :, not %d", ifaceBytes-1, len(port))
	case len(base) > nameBytes-1-len("{65535"):
		return fmt.Errorf("want a shorter name, as vale1:%s", port)
	}
	return nil
}

// String says which rings.
func (r request) String() string {
	switch {
	case r.virtual && strings.ContainsAny(r.name, "{}"):
		return "pipe"
	case r.virtual:
		return "VALE port"
	case r.host:
		return "host rings"
	case r.ring != every:
		return fmt.Sprintf("ring %d", r.ring)
	}
	return "all rings"
}
