package afxdp

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"loadtest/nic"
	"loadtest/packet"
)

// Recv lends frames where the kernel put them. It does not stamp.
func (p *port) Recv(frames []packet.Frame) (n int, err error) {
	if !p.gate.Enter() {
		return 0, nic.ErrClosed
	}
	for _, at := range p.lent { // the fill ring has a slot for each chunk
		p.fill.put(at)
	}
	if len(p.lent) > 0 {
		p.fill.publish()
		p.lent = p.lent[:0]
	}
	if n = min(len(frames), int(p.rx.ready())); n > 0 {
		for i := range n {
			d := p.rx.get()
			at, size := int(d.Addr), int(d.Len)
			frames[i] = packet.Frame{Data: p.umem[at : at+size : at+size]}
			p.lent = append(p.lent, d.Addr&^uint64(p.chunk-1))
		}
		p.rx.release()
	} else if p.fill.wakeup() {
		unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(p.fd), 0, 0, unix.MSG_DONTWAIT, 0, 0)
	}
	p.gate.Leave()
	return n, nil
}

// Wait waits until a frame is there, or d. Not unix.Poll: that lets the scheduler take the thread's processor away.
func (p *port) Wait(d time.Duration) {
	if !p.gate.Enter() {
		return
	}
	if d > 0 && p.rx.ready() == 0 {
		fd := unix.PollFd{Fd: int32(p.fd), Events: unix.POLLIN}
		t := unix.NsecToTimespec(int64(d))
		unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&fd)), 1, uintptr(unsafe.Pointer(&t)), 0, 0, 0)
	}
	p.gate.Leave()
}
