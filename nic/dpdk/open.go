//go:build dpdk && cgo && linux

package dpdk

/*
#include <stdlib.h>
#include "dpdk.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"loadtest/internal/link"
	"loadtest/internal/netns"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/units"
)

// A device is a port of DPDK with its queues.
type device struct {
	name string
	ns   string // network namespace of the kernel's interface
	c    *C.struct_lt_device

	mu   sync.Mutex // drivers are asked by one at a time
	open int        // queues
	link *link.Link // of the kernel's interface, if it is one
	last nic.Status

	sockets []int // packet sockets of the driver
	dropped int64 // by them, so far
}

// Open opens devices: PCI addresses, as 22:00.0 or 0000:22:00.0, or virtual devices in DPDK's words, as net_af_packet0,iface=eth2
// (eth2@NETNS in a network namespace); all or none. It may be called again: devices are added while EAL runs. An error names the
// device, and says what DPDK logged.
func Open(devices []string, o Options) (all []nic.Device, err error) {
	for _, name := range devices {
		d, err := open(name, o)
		if err != nil {
			for _, d := range all {
				for _, q := range d.Queues {
					q.Close()
				}
			}
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

func open(name string, o Options) (nic.Device, error) {
	eal.Lock()
	defer eal.Unlock()
	if err := start(o.EAL); err != nil {
		return nic.Device{}, err
	}
	sweep(nil)
	d, err := add(name, o)
	if err != nil {
		err = fmt.Errorf("port %q: %w", "dpdk:"+name, err)
	}
	return d, err
}

// namespaced is a virtual device whose interface is in a network namespace.
var namespaced = regexp.MustCompile(`(,iface=[^,@]*)@([^,]*)`)

// add adds a device to EAL, in its network namespace: drivers of kernel interfaces speak to the kernel at any time. eal is locked, as
// for all that is done to its list of devices.
func add(name string, o Options) (added nic.Device, err error) {
	d := &device{name: name, c: (*C.struct_lt_device)(C.calloc(1, C.sizeof_struct_lt_device))}
	d.c.epoch = C.int64_t(o.Epoch)
	words := namespaced.ReplaceAllStringFunc(name, func(s string) string {
		m := namespaced.FindStringSubmatch(s)
		d.ns = m[2]
		return m[1]
	})
	var f C.struct_lt_facts
	C.lt_hush(true)
	defer C.lt_hush(false)
	err = netns.Within(d.ns, func() error {
		before := packetSockets()
		if err := d.plug(words); err != nil {
			C.free(unsafe.Pointer(d.c))
			return err
		}
		err := d.start(o, &f)
		d.sockets = opened(before, int(f.index))
		if err != nil {
			d.unplug()
		}
		return err
	})
	if err != nil {
		return added, err
	}
	return nic.Device{Info: d.info(&f), Queues: d.queues(int(f.queues), int(f.mtu)+packet.EtherLen)}, nil
}

// plug makes DPDK take the device, unless it has it.
func (d *device) plug(words string) error {
	said()
	name, _, _ := strings.Cut(words, ",")
	if d.find(name) {
		return d.claim()
	}
	devargs := C.CString(words)
	defer C.free(unsafe.Pointer(devargs))
	if errno := C.lt_probe(devargs); errno != 0 {
		return told(unix.Errno(errno), said())
	}
	if d.find(name) || d.find("0000:"+name) { // ports of PCI devices are called by their addresses with the domain
		return d.claim()
	}
	return errors.New("DPDK has no driver for it, or the kernel holds it; see dpdk-devbind.py --status")
}

// find looks for a port that DPDK has.
func (d *device) find(name string) bool {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	return C.lt_find(c, &d.c.port) == 0
}

// claim takes the port, which nobody else may have.
func (d *device) claim() error {
	if eal.ports[d.c.port] {
		return errors.New("it is open already")
	}
	if eal.ports == nil {
		eal.ports = make(map[C.uint16_t]bool)
	}
	eal.ports[d.c.port] = true
	return nil
}

// start sets the device up and makes it send and receive.
func (d *device) start(o Options, f *C.struct_lt_facts) error {
	var step *C.char
	switch errno := unix.Errno(C.lt_start(d.c, C.uint16_t(max(1, o.Queues)), f, &step)); errno {
	case 0:
	case unix.ENOMEM, unix.ENOBUFS:
		said()
		return fmt.Errorf("%s: there is not enough; give DPDK more (-m MiB), or fewer ports and queues", C.GoString(step))
	default:
		return fmt.Errorf("%s: %w", C.GoString(step), told(errno, said()))
	}
	if f.queues == 0 {
		return errors.New("the device cannot both send and receive")
	}
	if f.index == 0 {
		return nil
	}
	// The kernel's own view: some drivers do not notice that an interface is down or gone, or how long a frame it takes.
	i, err := net.InterfaceByIndex(int(f.index))
	if err != nil {
		return err
	}
	f.mtu = min(f.mtu, C.uint16_t(i.MTU))
	d.link, _, err = link.Open(i.Name)
	d.c.kernel = C.bool(err == nil)
	return err
}

// told is what DPDK said of a failure, in plainer words where it is what users meet.
func told(errno unix.Errno, log []string) error {
	if len(log) == 0 {
		return errno
	}
	why := log[0]
	for _, p := range []struct{ said, text string }{
		{"failed to parse device", "no driver of DPDK is called so; want a PCI address, as 22:00.0, or a virtual device, as net_af_packet0,iface=eth2"},
		{"Cannot find device", "no such device, or one that the kernel holds; see dpdk-devbind.py --status"},
		{"SIOCGIFINDEX", "no such interface; see ip -br link"},
		{"Driver cannot attach the device", "its driver does not take it: a PCI device must be bound to vfio-pci (dpdk-devbind.py), a virtual one have all its options, as net_af_packet0,iface=eth2"},
	} {
		if strings.Contains(why, p.said) {
			why = p.text
		}
	}
	return errors.New(why)
}

func (d *device) info(f *C.struct_lt_facts) nic.Info {
	i := nic.Info{Name: "dpdk:" + d.name, Backend: "dpdk", Driver: C.GoString(&f.driver[0]), NUMA: int(f.numa), Down: !bool(f.up),
		LineRate: units.BitRate(f.mbps) * units.Mbps, MTU: int(f.mtu), MaxFrame: int(f.mtu) + packet.EtherLen}
	for k := range i.MAC {
		i.MAC[k] = byte(f.mac[k])
	}
	memory := "usual pages, slower"
	if C.lt_huge() {
		memory = "huge pages"
	}
	queues := "1 queue"
	if f.queues > 1 {
		queues = fmt.Sprintf("%d queues", f.queues)
	}
	i.Mode = fmt.Sprintf("%s, %s, bursts of %d", memory, queues, C.LT_BURST)
	return i
}

func (d *device) queues(n, longest int) (all []nic.Port) {
	for i := range n {
		q := (*C.struct_lt_queue)(C.calloc(1, C.sizeof_struct_lt_queue))
		q.device, q.id = d.c, C.uint16_t(i)
		all = append(all, &port{device: d, q: q, first: i == 0, longest: longest})
	}
	d.open = n
	return all
}

// stop gives the device back, in its namespace, if that is still there. eal is locked.
func (d *device) stop() {
	C.lt_hush(true)
	defer C.lt_hush(false)
	unplug := func() error {
		d.unplug()
		return nil
	}
	if err := netns.Within(d.ns, unplug); err != nil {
		d.unplug()
	}
}

func (d *device) unplug() {
	delete(eal.ports, d.c.port)
	C.lt_unplug(d.c)
	sweep(d.c.pool)
	C.free(unsafe.Pointer(d.c))
	if d.link != nil {
		d.link.Close()
	}
}
