//go:build linux || freebsd

package netmap

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"loadtest/nic"
)

// Numbers of the calls: _IOWR('i', 151, struct nmreq_header), _IO('i', 148), _IO('i', 149).
const (
	inOut   = 3 << 30
	control = inOut | unsafe.Sizeof(header{})<<16 | 'i'<<8 | 151
)

func nothing() uintptr {
	if runtime.GOOS == "freebsd" {
		return 0x20000000 // IOC_VOID
	}
	return 0
}

// A device is an open port; its queues share it.
type device struct {
	fd     int
	memory []byte
	open   atomic.Int32
	txCall uintptr
	rxCall uintptr
}

// Open opens a port by its name, without "netmap:". Each ring of a device gets a descriptor of its own, so that its thread moves no
// other's frames.
func Open(name string, _ Options) (d nic.Device, err error) {
	r, err := parse(name)
	if err != nil {
		return d, err
	}
	dev, tx, rx, err := open(r)
	if err != nil {
		return d, fmt.Errorf("port %q: %w", name, err)
	}
	d.Info = info(name, r, tx, rx)
	if d.Queues = queues(dev, tx, rx); len(d.Queues) == 1 || r.mode != allRings {
		dev.open.Store(int32(len(d.Queues)))
		return d, nil
	}
	n := len(d.Queues)
	d.Queues = nil
	if err := dev.release(); err != nil {
		return nic.Device{}, fmt.Errorf("port %q: %w", name, err)
	}
	for i := range n {
		dev, tx, rx, err := open(request{r.name, oneRing, uint16(i)})
		if err != nil {
			for _, q := range d.Queues {
				err = errors.Join(err, q.Close())
			}
			return nic.Device{}, fmt.Errorf("port %q, ring %d: %w", name, i, err)
		}
		dev.open.Store(1)
		d.Queues = append(d.Queues, queues(dev, tx, rx)[:1]...)
	}
	return d, nil
}

// open makes rings ours.
func open(r request) (dev *device, tx, rx []*ring, err error) {
	fd, err := unix.Open("/dev/netmap", unix.O_RDWR|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENXIO):
		load := "modprobe netmap (it is built from its project's sources)"
		if runtime.GOOS == "freebsd" {
			load = "kldload netmap"
		}
		return nil, nil, nil, fmt.Errorf("there is no /dev/netmap, the module is not loaded: %s", load)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return nil, nil, nil, errors.New("/dev/netmap may not be opened: use sudo")
	case err != nil:
		return nil, nil, nil, fmt.Errorf("open /dev/netmap: %w", err)
	}
	dev = &device{fd: fd, txCall: nothing() | 'i'<<8 | 148, rxCall: nothing() | 'i'<<8 | 149}
	defer func() {
		if err != nil {
			dev.release()
		}
	}()
	reg := register{mode: r.mode, ring: r.ring}
	if err := dev.register(r, &reg); err != nil {
		return dev, nil, nil, err
	}
	if reg.size > 1<<40 {
		return dev, nil, nil, fmt.Errorf("the kernel says that its memory has %d bytes", reg.size)
	}
	if dev.memory, err = unix.Mmap(fd, 0, int(reg.size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return dev, nil, nil, fmt.Errorf("map %d MiB: %w", reg.size>>20, err)
	}
	tx, rx, err = region(dev.memory).rings(reg.offset, r.mode == hostOnly)
	if err == nil && len(tx)+len(rx) == 0 {
		err = errors.New("it has no rings")
	}
	return dev, tx, rx, err
}

func info(name string, r request, tx, rx []*ring) nic.Info {
	i := nic.Info{Name: name, Backend: "netmap", Mode: fmt.Sprintf("%d tx and %d rx rings", len(tx), len(rx)), NUMA: -1}
	if len(tx) > 0 {
		i.MaxFrame = min(tx[0].size, 1<<16-1)
		i.MTU = i.MaxFrame - ethernet
		i.Mode += fmt.Sprintf(" of %d slots", tx[0].slots)
	}
	if it, err := net.InterfaceByName(r.name); err == nil {
		copy(i.MAC[:], it.HardwareAddr)
		i.MTU = min(i.MTU, it.MTU)
		i.MaxFrame = i.MTU + ethernet
	}
	return i
}

// register makes the rings ours.
func (d *device) register(r request, reg *register) error {
	h := header{version: version, kind: 1, body: uint64(uintptr(unsafe.Pointer(reg)))} // NETMAP_REQ_REGISTER
	copy(h.name[:nameBytes-1], r.name)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(d.fd), uintptr(control), uintptr(unsafe.Pointer(&h)))
	runtime.KeepAlive(reg)
	switch errno {
	case 0:
		return nil
	case unix.ENXIO, unix.ENODEV:
		return errors.New("no such interface, or its driver has no netmap: all are in loadtest ports")
	case unix.EINVAL:
		return fmt.Errorf("refused: its ABI is not %d, or there is no such ring: %w", version, errno)
	case unix.EBUSY:
		return fmt.Errorf("another program has it: %w", errno)
	}
	return os.NewSyscallError("NIOCCTRL", errno)
}

func (d *device) call(request uintptr) error {
	for {
		_, _, errno := unix.RawSyscall(unix.SYS_IOCTL, uintptr(d.fd), request, 0)
		if errno == 0 {
			return nil
		}
		if errno != unix.EINTR {
			return os.NewSyscallError("netmap sync", errno)
		}
	}
}

func (d *device) txSync() error { return d.call(d.txCall) }
func (d *device) rxSync() error { return d.call(d.rxCall) }

func (d *device) wait(t time.Duration) {
	fds := []unix.PollFd{{Fd: int32(d.fd), Events: unix.POLLIN}}
	_, _ = unix.Poll(fds, int(max(1, t.Milliseconds())))
}

// close is called by each queue; the last one gives the port back.
func (d *device) close() error {
	if d.open.Add(-1) > 0 {
		return nil
	}
	return d.release()
}

func (d *device) release() error {
	var err error
	if d.memory != nil {
		err = unix.Munmap(d.memory)
	}
	return errors.Join(err, unix.Close(d.fd))
}
