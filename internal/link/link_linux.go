package link

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Link asks the kernel about one interface, over a route socket (rtnetlink(7)) in the interface's namespace. One goroutine at a time.
type Link struct {
	Name  string
	Index int

	fd    int
	buf   [16384]byte
	genl  *genl
	stats *statistics
}

// Open finds the interface in the thread's namespace, and looks whether it may be a port: an error is ErrNoInterface or says why not.
func Open(iface string) (l *Link, f Facts, err error) {
	i, err := net.InterfaceByName(iface)
	if err != nil {
		return l, f, ErrNoInterface
	}
	l = &Link{Name: iface, Index: i.Index}
	if l.fd, err = unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE); err != nil {
		return l, f, os.NewSyscallError("socket", err)
	}
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	if err = unix.Bind(l.fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return l, f, os.NewSyscallError("bind", err)
	}
	if f, err = l.Ask(); err != nil {
		return l, f, err
	}
	l.genl = openGenl() // here, since the thread is in the namespace
	if f.Kind != unix.ARPHRD_ETHER && f.Kind != unix.ARPHRD_LOOPBACK {
		return l, f, fmt.Errorf("not an Ethernet interface (ARP hardware type %d)", f.Kind)
	}
	return l, f, nil
}

// Close ends asking; again it does no harm.
func (l *Link) Close() error {
	if l.fd < 0 {
		return nil
	}
	fd := l.fd
	l.fd = -1
	l.genl.close()
	return unix.Close(fd)
}

// Ask sends RTM_GETLINK and reads the one answer.
func (l *Link) Ask() (f Facts, err error) {
	req := make([]byte, unix.SizeofNlMsghdr+unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint32(req[0:], uint32(len(req)))
	binary.NativeEndian.PutUint16(req[4:], unix.RTM_GETLINK)
	binary.NativeEndian.PutUint16(req[6:], unix.NLM_F_REQUEST)
	binary.NativeEndian.PutUint32(req[unix.SizeofNlMsghdr+4:], uint32(l.Index))
	if err = unix.Sendto(l.fd, req, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return f, os.NewSyscallError("sendto", err)
	}
	n, _, err := unix.Recvfrom(l.fd, l.buf[:], 0)
	if err != nil {
		return f, os.NewSyscallError("recvfrom", err)
	}
	msgs, err := syscall.ParseNetlinkMessage(l.buf[:n])
	if err != nil || len(msgs) != 1 {
		return f, fmt.Errorf("ask for interface %d: %d answers: %w", l.Index, len(msgs), err)
	}
	if m := &msgs[0]; m.Header.Type != unix.RTM_NEWLINK || len(m.Data) < unix.SizeofIfInfomsg {
		return f, fmt.Errorf("ask for interface %d: %w", l.Index, ErrNoInterface)
	}
	return parse(&msgs[0])
}

// parse reads struct ifinfomsg and its attributes (linux/if_link.h).
func parse(m *syscall.NetlinkMessage) (f Facts, err error) {
	f.Kind = binary.NativeEndian.Uint16(m.Data[2:])
	const up = unix.IFF_UP | unix.IFF_LOWER_UP
	f.Up = binary.NativeEndian.Uint32(m.Data[8:])&up == up
	attrs, err := syscall.ParseNetlinkRouteAttr(m)
	for _, a := range attrs {
		switch v := a.Value; a.Attr.Type {
		case unix.IFLA_ADDRESS:
			copy(f.MAC[:], v)
		case unix.IFLA_MTU:
			f.MTU = int(binary.NativeEndian.Uint32(v))
		case unix.IFLA_CARRIER_DOWN_COUNT:
			f.Downs = int64(binary.NativeEndian.Uint32(v))
		case unix.IFLA_PARENT_DEV_NAME:
			f.Parent = strings.TrimRight(string(v), "\x00")
		case unix.IFLA_STATS64: // struct rtnl_link_stats64: fields of 8 bytes
			if len(v) >= 16*8 {
				field := func(i int) int64 { return int64(binary.NativeEndian.Uint64(v[i*8:])) }
				f.TxFrames, f.TxErrors = field(1), field(5)
				f.RxMissed = field(6) + field(15) // rx_dropped, rx_missed_errors
				f.rxCRC, f.rxAlignment = field(12), field(13)
			}
		}
	}
	return f, err
}
