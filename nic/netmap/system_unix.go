//go:build (linux || freebsd) && (amd64 || arm64 || riscv64)

package netmap

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"loadtest/nic"
)

// Open opens a port by its name, without "netmap:": eth0 (all rings, one queue each), eth0-2 (one ring), eth0^ (host rings), vale1:a, and
// the two ends of a pipe, vale1:p{1 and vale1:p}1.
func Open(name string, _ Options) (nic.Device, error) { return machine().device(name) }

// Look tells what Open would say about the port, and needs no privilege. How many rings it has, and how long frames of a port without
// an interface may be, is only seen when it is opened.
func Look(name string) (nic.Info, error) {
	r, err := parse(name)
	if err != nil {
		return nic.Info{}, err
	}
	return machine().info(name, r)
}

func machine() system { return system{openFile, look, newWatch} }

// A file is an open /dev/netmap.
type file struct {
	fd     int
	calls  calls
	memory []byte
}

func openFile() (handle, error) {
	fd, err := unix.Open("/dev/netmap", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, missing(err, runtime.GOOS)
	}
	return &file{fd: fd, calls: numbers(runtime.GOOS)}, nil
}

func (f *file) ask(name string) (has facts, err error) {
	err = f.control(name, kindFacts, unsafe.Pointer(&has))
	return has, err
}

func (f *file) register(name string, g *register) error {
	return f.control(name, kindRegister, unsafe.Pointer(g))
}

func (f *file) control(name string, kind uint16, body unsafe.Pointer) error {
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(body)
	h := header{version: version, kind: kind, body: uint64(uintptr(body))}
	copy(h.name[:nameBytes-1], name)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(f.fd), f.calls.control, uintptr(unsafe.Pointer(&h))); errno != 0 {
		return errno
	}
	return nil
}

func (f *file) share(bytes uint64) (region, error) {
	if bytes == 0 || bytes > 1<<40 {
		return nil, fmt.Errorf("the kernel says that its memory has %d bytes", bytes)
	}
	m, err := unix.Mmap(f.fd, 0, int(bytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %d MiB of netmap's memory: %w", bytes>>20, err)
	}
	f.memory = m
	return m, nil
}

func (f *file) txSync() error { return f.sync(f.calls.txSync, "NIOCTXSYNC") }
func (f *file) rxSync() error { return f.sync(f.calls.rxSync, "NIOCRXSYNC") }

// sync does not use unix.Syscall: the scheduler would hand this thread's processor to another one.
func (f *file) sync(call uintptr, name string) error {
	for {
		_, _, errno := unix.RawSyscall(unix.SYS_IOCTL, uintptr(f.fd), call, 0)
		if errno == 0 {
			return nil
		}
		if errno != unix.EINTR {
			return os.NewSyscallError(name, errno)
		}
	}
}

// wait is not unix.Poll, for the same reason.
func (f *file) wait(d time.Duration) {
	fd := unix.PollFd{Fd: int32(f.fd), Events: unix.POLLIN}
	t := unix.NsecToTimespec(int64(d))
	unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&fd)), 1, uintptr(unsafe.Pointer(&t)), 0, 0, 0)
	if fd.Revents&unix.POLLERR != 0 { // the interface is gone or being reset: that is told at once, again and again
		time.Sleep(d)
	}
}

func (f *file) close() error {
	var err error
	if f.memory != nil {
		err = unix.Munmap(f.memory)
	}
	return errors.Join(err, unix.Close(f.fd))
}
