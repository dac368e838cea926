package afpacket

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"loadtest/internal/link"
	"loadtest/nic"
	"loadtest/packet"
)

// burst is how many frames one system call takes; more bring nothing.
const burst = 64

// A sender is the Send half.
type sender struct {
	fd       int
	name     string
	maxFrame int
	gone     error // what Send says when the interface was deleted
	msgs     [burst]unix.Mmsghdr
	iovs     [burst]unix.Iovec
}

func (s *sender) open(index, maxFrame int) (err error) {
	s.maxFrame = maxFrame
	s.gone = fmt.Errorf("interface %s is gone: %w", s.name, nic.ErrDown)
	for i := range s.msgs {
		s.msgs[i].Hdr.Iov = &s.iovs[i]
		s.msgs[i].Hdr.SetIovlen(1)
	}
	// Protocol 0: this socket receives nothing.
	if s.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
		return os.NewSyscallError("socket", err)
	}
	// Past the queueing discipline a full driver says so, and the frame is not dropped behind our back.
	if err = unix.SetsockoptInt(s.fd, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1); err != nil {
		return os.NewSyscallError("setsockopt PACKET_QDISC_BYPASS", err)
	}
	const buffer = 8 << 20
	if unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, buffer) != nil {
		_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, buffer) // as much as the system allows
	}
	return os.NewSyscallError("bind", unix.Bind(s.fd, &unix.SockaddrLinklayer{Ifindex: index}))
}

// Send hands frames to the driver, in bursts. On a veth pair the receiving side's work is done within it.
func (p *port) Send(frames []packet.Frame) (int, error) {
	if !p.gate.Enter() {
		return 0, nic.ErrClosed
	}
	n, err := p.tx.send(frames)
	p.gate.Leave()
	return n, err
}

func (s *sender) send(frames []packet.Frame) (int, error) {
	sent := 0
	for sent < len(frames) {
		n, err := s.fill(frames[sent:])
		if n == 0 {
			return sent, err
		}
		// Not unix.Syscall: the scheduler would hand this thread's processor to another one.
		r, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&s.msgs[0])), uintptr(n),
			unix.MSG_DONTWAIT, 0, 0)
		if errno == 0 {
			sent += int(r) // fewer than n: the next call tells why
			continue
		}
		if errno != unix.EINTR {
			return sent, s.refused(errno)
		}
	}
	return sent, nil
}

// fill describes the next frames to the kernel, up to the first that it would refuse; err says why that is the very first.
func (s *sender) fill(frames []packet.Frame) (n int, err error) {
	for n = range min(len(frames), burst) {
		data := frames[n].Data
		if len(data) > s.maxFrame && !s.tagged(data) {
			return n, nic.ErrTooLong
		}
		if len(data) < ethernet {
			return n, errTooShort
		}
		s.iovs[n].Base = &data[0]
		s.iovs[n].SetLen(len(data))
	}
	return n + 1, nil
}

var errTooShort = errors.New("frame is shorter than an Ethernet header, 14 bytes")

// tagged says whether a frame has a VLAN tag that makes it longer than others may be.
func (s *sender) tagged(data []byte) bool {
	return len(data) <= s.maxFrame+vlanTag && binary.BigEndian.Uint16(data[12:]) == unix.ETH_P_8021Q
}

// refused says why the kernel did not take a frame; nil: it has no room now.
func (s *sender) refused(errno unix.Errno) error {
	switch errno {
	case unix.EAGAIN, unix.ENOMEM:
		return nil
	case unix.ENOBUFS: // the driver's queue is full, or there is no carrier
		if !s.running() {
			return nic.ErrDown
		}
		return nil
	case unix.ENETDOWN:
		return nic.ErrDown
	case unix.EMSGSIZE: // the MTU became smaller
		return nic.ErrTooLong
	case unix.ENXIO, unix.ENODEV:
		return s.gone
	}
	return os.NewSyscallError("sendmmsg on "+s.name, errno)
}

// running says whether the interface is up and has a carrier, of which the kernel tells up to a second late.
func (s *sender) running() bool {
	r := struct {
		name  [unix.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{}
	copy(r.name[:unix.IFNAMSIZ-1], s.name)
	return link.Ioctl(s.fd, unix.SIOCGIFFLAGS, unsafe.Pointer(&r)) && r.flags&unix.IFF_RUNNING != 0
}
