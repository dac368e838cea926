// Package netmap opens ports of the netmap framework, ABI 14: hardware rings, host rings, VALE switches and pipes, on Linux and FreeBSD.
//
//	Send ─copy→ slots of a tx ring ─NIOCTXSYNC→ wire ─→ slots of an rx ring ─NIOCRXSYNC→ lend → Recv
//
// The module itself was not at hand where this was written and tested: the layout of its memory and the numbers of its calls are
// those of net/netmap.h, and the logic of the rings is tested against memory of our own, whose other side holds us to netmap(4).
package netmap

import (
	"fmt"
	"strconv"
	"strings"
)

// Options of a port.
type Options struct {
	// Epoch is the run's time zero in ns of CLOCK_MONOTONIC. Ports do not stamp; it is here as for other backends.
	Epoch int64
}

// A request is what a name stands for.
type request struct {
	name string // as the kernel knows it
	mode uint32
	ring uint16 // of oneRing
}

// Modes of registering (enum of nr_mode).
const (
	allRings = 1 // NR_REG_ALL_NIC
	hostOnly = 2 // NR_REG_SW
	oneRing  = 4 // NR_REG_ONE_NIC
)

const (
	version   = 14
	nameBytes = 64 // NETMAP_REQ_IFNAMSIZ
)

// parse reads a name without "netmap:": eth0, all its rings; eth0-2, one; eth0^, those of the host's stack; vale1:a, and pipes of any,
// vale1:p{1 and vale1:p}1.
func parse(name string) (r request, err error) {
	r = request{name: name, mode: allRings}
	base := name
	if i := strings.IndexAny(name, "{}"); i >= 0 {
		if _, err := strconv.ParseUint(name[i+1:], 10, 16); err != nil || i == 0 {
			return r, fmt.Errorf("port %q: want a pipe's number behind %c, as %s%c1", name, name[i], name[:i], name[i])
		}
		base = name[:i]
	} else if iface, ok := strings.CutSuffix(name, "^"); ok {
		r.name, r.mode, base = iface, hostOnly, iface
	} else if iface, number, ok := strings.Cut(name, "-"); ok && !strings.HasPrefix(name, "vale") {
		ring, err := strconv.ParseUint(number, 10, 12)
		if err != nil {
			return r, fmt.Errorf("port %q: want a ring's number behind -, as %s-0", name, iface)
		}
		r.name, r.mode, r.ring, base = iface, oneRing, uint16(ring), iface
	}
	switch {
	case base == "" || strings.ContainsAny(base, "^*/@"):
		return r, fmt.Errorf("port %q: want an interface, as eth2, eth2-0 (one ring) or eth2^ (host rings), a switch's port, as vale0:a, or a pipe, as eth2{1", name)
	case strings.HasPrefix(base, "vale") && !strings.Contains(base, ":"):
		return r, fmt.Errorf("port %q: want a switch and a port of it, as %s:a", name, base)
	case len(r.name) >= nameBytes:
		return r, fmt.Errorf("port %q: a name has %d letters at most", name, nameBytes-1)
	}
	return r, nil
}
