package link

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// statistics are a driver's own, those of ethtool -S.
type statistics struct {
	number int
	plan   plan
	buf    []uint64 // struct ethtool_stats: two numbers of 32 bits, then the values
}

// spare is room for statistics that a driver gets between being asked how many they are and for them all: it writes them all.
const spare = 4096

// Wire asks for the counts: of ethtool's netlink, where they have standard names, else of the driver's own statistics, else of the
// kernel's. It costs a few system calls, and is meant to be called before and after a trial.
func (l *Link) Wire() Wire {
	t := l.genl.tally(l.Index).or(l.own())
	if f, err := l.Ask(); err == nil {
		kernel := untold()
		if f.rxCRC > 0 { // 0 is also what a driver that does not count leaves there
			kernel[crc] = f.rxCRC
		}
		if f.rxAlignment > 0 {
			kernel[length] = f.rxAlignment
		}
		t = t.or(kernel)
	}
	return t.wire()
}

// own reads the driver's own statistics. Their names are asked for once, and when their number has changed.
func (l *Link) own() tally {
	n := l.setLength(setStatistics)
	if s := l.stats; s == nil || s.number != n {
		l.stats = &statistics{n, planFor(l.names(setStatistics)), make([]uint64, 1+n+spare)}
	}
	s := l.stats
	if n == 0 || s.plan.empty() {
		return untold()
	}
	head := (*[2]uint32)(unsafe.Pointer(&s.buf[0]))
	head[0], head[1] = unix.ETHTOOL_GSTATS, uint32(n)
	if !l.command(unsafe.Pointer(&s.buf[0])) || int(head[1]) != n {
		return untold()
	}
	return s.plan.read(s.buf[1 : 1+n])
}

// Sets of names that drivers have (enum ethtool_stringset).
const (
	setStatistics = 1
	setFeatures   = 4
	stringLength  = 32 // ETH_GSTRING_LEN
)

// setLength is how many names a set has.
func (l *Link) setLength(set uint32) int {
	ask := make([]byte, 20) // struct ethtool_sset_info: command, reserved, a mask of 64 bits, a length for each of them that is set
	binary.NativeEndian.PutUint32(ask, unix.ETHTOOL_GSSET_INFO)
	binary.NativeEndian.PutUint64(ask[8:], 1<<set)
	if !l.command(unsafe.Pointer(&ask[0])) || binary.NativeEndian.Uint64(ask[8:])>>set&1 == 0 {
		return 0
	}
	return int(min(binary.NativeEndian.Uint32(ask[16:]), 1<<16))
}

// names lists those of a set.
func (l *Link) names(set uint32) (names []string) {
	n := l.setLength(set)
	answer := make([]byte, 12+(n+spare)*stringLength) // struct ethtool_gstrings: command, set, length, names
	binary.NativeEndian.PutUint32(answer, unix.ETHTOOL_GSTRINGS)
	binary.NativeEndian.PutUint32(answer[4:], set)
	binary.NativeEndian.PutUint32(answer[8:], uint32(n))
	if n == 0 || !l.command(unsafe.Pointer(&answer[0])) {
		return nil
	}
	for b := answer[12:]; len(names) < n; b = b[stringLength:] {
		names = append(names, unix.ByteSliceToString(b[:stringLength]))
	}
	return names
}

// command does one of ethtool's: data begins with its number, and gets the answer.
func (l *Link) command(data unsafe.Pointer) bool {
	r := struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}{data: data}
	copy(r.name[:unix.IFNAMSIZ-1], l.Name)
	return Ioctl(l.fd, unix.SIOCETHTOOL, unsafe.Pointer(&r))
}
