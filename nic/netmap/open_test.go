package netmap

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"loadtest/nic"
)

func TestInfo(t *testing.T) {
	m := cable(t, shape{2, 2, 1, 1, 256, 2048}, shape{1, 1, 1, 1, 256, 2048}, false)
	m.add("vale1:a", shape{1, 1, 1, 1, 1024, 2048})
	m.add("vale1:p{1", shape{1, 1, 1, 1, 1024, 2048})
	for _, tt := range []struct {
		name string
		mtu  int
		want nic.Info
	}{
		{"a0", 1500, nic.Info{Name: "a0", Driver: "ixgbe", Mode: "all rings, 2 × 256 slots", MTU: 1500, MaxFrame: 1514, NUMA: 1}},
		{"a0-1", 1500, nic.Info{Name: "a0-1", Driver: "ixgbe", Mode: "ring 1, 1 × 256 slots", MTU: 1500, MaxFrame: 1514, NUMA: 1}},
		{"a0^", 9000, nic.Info{Name: "a0^", Driver: "ixgbe", Mode: "host rings, 1 × 256 slots", MTU: 2034, MaxFrame: 2048, NUMA: 1}},
		{"vale1:a", 1500, nic.Info{Name: "vale1:a", Mode: "VALE port, 1 × 1024 slots", MTU: 2034, MaxFrame: 2048, NUMA: -1}},
		{"vale1:p{1", 1500, nic.Info{Name: "vale1:p{1", Mode: "pipe, 1 × 1024 slots", MTU: 2034, MaxFrame: 2048, NUMA: -1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m.mtu, tt.want.Backend = tt.mtu, "netmap"
			if got := open(t, m, tt.name).Info; got != tt.want {
				t.Errorf("\n got %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

// TestOpenErrors: what the kernel refuses is said with what would be right, and nothing stays open (the module looks at that).
func TestOpenErrors(t *testing.T) {
	const old = "the module has another ABI than 14 (net/netmap.h, NETMAP_API), want one since 2018"
	for _, tt := range []struct {
		test, name string
		set        func(*module)
		want       string // behind the port's name
	}{
		{"no module", "a0", func(m *module) { m.failOpen = syscall.ENOENT },
			"no /dev/netmap, so its module is not loaded: modprobe netmap (built from github.com/luigirizzo/netmap for this kernel)"},
		{"no right", "a0", func(m *module) { m.failOpen = syscall.EACCES }, "/dev/netmap may not be opened by this user: use sudo"},
		{"out of descriptors", "a0", func(m *module) { m.failOpen = syscall.EMFILE }, "open /dev/netmap: too many open files"},
		{"no interface", "c0", func(*module) {}, "no interface c0, or none that netmap can take"},
		{"no switch", "vale1:a", func(*module) {}, "no port vale1:a, and none can be made: want vale1:a, or a pipe of a port that is there, as vale1:p{1"},
		{"an older ABI", "a0", func(m *module) { m.failAsk = syscall.EOPNOTSUPP }, old},
		{"another ABI", "a0", func(m *module) { m.failAsk, m.failModule = syscall.EINVAL, syscall.EINVAL }, old},
		{"no such ring", "a0-2", func(*module) {}, "no ring 2: want a0-0 to a0-1"},
		{"an MTU", "a0", func(m *module) { m.failRegister = syscall.EINVAL },
			"netmap refused a0; dmesg says why. Often: an MTU longer than dev.netmap.buf_size or the module's parameter buf_size"},
		{"no host rings", "a0^", func(m *module) { m.failRegister = syscall.EINVAL }, "a0 has no host rings for netmap: want a0"},
		{"taken", "a0", func(m *module) { m.failRegister = syscall.EBUSY }, "a0 is taken by another program or by a VALE switch"},
		{"the second ring taken", "a0", func(m *module) { m.failRegister, m.registers = syscall.EBUSY, 1 }, "a0 is taken by another program or by a VALE switch"},
		{"out of memory", "a0", func(m *module) { m.failRegister = syscall.ENOMEM },
			"netmap's memory is used up: close other ports, or raise dev.netmap.buf_num, ring_num and if_num"},
		{"not for this user", "a0", func(m *module) { m.failRegister = syscall.EPERM }, "a0 may not be taken by this user: use sudo"},
		{"anything", "a0", func(m *module) { m.failRegister = syscall.EIO }, "register a0: input/output error"},
		{"no watch", "a0", func(m *module) { m.failWatch = errors.New("promiscuous mode needs CAP_NET_RAW") }, "promiscuous mode needs CAP_NET_RAW"},
		{"a lie", "a0", func(m *module) { m.nifs["a0"].lie = func(_ region, g *register) { g.offset = 1 << 40 } }, "the kernel says that the port lies at byte 1099511627776 of "},
		{"no memory", "a0", func(m *module) { m.nifs["a0"].lie = func(_ region, g *register) { g.size = 1 << 40 } }, "invalid argument"},
		{"a bad name", "a0-x", func(*module) {}, "want a ring's number from 0 to 4095 behind -, as a0-0"},
	} {
		t.Run(tt.test, func(t *testing.T) {
			m := cable(t, shape{2, 2, 1, 1, 8, 128}, one(8, 128), false)
			tt.set(m)
			d, err := m.system().device(tt.name)
			if err == nil || !strings.HasPrefix(err.Error(), `port "`+tt.name+`": `+tt.want) || strings.Contains(err.Error(), "\n") || d.Queues != nil {
				t.Errorf("%d queues\n got %v\nwant port %q: %s", len(d.Queues), err, tt.name, tt.want)
			}
		})
	}
}

func TestMissingOnFreeBSD(t *testing.T) {
	const want = "no /dev/netmap, so its module is not loaded: kldload netmap (or a kernel with device netmap)"
	if err := missing(syscall.ENXIO, "freebsd"); err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// A port that cannot be registered wholly leaves the others as they were.
func TestOpenTwice(t *testing.T) {
	m := cable(t, one(8, 128), one(8, 128), false)
	d, err := m.system().device("a0")
	if err != nil {
		t.Fatal(err)
	}
	if m.open != 2 {
		t.Errorf("%d descriptors and watches, want 2", m.open)
	}
	for range 2 {
		if err := d.Queues[0].Close(); err != nil {
			t.Error(err)
		}
	}
}
