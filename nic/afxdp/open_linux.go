package afxdp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"loadtest/internal/link"
	"loadtest/internal/xdp"
	"loadtest/nic"
	"loadtest/units"
)

const (
	ethernet = 14 // bytes of an Ethernet header
	vlanTag  = 4  // bytes of a VLAN tag: a frame that has one may be that much longer
)

// A device is an interface: what its queues share.
type device struct {
	promiscuous int // a packet socket, which keeps the interface so while it is open
	attachment  *xdp.Attachment
	program     *ebpf.Program
	sockets     *ebpf.Map
	maxFrame    int

	queues []*port

	mu    sync.Mutex // Status may be called by any goroutine
	link  *link.Link
	first link.Facts
	open  int // queues
}

// A port is one queue.
type port struct {
	*device
	*socket
	queue  int
	gate   nic.Gate
	lent   []uint64 // chunks that Recv has lent
	busy   []bool   // by chunk that sends: the kernel has not given it back
	next   int      // next chunk that Send copies to, from sendAt on
	player player
}

// Open opens the interface name, or name@NETNS in a named network namespace (or in the one a path stands for).
func Open(name string, o Options) (d nic.Device, err error) {
	err = link.At(name, func(iface string) (err error) {
		if d, err = open(name, iface, o); errors.Is(err, fs.ErrPermission) {
			err = errors.New("AF_XDP needs CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF. Use sudo, or once: setcap " +
				"cap_net_raw,cap_net_admin,cap_bpf,cap_perfmon,cap_ipc_lock+ep $(command -v loadtest)")
		}
		return err
	})
	return d, err
}

// Look tells what Open would say about the interface, as far as that is known before: the mode and the driver's answer are not.
func Look(name string) (i nic.Info, err error) {
	err = link.At(name, func(iface string) error {
		l, f, err := link.Open(iface)
		if err != nil {
			return err
		}
		defer l.Close()
		rx, _ := l.Queues()
		i = info(l, name, f, rx)
		return nil
	})
	return i, err
}

// info describes a port of so many queues.
func info(l *link.Link, name string, f link.Facts, queues int) nic.Info {
	mode := fmt.Sprintf("rings of %d", ringFrames)
	if queues > 1 {
		mode = fmt.Sprintf("%d queues, %s", queues, mode)
	}
	if hidden(l.Driver(), l.Settings().Features) != nil {
		mode += ", may not see VLAN tags"
	}
	return nic.Info{Name: name, Backend: "afxdp", Driver: l.Driver(), Mode: mode, MAC: f.MAC, LineRate: units.BitRate(l.Speed()) * units.Mbps,
		MTU: f.MTU, MaxFrame: longest(f.MTU), NUMA: link.NUMA(f.Parent), Down: !f.Up, Merges: l.Merges()}
}

// chunkFor is the size of chunks for a link's frames; longest is what fits into them.
func chunkFor(mtu int) int {
	if mtu+ethernet+vlanTag <= smallChunk-headroom {
		return smallChunk
	}
	return largeChunk
}

func longest(mtu int) int { return min(mtu+ethernet, chunkFor(mtu)-headroom-vlanTag) }

// open runs in the interface's namespace.
func open(name, iface string, o Options) (d nic.Device, err error) {
	shared := &device{promiscuous: -1}
	defer func() {
		if err != nil {
			for _, p := range shared.queues {
				p.socket.close()
			}
			shared.close()
		}
	}()
	if shared.link, shared.first, err = link.Open(iface); err != nil {
		return d, err
	}
	f := shared.first
	most, told, err := most(shared.link)
	if err != nil {
		return d, err
	}
	shared.maxFrame = longest(f.MTU)
	if err = shared.promise(); err != nil {
		return d, err
	}
	if err = shared.attach(most, o.generic); err != nil {
		return d, err
	}
	for q := range most {
		s, err := newSocket(shared.link.Index, q, chunkFor(f.MTU), shared.attachment.Mode == xdp.Generic)
		if !told && q > 0 && errors.Is(err, unix.EINVAL) {
			break // no such queue is in use
		}
		if err != nil {
			return d, err
		}
		p := &port{device: shared, socket: s, queue: q, lent: make([]uint64, 0, burst), busy: make([]bool, chunks), next: sendAt}
		shared.queues = append(shared.queues, p)
		d.Queues = append(d.Queues, p)
		if err := shared.sockets.Put(uint32(q), uint32(s.fd)); err != nil {
			return d, fmt.Errorf("redirect queue %d: %w", q, err)
		}
	}
	shared.open = len(shared.queues)
	d.Info = info(shared.link, name, f, shared.open)
	d.Info.Mode = mode(shared.attachment.Mode, shared.queues[0].zeroCopy) + ", " + d.Info.Mode
	return d, nil
}

// most is how many queues an interface has at most, and whether its driver told. Frames of one without a socket would go to the stack.
func most(l *link.Link) (n int, told bool, err error) {
	if l.Settings().Queues == nil {
		i, err := netlink.LinkByIndex(l.Index)
		if err != nil {
			return 0, false, err
		}
		return max(1, i.Attrs().NumRxQueues), false, nil
	}
	rx, tx := l.Queues()
	if rx > tx { // the kernel says nothing of what is sent at a queue that cannot
		err = fmt.Errorf("it has %d receive queues and %d to send; AF_XDP needs as many: ethtool -L IF rx %d", rx, tx, tx)
	}
	return rx, true, err
}

func mode(attached string, zeroCopy bool) string {
	if zeroCopy {
		return "zero-copy"
	}
	return attached + " copy"
}

// promise puts the interface into promiscuous mode for as long as the socket lives.
func (d *device) promise() (err error) {
	if d.promiscuous, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
		return os.NewSyscallError("socket", err)
	}
	m := unix.PacketMreq{Ifindex: int32(d.link.Index), Type: unix.PACKET_MR_PROMISC}
	return os.NewSyscallError("setsockopt PACKET_ADD_MEMBERSHIP", unix.SetsockoptPacketMreq(d.promiscuous, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &m))
}

// attach puts a program at the interface that gives what comes at a queue to its socket.
func (d *device) attach(queues int, generic bool) (err error) {
	d.sockets, err = ebpf.NewMap(&ebpf.MapSpec{Name: "lt_sockets", Type: ebpf.XSKMap, KeySize: 4, ValueSize: 4, MaxEntries: uint32(queues)})
	if err != nil {
		return fmt.Errorf("make a map of sockets: %w", err)
	}
	const pass, queueAt = 2, int16(unsafe.Offsetof(xdpMD{}.rxQueue))
	d.program, err = ebpf.NewProgram(&ebpf.ProgramSpec{Name: "lt_redirect", Type: ebpf.XDP, License: "GPL", Instructions: asm.Instructions{
		asm.LoadMem(asm.R2, asm.R1, queueAt, asm.Word),
		asm.LoadMapPtr(asm.R1, d.sockets.FD()),
		asm.Mov.Imm(asm.R3, pass), // a queue without a socket
		asm.FnRedirectMap.Call(),
		asm.Return(),
	}})
	if err != nil {
		return fmt.Errorf("load an XDP program: %w", err)
	}
	how := ""
	if generic {
		how = xdp.Generic
	}
	d.attachment, err = xdp.Attach(d.program, d.link.Index, how)
	return err
}

// xdpMD is struct xdp_md (linux/bpf.h).
type xdpMD struct{ data, dataEnd, meta, ifindex, rxQueue, egress uint32 }

// close gives back what the queues share.
func (d *device) close() error {
	var errs []error
	if d.attachment != nil {
		errs = append(errs, d.attachment.Close())
	}
	if d.program != nil {
		errs = append(errs, d.program.Close())
	}
	if d.sockets != nil {
		errs = append(errs, d.sockets.Close())
	}
	if d.promiscuous >= 0 {
		errs = append(errs, unix.Close(d.promiscuous))
	}
	if d.link != nil {
		errs = append(errs, d.link.Close())
	}
	return errors.Join(errs...)
}

// Close closes the queue; with the last one the interface is as it was.
func (p *port) Close() error {
	if !p.gate.Close() {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.socket.close()
	if p.open--; p.open == 0 {
		err = errors.Join(err, p.device.close())
	}
	return err
}
