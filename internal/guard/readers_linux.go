package guard

import (
	"encoding/binary"
	"os"
	"slices"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// readers lists other programs that receive all frames of an interface of the thread's namespace, through packet sockets.
func readers(index int) ([]process, error) {
	text, err := os.ReadFile("/proc/thread-self/net/packet")
	if err != nil {
		return nil, err
	}
	inodes := all(parsePackets(string(text)), index)
	if len(inodes) == 0 {
		return nil, nil
	}
	quiet, err := listeners()
	if err == nil { // without it (packet_diag may be missing) all count
		inodes = slices.DeleteFunc(inodes, func(i uint64) bool { return slices.Contains(quiet, i) })
	}
	if len(inodes) == 0 {
		return nil, nil
	}
	found := owners(os.DirFS("/proc"), inodes)
	return slices.DeleteFunc(found, func(p process) bool { return p.pid == os.Getpid() }), nil
}

// all picks the sockets that are bound to the interface and receive frames of every protocol.
func all(sockets []socket, index int) (inodes []uint64) {
	for _, s := range sockets {
		if s.protocol == unix.ETH_P_ALL && s.index == index && s.running {
			inodes = append(inodes, s.inode)
		}
	}
	return inodes
}

// listeners lists the sockets that only hear what is for this machine, and of that what a filter lets through: daemons of LLDP
// and DHCP do that, on any interface, and a load hardly touches them.
func listeners() (inodes []uint64, err error) {
	req := nl.NewNetlinkRequest(nl.SOCK_DIAG_BY_FAMILY, unix.NLM_F_DUMP)
	req.AddRawData(packetDiag())
	msgs, err := whole(func() ([][]byte, error) { return req.Execute(unix.NETLINK_SOCK_DIAG, nl.SOCK_DIAG_BY_FAMILY) })
	for _, m := range msgs {
		if inode, ok := listener(m); ok {
			inodes = append(inodes, inode)
		}
	}
	return inodes, err
}

// Numbers of linux/packet_diag.h that package unix does not have.
const (
	showMemberships, showFilter = 0x02, 0x20 // struct packet_diag_req
	memberships, filter         = 1, 7       // attributes of the answer
	sizeofRequest, sizeofAnswer = 20, 16
	sizeofMembership            = 44 // struct packet_diag_mclist
)

// packetDiag is struct packet_diag_req: all packet sockets of the namespace.
func packetDiag() []byte {
	req := make([]byte, sizeofRequest)
	req[0] = unix.AF_PACKET
	binary.NativeEndian.PutUint32(req[8:], showMemberships|showFilter)
	return req
}

// listener reads struct packet_diag_msg and says whether the socket has a filter and is not promiscuous.
func listener(m []byte) (inode uint64, ok bool) {
	if len(m) < sizeofAnswer {
		return 0, false
	}
	inode = uint64(binary.NativeEndian.Uint32(m[4:]))
	attrs, err := nl.ParseRouteAttr(m[sizeofAnswer:])
	if err != nil {
		return inode, false
	}
	filtered, promiscuous := false, false
	for _, a := range attrs {
		switch a.Attr.Type {
		case filter:
			filtered = len(a.Value) > 0
		case memberships:
			for v := a.Value; len(v) >= sizeofMembership; v = v[sizeofMembership:] {
				promiscuous = promiscuous || binary.NativeEndian.Uint16(v[8:]) == unix.PACKET_MR_PROMISC
			}
		}
	}
	return inode, filtered && !promiscuous
}
