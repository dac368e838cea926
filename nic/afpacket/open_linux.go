package afpacket

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"loadtest/nic"
	"loadtest/units"
)

const (
	ethernet = 14 // bytes of an Ethernet header
	vlanTag  = 4  // bytes of a VLAN tag: a frame that has one may be that much longer
)

// A port is an interface: two sockets, and a third that asks for the interface's state.
type port struct {
	tx     sender
	rx     receiver
	closed atomic.Bool

	mu     sync.Mutex // Status may be called by any goroutine
	link   link
	first  facts // of the interface when the port was opened
	missed int64 // drops of the receiving socket so far
}

// Open opens the interface name, or name@NETNS in a named network namespace (or in the one a path stands for).
func Open(name string, o Options) (nic.Device, error) {
	iface, ns, _ := strings.Cut(name, "@")
	var d nic.Device
	err := within(ns, func() (err error) {
		d, err = open(name, iface, o)
		return err
	})
	switch {
	case errors.Is(err, errNoInterface):
		return d, missing(iface, ns)
	case errors.Is(err, unix.EPERM):
		return d, fmt.Errorf("%s: a packet socket needs CAP_NET_RAW. Use sudo, or once: setcap "+
			"cap_net_raw,cap_net_admin,cap_bpf,cap_perfmon,cap_ipc_lock+ep $(command -v loadtest)", iface)
	case err != nil:
		return d, fmt.Errorf("port %q: %w", name, err)
	}
	return d, nil
}

var errNoInterface = errors.New("no such interface")

// open runs in the interface's namespace.
func open(name, iface string, o Options) (d nic.Device, err error) {
	i, err := net.InterfaceByName(iface)
	if err != nil {
		return d, errNoInterface
	}
	p := &port{tx: sender{fd: -1, name: iface}, rx: receiver{fd: -1}, link: link{fd: -1, index: i.Index}}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	if err = p.link.open(); err != nil {
		return d, err
	}
	if p.first, err = p.link.ask(); err != nil {
		return d, err
	}
	if p.first.kind != unix.ARPHRD_ETHER && p.first.kind != unix.ARPHRD_LOOPBACK {
		return d, fmt.Errorf("not an Ethernet interface (ARP hardware type %d)", p.first.kind)
	}
	if err = p.tx.open(i.Index, p.first.mtu+ethernet); err != nil {
		return d, err
	}
	if err = p.rx.open(i.Index, o); err != nil {
		return d, err
	}
	mode := fmt.Sprintf("sendmmsg, receive ring of %d MiB", len(p.rx.ring)>>20)
	if p.tx.merges() {
		mode += ", GRO on: TCP segments may arrive merged"
	}
	d.Info = nic.Info{
		Name: name, Backend: "afpacket", Driver: p.tx.driver(), Mode: mode, MAC: p.first.mac,
		LineRate: units.BitRate(p.tx.speed()) * units.Mbps,
		MTU:      p.first.mtu, MaxFrame: p.first.mtu + ethernet, NUMA: numa(p.first.parent),
	}
	d.Queues = []nic.Port{p}
	return d, nil
}

// numa is the memory node of a PCI device; -1 if there is none. The path is the same in each network namespace.
func numa(pci string) int {
	b, err := os.ReadFile("/sys/bus/pci/devices/" + pci + "/numa_node")
	if n, e := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && e == nil && pci != "" {
		return n
	}
	return -1
}

// Status asks the kernel. What the interface itself dropped before a socket could see it is missed, too: the driver had no
// buffer (rx_missed) or the backlog of the stack was full (rx_dropped).
func (p *port) Status() nic.Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed.Load() {
		return nic.Status{LinkDown: true, Missed: p.missed}
	}
	if s, err := unix.GetsockoptTpacketStatsV3(p.rx.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
		p.missed += int64(s.Drops) // the kernel counts anew after each call
	}
	now, err := p.link.ask()
	if err != nil { // the interface is gone
		return nic.Status{LinkDown: true, Downs: 1, Missed: p.missed}
	}
	return nic.Status{
		LinkDown: !now.up,
		Downs:    now.downs - p.first.downs,
		Missed:   p.missed + now.rxMissed - p.first.rxMissed,
		TxErrors: now.txErrors - p.first.txErrors,
	}
}

// Close ends both halves; neither may be in a call, and what Recv lent is gone.
func (p *port) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed.Swap(true) {
		return nil
	}
	var errs []error
	if p.rx.ring != nil {
		errs = append(errs, unix.Munmap(p.rx.ring))
	}
	for _, fd := range []int{p.rx.fd, p.tx.fd, p.link.fd} {
		if fd >= 0 {
			errs = append(errs, unix.Close(fd))
		}
	}
	return errors.Join(errs...)
}
