package afpacket

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A link asks the kernel about one interface, over a route socket (rtnetlink(7)) in the interface's namespace.
type link struct {
	fd, index int
	name      string
	buf       [16384]byte
}

// facts is what the kernel tells. Counters are since the interface was made.
type facts struct {
	kind   uint16 // ARPHRD_ number
	up     bool   // set up, and there is a carrier
	mtu    int
	mac    [6]byte
	parent string // address on the parent's bus, as 0000:22:00.0

	downs                        int64 // how often the carrier went
	rxMissed, txErrors, txFrames int64
}

var errNoInterface = errors.New("no such interface")

// open finds the interface in the thread's namespace, and looks whether it may be a port. close is due even after an error.
func (l *link) open(iface string) (f facts, err error) {
	i, err := net.InterfaceByName(iface)
	if err != nil {
		return f, errNoInterface
	}
	l.name, l.index = iface, i.Index
	if l.fd, err = unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE); err != nil {
		return f, os.NewSyscallError("socket", err)
	}
	if err = unix.Bind(l.fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return f, os.NewSyscallError("bind", err)
	}
	if f, err = l.ask(); err != nil {
		return f, err
	}
	if f.kind != unix.ARPHRD_ETHER && f.kind != unix.ARPHRD_LOOPBACK {
		return f, fmt.Errorf("not an Ethernet interface (ARP hardware type %d)", f.kind)
	}
	return f, nil
}

func (l *link) close() error {
	if l.fd < 0 {
		return nil
	}
	return unix.Close(l.fd)
}

// ask sends RTM_GETLINK and reads the one answer.
func (l *link) ask() (f facts, err error) {
	req := make([]byte, unix.SizeofNlMsghdr+unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint32(req[0:], uint32(len(req)))
	binary.NativeEndian.PutUint16(req[4:], unix.RTM_GETLINK)
	binary.NativeEndian.PutUint16(req[6:], unix.NLM_F_REQUEST)
	binary.NativeEndian.PutUint32(req[unix.SizeofNlMsghdr+4:], uint32(l.index))
	if err = unix.Sendto(l.fd, req, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return f, os.NewSyscallError("sendto", err)
	}
	n, _, err := unix.Recvfrom(l.fd, l.buf[:], 0)
	if err != nil {
		return f, os.NewSyscallError("recvfrom", err)
	}
	msgs, err := syscall.ParseNetlinkMessage(l.buf[:n])
	if err != nil || len(msgs) != 1 {
		return f, fmt.Errorf("ask for interface %d: %d answers: %w", l.index, len(msgs), err)
	}
	if m := &msgs[0]; m.Header.Type != unix.RTM_NEWLINK || len(m.Data) < unix.SizeofIfInfomsg {
		return f, fmt.Errorf("ask for interface %d: %w", l.index, errNoInterface)
	}
	return parse(&msgs[0])
}

// parse reads struct ifinfomsg and its attributes (linux/if_link.h).
func parse(m *syscall.NetlinkMessage) (f facts, err error) {
	f.kind = binary.NativeEndian.Uint16(m.Data[2:])
	const up = unix.IFF_UP | unix.IFF_LOWER_UP
	f.up = binary.NativeEndian.Uint32(m.Data[8:])&up == up
	attrs, err := syscall.ParseNetlinkRouteAttr(m)
	for _, a := range attrs {
		switch v := a.Value; a.Attr.Type {
		case unix.IFLA_ADDRESS:
			copy(f.mac[:], v)
		case unix.IFLA_MTU:
			f.mtu = int(binary.NativeEndian.Uint32(v))
		case unix.IFLA_CARRIER_DOWN_COUNT:
			f.downs = int64(binary.NativeEndian.Uint32(v))
		case unix.IFLA_PARENT_DEV_NAME:
			f.parent = strings.TrimRight(string(v), "\x00")
		case unix.IFLA_STATS64: // struct rtnl_link_stats64: fields of 8 bytes
			if len(v) >= 16*8 {
				field := func(i int) int64 { return int64(binary.NativeEndian.Uint64(v[i*8:])) }
				f.txFrames, f.txErrors = field(1), field(5)
				f.rxMissed = field(6) + field(15) // rx_dropped, rx_missed_errors
			}
		}
	}
	return f, err
}
