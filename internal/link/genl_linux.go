package link

import (
	"encoding/binary"
	"errors"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// A genl asks drivers by ethtool's generic netlink (linux/ethtool_netlink.h), in the namespace it was opened in. nil asks nobody.
type genl struct {
	handle *nl.SocketHandle
	family uint16
	mute   [3]bool // what the driver does not know
}

// openGenl is nil where the kernel has no such thing: before 5.6.
func openGenl() *genl {
	family, err := netlink.GenlFamilyGet(unix.ETHTOOL_GENL_NAME)
	if err != nil {
		return nil
	}
	s, err := nl.Subscribe(unix.NETLINK_GENERIC)
	if err != nil {
		return nil
	}
	return &genl{handle: &nl.SocketHandle{Socket: s}, family: family.ID}
}

func (g *genl) close() {
	if g != nil {
		g.handle.Socket.Close()
	}
}

// Numbers that package unix does not have.
const (
	statsHeader, statsGroups    = 2, 3 // ETHTOOL_A_STATS_
	statsGroup                  = 4
	groupID, groupStat          = 2, 4 // ETHTOOL_A_STATS_GRP_
	phy, mac                    = 0, 1 // ETHTOOL_STATS_ETH_
	fecHeader, fecStats         = 1, 5 // ETHTOOL_A_FEC_
	fecStatRight, fecStatWrong  = 2, 3 // ETHTOOL_A_FEC_STAT_CORRECTED, _UNCORR
	symbolErrors                = 0    // ETHTOOL_A_STATS_ETH_PHY_5_SYM_ERR
	fcsErrors, alignErrors      = 4, 5 // ETHTOOL_A_STATS_ETH_MAC_
	inRangeLengthErrors, nested = 19, unix.NLA_F_NESTED
)

// tally asks for PAUSE frames, FEC blocks, and the errors that IEEE 802.3 clause 30 names.
func (g *genl) tally(index int) tally {
	t := untold()
	if g == nil {
		return t
	}
	groups := nl.NewRtAttr(statsGroups|nested, nil)
	groups.AddRtAttr(unix.ETHTOOL_A_BITSET_NOMASK, nil)
	groups.AddRtAttr(unix.ETHTOOL_A_BITSET_SIZE, nl.Uint32Attr(2))
	groups.AddRtAttr(unix.ETHTOOL_A_BITSET_VALUE, nl.Uint32Attr(1<<phy|1<<mac))
	for i, ask := range []struct {
		command uint8
		header  int
		more    *nl.RtAttr
		read    func(*tally, []byte)
	}{
		{unix.ETHTOOL_MSG_PAUSE_GET, unix.ETHTOOL_A_PAUSE_HEADER, nil, (*tally).pause},
		{unix.ETHTOOL_MSG_FEC_GET, fecHeader, nil, (*tally).fec},
		{unix.ETHTOOL_MSG_STATS_GET, statsHeader, groups, (*tally).standard},
	} {
		if g.mute[i] {
			continue
		}
		req := nl.NewNetlinkRequest(int(g.family), 0)
		req.Sockets = map[int]*nl.SocketHandle{unix.NETLINK_GENERIC: g.handle}
		req.AddData(&nl.Genlmsg{Command: ask.command, Version: unix.ETHTOOL_GENL_VERSION})
		header := nl.NewRtAttr(ask.header|nested, nil)
		header.AddRtAttr(unix.ETHTOOL_A_HEADER_DEV_INDEX, nl.Uint32Attr(uint32(index)))
		header.AddRtAttr(unix.ETHTOOL_A_HEADER_FLAGS, nl.Uint32Attr(unix.ETHTOOL_FLAG_STATS))
		req.AddData(header)
		if ask.more != nil {
			req.AddData(ask.more)
		}
		err := req.ExecuteIter(unix.NETLINK_GENERIC, 0, func(m []byte) bool {
			if len(m) >= nl.SizeofGenlmsg {
				ask.read(&t, m[nl.SizeofGenlmsg:])
			}
			return true
		})
		g.mute[i] = errors.Is(err, unix.EOPNOTSUPP)
	}
	return t
}

// pause reads the answer to ETHTOOL_MSG_PAUSE_GET.
func (t *tally) pause(b []byte) {
	each(b, func(kind uint16, v []byte) {
		if kind != unix.ETHTOOL_A_PAUSE_STATS {
			return
		}
		each(v, func(kind uint16, v []byte) {
			switch kind {
			case unix.ETHTOOL_A_PAUSE_STAT_RX_FRAMES:
				t.add(pauseRx, v)
			case unix.ETHTOOL_A_PAUSE_STAT_TX_FRAMES:
				t.add(pauseTx, v)
			}
		})
	})
}

// fec reads the answer to ETHTOOL_MSG_FEC_GET. A count is an array, the total first.
func (t *tally) fec(b []byte) {
	each(b, func(kind uint16, v []byte) {
		if kind != fecStats {
			return
		}
		each(v, func(kind uint16, v []byte) {
			switch kind {
			case fecStatRight:
				t.add(fecCorrected, v)
			case fecStatWrong:
				t.add(fecUncorrected, v)
			}
		})
	})
}

// standard reads the answer to ETHTOOL_MSG_STATS_GET: groups, in each of them statistics.
func (t *tally) standard(b []byte) {
	each(b, func(kind uint16, group []byte) {
		if kind != statsGroup {
			return
		}
		id := uint32(0)
		each(group, func(kind uint16, v []byte) {
			if kind == groupID && len(v) >= 4 {
				id = binary.NativeEndian.Uint32(v)
			}
		})
		each(group, func(kind uint16, stat []byte) {
			if kind != groupStat {
				return
			}
			each(stat, func(kind uint16, v []byte) {
				switch {
				case id == phy && kind == symbolErrors:
					t.add(symbol, v)
				case id == mac && kind == fcsErrors:
					t.add(crc, v)
				case id == mac && (kind == alignErrors || kind == inRangeLengthErrors):
					t.add(length, v)
				}
			})
		})
	})
}

// add adds a number of 64 bits, or the first of an array, to a count.
func (t *tally) add(c count, v []byte) {
	if len(v) >= 8 {
		t[c] = max(t[c], 0) + int64(binary.NativeEndian.Uint64(v))
	}
}

// each calls f with each attribute; what is cut is left out.
func each(b []byte, f func(kind uint16, v []byte)) {
	for len(b) >= unix.SizeofNlAttr {
		n := int(binary.NativeEndian.Uint16(b))
		if n < unix.SizeofNlAttr || n > len(b) {
			return
		}
		f(binary.NativeEndian.Uint16(b[2:])&^(unix.NLA_F_NESTED|unix.NLA_F_NET_BYTEORDER), b[unix.SizeofNlAttr:n])
		b = b[min((n+3)&^3, len(b)):]
	}
}
