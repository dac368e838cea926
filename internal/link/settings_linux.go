package link

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Settings asks the driver for all of them.
func (l *Link) Settings() (s Settings) {
	if info, err := unix.IoctlGetEthtoolDrvinfo(l.fd, l.Name); err == nil {
		s.Bus = unix.ByteSliceToString(info.Bus_info[:])
	}
	word := func(answer []byte, i int) uint32 { return binary.NativeEndian.Uint32(answer[4*(i-1):]) } // i counts the command, too
	if a := l.ethtool(unix.ETHTOOL_GSET); a != nil {
		s.HalfDuplex = l.Speed() != 0 && a[10] == 0
	}
	if a := l.ethtool(unix.ETHTOOL_GPAUSEPARAM); a != nil {
		s.Pause = &Pause{word(a, 1) != 0, word(a, 2) != 0, word(a, 3) != 0}
	}
	if a := l.ethtool(unix.ETHTOOL_GEEE); a != nil {
		s.EEE = &EEE{Active: word(a, 4) != 0, Enabled: word(a, 5) != 0}
	}
	if a := l.ethtool(unix.ETHTOOL_GFECPARAM); a != nil {
		s.FEC = fecMode(word(a, 1))
	}
	if a := l.ethtool(unix.ETHTOOL_GRINGPARAM); a != nil {
		n := func(i int) int { return int(word(a, i)) }
		s.Rings = &Rings{MaxRx: n(1), MaxTx: n(4), Rx: n(5), Tx: n(8)}
	}
	if a := l.ethtool(unix.ETHTOOL_GCHANNELS); a != nil {
		n := func(i int) int { return int(word(a, i)) }
		s.Queues = &Queues{MaxRx: n(1), MaxTx: n(2), MaxCombined: n(4), Rx: n(5), Tx: n(6), Combined: n(8)}
	}
	s.Features = l.features()
	return s
}

// fecMode reads enum ethtool_fec_config_bits.
func fecMode(bits uint32) string {
	for bit, name := range map[uint32]string{2: "off", 3: "RS", 4: "BaseR", 5: "LLRS"} {
		if bits == 1<<bit {
			return name
		}
	}
	return ""
}

// features asks for the offloads: struct ethtool_gfeatures has, for each 32 of them, masks of those that are available, requested,
// active, never changed.
func (l *Link) features() map[string]Feature {
	names := l.names(setFeatures)
	blocks := (len(names) + 31) / 32
	answer := make([]uint32, 2+4*blocks)
	answer[0], answer[1] = unix.ETHTOOL_GFEATURES, uint32(blocks)
	if blocks == 0 || !l.command(unsafe.Pointer(&answer[0])) {
		return nil
	}
	all := make(map[string]Feature)
	for i, name := range names {
		block, bit := answer[2+4*(i/32):], uint32(1)<<(i%32)
		all[name] = Feature{On: block[2]&bit != 0, Fixed: block[0]&bit == 0 || block[3]&bit != 0}
	}
	return all
}
