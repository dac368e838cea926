package xdp

import (
	"net"
	"os"
	"runtime"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"loadtest/internal/xdp"
)

// An idle place is an interface that nobody else sees, where a program is attached and never called: the kernel rewrites its table of
// attached programs, for 20 ms, at each call of one that is attached nowhere. It is the lo of a network namespace without a name,
// which ends with its descriptor.
type idle struct {
	namespace  *os.File
	attachment *xdp.Attachment
}

func newIdle(p *ebpf.Program) (i *idle, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends in there with its goroutine
		if err = unix.Unshare(unix.CLONE_NEWNET); err != nil {
			err = os.NewSyscallError("unshare", err)
			return
		}
		i = &idle{}
		if i.namespace, err = os.Open("/proc/thread-self/ns/net"); err != nil {
			return
		}
		var lo *net.Interface
		if lo, err = net.InterfaceByName("lo"); err == nil {
			i.attachment, err = xdp.Attach(p, lo.Index, xdp.Generic)
		}
		if err != nil {
			i.namespace.Close()
		}
	}()
	<-done
	return i, err
}

func (i *idle) close() {
	if i != nil {
		i.attachment.Close()
		i.namespace.Close()
	}
}
