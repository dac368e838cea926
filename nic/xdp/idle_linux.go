package xdp

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"loadtest/internal/xdp"
)

// An idle place is an interface where a program is attached and never called: the kernel rewrites its table of attached programs, for
// 20 ms, at each call of one that is attached nowhere. It ends with its descriptor.
type idle struct {
	place      io.Closer
	attachment *xdp.Attachment
}

// newIdle takes an interface that nobody else sees: the lo of a network namespace without a name. Who may not make one, for want of
// CAP_SYS_ADMIN, gets a tap.
func newIdle(p *ebpf.Program) (i *idle, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends in there with its goroutine
		if err = unix.Unshare(unix.CLONE_NEWNET); err != nil {
			err = os.NewSyscallError("unshare", err)
			return
		}
		var namespace *os.File
		if namespace, err = os.Open("/proc/thread-self/ns/net"); err == nil {
			i, err = idleAt(p, "lo", namespace)
		}
	}()
	<-done
	if errors.Is(err, unix.EPERM) {
		return newTap(p)
	}
	return i, err
}

// newTap makes an interface without a cable, which is down.
func newTap(p *ebpf.Program) (*idle, error) {
	const device = "/dev/net/tun"
	fd, err := unix.Open(device, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: device, Err: err}
	}
	tap := os.NewFile(uintptr(fd), device)
	r, err := unix.NewIfreq("ltidle%d") // the kernel puts a number
	if err == nil {
		r.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
		err = os.NewSyscallError("make a tap", unix.IoctlIfreq(fd, unix.TUNSETIFF, r))
	}
	if err != nil {
		tap.Close()
		return nil, err
	}
	return idleAt(p, r.Name(), tap)
}

// idleAt attaches the program to an interface of the thread's network namespace, which ends when place is closed.
func idleAt(p *ebpf.Program, name string, place io.Closer) (*idle, error) {
	iface, err := net.InterfaceByName(name)
	if err == nil {
		var a *xdp.Attachment
		if a, err = xdp.Attach(p, iface.Index, xdp.Generic); err == nil {
			return &idle{place, a}, nil
		}
	}
	place.Close()
	return nil, fmt.Errorf("idle interface %s: %w", name, err)
}

func (i *idle) close() {
	if i != nil {
		i.attachment.Close()
		i.place.Close()
	}
}
