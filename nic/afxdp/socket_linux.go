package afxdp

import (
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A socket is one queue's, with its memory: chunks of one size, first those that receive, then those that Send copies to, then those
// that are kept. Where the kernel copies it is two: to wait at one that sends is to send, and nobody is told what is dropped then.
type socket struct {
	fd, out  int // receives; sends
	umem     []byte
	chunk    int
	zeroCopy bool
	burst    int // frames that are handed over at once

	rx, tx   ring[unix.XDPDesc]
	fill     ring[uint64]
	complete ring[uint64]
}

const (
	sendAt   = ringFrames     // first chunk that Send copies to
	keepAt   = 2 * ringFrames // first chunk that is kept
	chunks   = keepAt + keepFrames
	busyWait = 2 * time.Second // for the last socket on the queue to be gone
)

// newSocket makes a socket for a queue of an interface in the thread's network namespace.
func newSocket(index, queue, chunk int, copies bool) (s *socket, err error) {
	s = &socket{fd: -1, out: -1, chunk: chunk}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.fd, err = unix.Socket(unix.AF_XDP, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
		return s, os.NewSyscallError("socket AF_XDP", err)
	}
	if s.umem, err = unix.Mmap(-1, 0, chunks*chunk, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS); err != nil {
		return s, os.NewSyscallError("mmap", err)
	}
	_ = unix.Madvise(s.umem, unix.MADV_HUGEPAGE)
	reg := unix.XDPUmemReg{Addr: uint64(uintptr(unsafe.Pointer(&s.umem[0]))), Len: uint64(len(s.umem)), Size: uint32(chunk)}
	if err = setsockopt(s.fd, unix.XDP_UMEM_REG, unsafe.Pointer(&reg), unsafe.Sizeof(reg)); err != nil {
		if errors.Is(err, unix.ENOBUFS) || errors.Is(err, unix.ENOMEM) {
			err = fmt.Errorf("%d MiB may not be locked in memory: ulimit -l unlimited, or CAP_IPC_LOCK: %w", len(s.umem)>>20, err)
		}
		return s, err
	}
	for _, option := range []int{unix.XDP_UMEM_FILL_RING, unix.XDP_UMEM_COMPLETION_RING, unix.XDP_RX_RING, unix.XDP_TX_RING} {
		if err = os.NewSyscallError("setsockopt", unix.SetsockoptInt(s.fd, unix.SOL_XDP, option, ringFrames)); err != nil {
			return s, err
		}
	}
	if err = s.rings(); err != nil {
		return s, err
	}
	for i := range ringFrames {
		s.fill.put(uint64(i * chunk))
	}
	s.fill.publish()
	if err = s.bind(index, queue, copies); err != nil {
		return s, err
	}
	if s.out, s.burst = s.fd, burst; !s.zeroCopy {
		err = s.apart(index, queue)
	}
	return s, err
}

// apart makes a socket of its own for sending, on the same memory.
func (s *socket) apart(index, queue int) (err error) {
	if s.out, err = unix.Socket(unix.AF_XDP, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
		return os.NewSyscallError("socket AF_XDP", err)
	}
	if err = unix.SetsockoptInt(s.out, unix.SOL_XDP, unix.XDP_TX_RING, ringFrames); err != nil {
		return os.NewSyscallError("setsockopt XDP_TX_RING", err)
	}
	if unix.SetsockoptInt(s.out, unix.SOL_XDP, unix.XDP_MAX_TX_SKB_BUDGET, burst) != nil { // older than Linux 6.17
		s.burst = usualBurst
	}
	var o unix.XDPMmapOffsets
	if err = getsockopt(s.out, unix.XDP_MMAP_OFFSETS, unsafe.Pointer(&o), unsafe.Sizeof(o)); err != nil {
		return err
	}
	s.tx.close()
	if s.tx, err = newRing[unix.XDPDesc](s.out, unix.XDP_PGOFF_TX_RING, o.Tx); err != nil {
		return err
	}
	err = unix.Bind(s.out, &unix.SockaddrXDP{Flags: unix.XDP_SHARED_UMEM, Ifindex: uint32(index), QueueID: uint32(queue), SharedUmemFD: uint32(s.fd)})
	return os.NewSyscallError("bind", err)
}

func setsockopt(fd, option int, value unsafe.Pointer, size uintptr) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(fd), unix.SOL_XDP, uintptr(option), uintptr(value), size, 0)
	if errno != 0 {
		return os.NewSyscallError("setsockopt", errno)
	}
	return nil
}

func getsockopt(fd, option int, value unsafe.Pointer, size uintptr) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_XDP, uintptr(option), uintptr(value), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return os.NewSyscallError("getsockopt", errno)
	}
	return nil
}

func (s *socket) rings() (err error) {
	var o unix.XDPMmapOffsets
	if err = getsockopt(s.fd, unix.XDP_MMAP_OFFSETS, unsafe.Pointer(&o), unsafe.Sizeof(o)); err != nil {
		return err
	}
	if s.rx, err = newRing[unix.XDPDesc](s.fd, unix.XDP_PGOFF_RX_RING, o.Rx); err != nil {
		return err
	}
	if s.tx, err = newRing[unix.XDPDesc](s.fd, unix.XDP_PGOFF_TX_RING, o.Tx); err != nil {
		return err
	}
	if s.fill, err = newRing[uint64](s.fd, unix.XDP_UMEM_PGOFF_FILL_RING, o.Fr); err != nil {
		return err
	}
	s.complete, err = newRing[uint64](s.fd, unix.XDP_UMEM_PGOFF_COMPLETION_RING, o.Cr)
	return err
}

// bind takes the queue, without a copy if the driver can and copies is not asked for. The socket before may be about to go.
func (s *socket) bind(index, queue int, copies bool) error {
	until := time.Now().Add(busyWait)
	for {
		err := unix.EOPNOTSUPP
		if !copies {
			err = s.bindTo(index, queue, unix.XDP_ZEROCOPY)
		}
		if s.zeroCopy = err == 0; s.zeroCopy {
			return nil
		}
		if err != unix.EBUSY {
			err = s.bindTo(index, queue, unix.XDP_COPY)
		}
		switch {
		case err == 0:
			return nil
		case err == unix.EBUSY && time.Now().Before(until):
			time.Sleep(10 * time.Millisecond)
		case err == unix.EBUSY:
			return fmt.Errorf("queue %d belongs to another program's AF_XDP socket: %w", queue, err)
		default:
			return os.NewSyscallError("bind", err)
		}
	}
}

func (s *socket) bindTo(index, queue, flag int) unix.Errno {
	err := unix.Bind(s.fd, &unix.SockaddrXDP{Flags: uint16(flag | unix.XDP_USE_NEED_WAKEUP), Ifindex: uint32(index), QueueID: uint32(queue)})
	errno, _ := err.(unix.Errno)
	return errno
}

// kick lets the kernel send. It says what sendto answered.
func (s *socket) kick() unix.Errno {
	_, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(s.out), 0, 0, unix.MSG_DONTWAIT, 0, 0)
	return errno
}

func (s *socket) close() error {
	for _, r := range []*ring[unix.XDPDesc]{&s.rx, &s.tx} {
		r.close()
	}
	s.fill.close()
	s.complete.close()
	var err error
	if s.out >= 0 && s.out != s.fd {
		err = unix.Close(s.out)
	}
	if s.fd >= 0 {
		err = errors.Join(err, unix.Close(s.fd))
	}
	if s.umem != nil {
		err = errors.Join(err, unix.Munmap(s.umem))
	}
	return err
}
