package netmap

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"loadtest/internal/link"
	"loadtest/nic"
)

// A module stands in for the kernel's, and for the system around it.
type module struct {
	mu       sync.Mutex
	nifs     map[string]*nif
	gone     bool // all interfaces
	open     int  // descriptors and watches
	complain func(string, ...any)

	failOpen, failAsk, failRegister, failModule, failWatch error // what calls fail with; failModule: ask of no port

	registers int // how many succeed before failRegister
	mtu       int
	state     nic.Status
}

// A nif is a port of the module's.
type nif struct {
	shape
	memory region
	rings  []*kring // tx, host tx, rx, host rx
	files  int
	lie    func(region, *register) // tells the program something else
}

func newModule(t testing.TB) *module {
	m := &module{nifs: map[string]*nif{}, complain: func(f string, a ...any) { t.Errorf(f, a...) }, mtu: 1500}
	t.Cleanup(func() {
		if m.open != 0 {
			t.Errorf("%d descriptors are open still", m.open)
		}
	})
	return m
}

func (m *module) add(name string, s shape) *nif {
	n := &nif{shape: s, memory: s.memory()}
	for i := range s.rings() {
		r, err := n.memory.ring(int64(s.ringAt(i)))
		if err != nil {
			panic(err)
		}
		n.rings = append(n.rings, newKring(fmt.Sprintf("%s ring %d", name, i), r, func(f string, a ...any) { m.complain(f, a...) }))
	}
	m.nifs[name] = n
	return n
}

// join makes a cable: ring by ring, each way, and host ring by host ring.
func join(a, b *nif, lazy bool) {
	for _, n := range [][2]*nif{{a, b}, {b, a}} {
		from, to := n[0], n[1]
		rx := to.rings[to.tx+to.hostTx:]
		for i, k := range from.rings[:from.tx+from.hostTx] {
			if k.lazy = lazy; i < from.tx {
				k.peer = rx[i%to.rx]
			} else {
				k.peer = rx[to.rx+(i-from.tx)%to.hostRx]
			}
		}
	}
}

// run lets frames go on that waited for room.
func (m *module) run() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range m.nifs {
		for _, k := range n.rings[:n.tx+n.hostTx] {
			for k.hwcur != k.rhead && k.peer.room() && !m.gone {
				k.peer.arrive(k.buffer(k.hwcur)[:k.length(k.hwcur)], 0)
				k.hwcur = k.next(k.hwcur)
			}
		}
	}
}

func (m *module) system() system {
	return system{
		open: func() (handle, error) {
			if m.failOpen != nil {
				return nil, missing(m.failOpen, "linux")
			}
			m.open++
			return &descriptor{module: m}, nil
		},
		look: func(r request) (nic.Info, error) { return nic.Info{Driver: "ixgbe", MTU: m.mtu, NUMA: 1}, nil },
		watch: func(r request) (watcher, error) {
			if m.failWatch != nil {
				return nil, m.failWatch
			}
			m.open++
			return watching{m}, nil
		},
	}
}

type watching struct{ m *module }

func (w watching) status() nic.Status { return w.m.state }
func (w watching) wire() link.Wire    { return link.Wire{} }
func (w watching) close() error       { w.m.open--; return nil }

// A descriptor is an open /dev/netmap.
type descriptor struct {
	*module
	tx, rx *kring
	memory region
	shut   bool
}

func (d *descriptor) ask(name string) (facts, error) {
	n := d.nifs[name]
	switch {
	case name == "":
		return facts{}, d.failModule
	case d.failAsk != nil:
		return facts{}, d.failAsk
	case n == nil:
		return facts{}, syscall.ENXIO
	}
	return facts{txRings: uint16(n.tx), rxRings: uint16(n.rx), hostTx: uint16(n.hostTx), hostRx: uint16(n.hostRx)}, nil
}

// register does as netmap_interp_ringid does.
func (d *descriptor) register(name string, g *register) error {
	if d.failRegister != nil && d.registers == 0 {
		return d.failRegister
	}
	d.registers--
	n := d.nifs[name]
	firstTx, tx, firstRx, rx := 0, n.tx, n.tx+n.hostTx, n.rx
	if g.mode == modeHost || g.mode == modeOneHost {
		firstTx, tx, firstRx, rx = n.tx, n.hostTx, firstRx+n.rx, n.hostRx
	}
	i := int(g.ring)
	if i >= tx && i >= rx || g.flags&flagNoTxPoll == 0 {
		return syscall.EINVAL
	}
	if g.mode == modeAll || g.mode == modeHost {
		if tx > 1 || rx > 1 {
			return syscall.EINVAL // not as the kernel: one pair for each descriptor is what is wanted here
		}
	}
	txAt, rxAt := firstTx+i, firstRx+i
	if i >= tx {
		txAt = firstTx
	}
	if i >= rx {
		rxAt = firstRx
	}
	d.tx = n.rings[txAt]
	if g.flags&flagTxOnly != 0 {
		rxAt = -1
	} else {
		d.rx = n.rings[rxAt]
	}
	at := n.files * n.ifBytes()
	n.files++
	n.describe(n.memory, at, func(i int) bool { return i == txAt || i == rxAt })
	g.offset, g.size = uint64(at), uint64(len(n.memory))
	if n.lie != nil {
		n.lie(n.memory, g)
	}
	d.memory = n.memory
	return nil
}

func (d *descriptor) share(bytes uint64) (region, error) {
	if bytes > uint64(len(d.memory)) {
		return nil, syscall.EINVAL
	}
	return d.memory[:bytes], nil
}

// call is a system call of a descriptor that is open, on an interface that is there.
func (d *descriptor) call(k *kring, sync func(*kring)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.shut || k == nil:
		d.complain("a call of rings that are not its own")
	case d.gone:
		return syscall.EIO
	default:
		sync(k)
	}
	return nil
}

func (d *descriptor) txSync() error { return d.call(d.tx, (*kring).txSync) }
func (d *descriptor) rxSync() error { return d.call(d.rx, (*kring).rxSync) }

// wait syncs as poll(2) does.
func (d *descriptor) wait(t time.Duration) {
	_ = d.rxSync()
	if d.rx.hwtail == *d.rx.word(ringCur) {
		time.Sleep(min(t, time.Millisecond))
	}
}

func (d *descriptor) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shut {
		d.complain("closed twice")
	}
	d.shut = true
	d.module.open--
	return nil
}
