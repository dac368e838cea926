package rewrite

import (
	"encoding/binary"

	"loadtest/packet"
)

// Skip leaves out the frames that a port does not take, which are longer than maxFrame bytes without FCS, and says how many
// there were. As in Linux, a frame with an 802.1Q tag may be longer by the tag's 4 bytes.
func Skip(s *packet.Store, maxFrame int) (*packet.Store, int) {
	return keep(s, func(i int) bool {
		over := s.Size(i) - maxFrame
		return over <= 0 || over <= 4 && tagged(s.Frame(i).Data)
	})
}

func tagged(b []byte) bool {
	return len(b) >= packet.EtherLen && binary.BigEndian.Uint16(b[12:]) == packet.TypeVLAN
}

// SkipSnapped leaves out the packets that were captured short, and says how many there were.
func SkipSnapped(s *packet.Store) (*packet.Store, int) {
	return keep(s, func(i int) bool { return s.Wire(i) == s.Size(i) })
}
