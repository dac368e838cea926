package doctor

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"loadtest/internal/device"
	"loadtest/internal/guard"
	"loadtest/internal/link"
)

// card is a port without a fault.
func card() device.Device {
	return device.Device{
		Name: "eth2", Kind: "device", PCI: "0000:22:00.0", Driver: "i40e", IOMMU: "17", NUMA: 0, Set: true, Up: true, Speed: 10000, MTU: 1500,
		IRQs: []device.IRQ{{Number: 40, Name: "i40e-eth2-TxRx-0", CPUs: device.CPUs{0}, Count: 9}, {Number: 41, Name: "i40e-eth2-TxRx-1", CPUs: device.CPUs{1}, Count: 9}},
		Settings: link.Settings{
			Pause: &link.Pause{}, EEE: &link.EEE{}, Rings: &link.Rings{Rx: 4096, Tx: 4096, MaxRx: 4096, MaxTx: 4096},
			Queues: &link.Queues{Combined: 2, MaxCombined: 64}, Features: map[string]link.Feature{"rx-gro": {}},
		},
		Wire: link.Wire{PauseRx: 0, PauseTx: 0, CRC: 0, Symbol: -1, Length: 0, FECCorrected: -1, FECUncorrected: -1},
	}
}

// server is a machine without a fault: four CPUs, two in each memory node.
func server() device.Machine {
	return device.Machine{
		Kernel: "6.18.1", BTF: true, AFXDP: true, IOMMU: true,
		CPUs: []device.CPU{{ID: 0, Governor: "performance"}, {ID: 1, Governor: "performance"}, {ID: 2, Node: 1}, {ID: 3, Node: 1}},
	}
}

// judge writes the findings that are worse than ok.
func judge(ports []device.Device, b device.Build, cpus device.CPUs) string {
	var lines []string
	for _, f := range Judge(ports, b, cpus) {
		if f.Severity == OK {
			continue
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%v %s %s: %s", f.Severity, f.Port, f.What, f.Why)))
		if f.Mend != "" {
			lines = append(lines, "    "+f.Mend)
		}
	}
	return strings.Join(lines, "\n")
}

func TestPort(t *testing.T) {
	for _, tt := range []struct {
		name     string
		change   func(*device.Device)
		backends string
		want     string
	}{
		{"nothing wrong", func(*device.Device) {}, "afpacket", ""},
		{"nothing told", func(d *device.Device) { d.Settings, d.IRQs, d.NUMA = link.Settings{}, nil, -1 }, "afpacket", ""},
		{"default route", func(d *device.Device) {
			d.Refused = []guard.Reason{{Fact: "carries the default route", Instead: "load on it would cut you off. Another port"}}
			d.Promiscuous, d.Addresses = true, []netip.Prefix{netip.MustParsePrefix("10.0.0.1/8")}
		}, "afpacket", "fault eth2 carries the default route: a run would refuse it; load on it would cut you off. Another port, or --force-port eth2"},
		{"set down", func(d *device.Device) { d.Set, d.Up, d.Namespace = false, false, "lab" }, "afpacket", "fault eth2@lab is set down: nothing can be sent\n" +
			"    ip netns exec lab ip link set eth2 up"},
		{"no carrier", func(d *device.Device) { d.Up = false }, "afpacket", "fault eth2 has no carrier: nothing can be sent; look at cable, optic and far end"},
		{"veth without far end", func(d *device.Device) { d.Up, d.Kind = false, "veth" }, "afpacket",
			"fault eth2 has no carrier: its far end is down, so nothing can be sent"},
		{"half duplex", func(d *device.Device) { d.Settings.HalfDuplex = true }, "afpacket",
			"fault eth2 is half duplex: collisions look like loss in the device\n    ethtool -s eth2 autoneg on"},
		{"no speed", func(d *device.Device) { d.Speed = 0 }, "afpacket",
			"note eth2 does not tell its speed: shares of the line (--rate 40%) mean nothing, so give rates as numbers"},
		{"merging", func(d *device.Device) {
			d.Settings.Features = map[string]link.Feature{"rx-gro": {On: true}, "rx-lro": {On: true}, "rx-gro-hw": {On: true, Fixed: true}, "rx-vlan-hw-parse": {On: true}}
		}, "afpacket", "warning eth2 merges received segments (gro, lro, rx-gro-hw): several TCP segments arrive as one frame, and the rest counts as lost; " +
			"rx-gro-hw cannot be switched here\n    ethtool -K eth2 gro off lro off"},
		{"merging that stays", func(d *device.Device) {
			d.Settings.Features = map[string]link.Feature{"rx-gro-hw": {On: true, Fixed: true}}
		}, "afpacket",
			"warning eth2 merges received segments (rx-gro-hw): several TCP segments arrive as one frame, and the rest counts as lost; rx-gro-hw cannot be switched here"},
		{"merging behind XDP", func(d *device.Device) {
			d.Settings.Features = map[string]link.Feature{"rx-gro": {On: true}, "rx-vlan-hw-parse": {On: true}}
		}, "xdp afpacket", "note eth2 merges received segments (gro): packets without a tag may arrive several as one frame\n    ethtool -K eth2 gro off\n" +
			"note eth2 takes VLAN tags out of received frames (rxvlan): XDP programs do not see them, so packets with a tag are not known again\n    ethtool -K eth2 rxvlan off"},
		{"veth", func(d *device.Device) {
			d.Kind, d.Settings.Features = "veth", map[string]link.Feature{"rx-gro": {On: true}, "tx-tcp-segmentation": {On: true}, "tx-generic-segmentation": {On: true}}
		}, "afxdp", "note eth2 lets programs of this machine send segments unsplit (tso, gso): only packets that loadtest did not make are longer than the MTU\n" +
			"    ethtool -K eth2 tso off gso off"},
		{"small MTU", func(d *device.Device) { d.MTU = 1400 }, "afpacket", "warning eth2 has MTU 1400: frames of 1518 B do not fit\n    ip link set eth2 mtu 1500"},
		{"addresses", func(d *device.Device) {
			d.Addresses = []netip.Prefix{netip.MustParsePrefix("fe80::1/64"), netip.MustParsePrefix("10.0.0.1/8"), netip.MustParsePrefix("fd00::1/64")}
		}, "afpacket", "warning eth2 has addresses: 10.0.0.1/8, fd00::1/64: the kernel answers what arrives for them, so resets and errors go back into the device\n" +
			"    ip addr flush dev eth2"},
		{"link-local address", func(d *device.Device) { d.Addresses = []netip.Prefix{netip.MustParsePrefix("fe80::1/64")} }, "afpacket", ""},
		{"promiscuous", func(d *device.Device) { d.Promiscuous = true }, "afpacket",
			"note eth2 is promiscuous: another program listens there, and what it reads costs time"},
		{"flow control", func(d *device.Device) {
			d.Settings.Pause, d.Wire.PauseRx = &link.Pause{Autoneg: true, Rx: true, Tx: true}, 12
		}, "afpacket",
			"warning eth2 has flow control on (sends and obeys PAUSE frames; 12 came so far): a device that is too slow makes the tester wait, and loses nothing\n" +
				"    ethtool -A eth2 autoneg off rx off tx off"},
		{"flow control, received", func(d *device.Device) { d.Settings.Pause = &link.Pause{Rx: true} }, "afpacket",
			"warning eth2 has flow control on (obeys PAUSE frames): a device that is too slow makes the tester wait, and loses nothing\n    ethtool -A eth2 rx off tx off"},
		{"flow control, sent", func(d *device.Device) { d.Settings.Pause = &link.Pause{Tx: true} }, "afpacket",
			"warning eth2 has flow control on (sends PAUSE frames): it slows the device down instead of counting what the tester could not take\n" +
				"    ethtool -A eth2 rx off tx off"},
		{"EEE", func(d *device.Device) { d.Settings.EEE = &link.EEE{Enabled: true, Active: true} }, "afpacket",
			"warning eth2 lets the line sleep between frames (EEE): frames wait until it is awake again, so the latency of low loads is the line's\n" +
				"    ethtool --set-eee eth2 eee off"},
		{"EEE of one end", func(d *device.Device) { d.Settings.EEE = &link.EEE{Enabled: true} }, "afpacket",
			"note eth2 may let the line sleep (EEE), but the far end does not: frames wait until it is awake again, so the latency of low loads is the line's\n" +
				"    ethtool --set-eee eth2 eee off"},
		{"bad line", func(d *device.Device) {
			d.Wire = link.Wire{CRC: 1, Symbol: 2, Length: 3, FECCorrected: 4, FECUncorrected: 5}
		}, "afpacket",
			"warning eth2 has counted 1 frames with a wrong FCS, 2 invalid symbols, 3 frames of a wrong length, 5 blocks that FEC could not correct: " +
				"such frames are lost on the line, not in the device; look at cable and optic"},
		{"short rings", func(d *device.Device) { d.Settings.Rings = &link.Rings{Rx: 256, Tx: 512, MaxRx: 8160, MaxTx: 2048} }, "afpacket",
			"warning eth2 has short rings: 256 descriptors to receive, 512 to send: they overflow when a thread stops for a moment, which is loss in the tester\n" +
				"    ethtool -G eth2 rx 4096 tx 2048"},
		{"rings as long as they get", func(d *device.Device) { d.Settings.Rings = &link.Rings{Rx: 256, Tx: 256, MaxRx: 256, MaxTx: 256} }, "afpacket", ""},
		{"one queue", func(d *device.Device) { d.Settings.Queues.Combined = 1 }, "afpacket", "note eth2 has one queue: one core receives all of it\n    ethtool -L eth2 combined 4"},
		{"one queue of veth's", func(d *device.Device) { d.Settings.Queues = &link.Queues{Rx: 1, Tx: 1, MaxRx: 2, MaxTx: 2} }, "afpacket",
			"note eth2 has one queue: one core receives all of it\n    ethtool -L eth2 rx 2 tx 2"},
		{"one queue, and no more to have", func(d *device.Device) { d.Settings.Queues = &link.Queues{Combined: 1, MaxCombined: 1} }, "afpacket", ""},
		{"far interrupts", func(d *device.Device) { d.NUMA = 1 }, "afpacket",
			"warning eth2 is on memory node 1, and has interrupts 40, 41 on CPUs 0-1 of another: each packet crosses from one processor to the other\n" +
				"    for i in 40 41; do echo 2-3 > /proc/irq/$i/smp_affinity_list; done"},
		{"interrupts that never came", func(d *device.Device) { d.NUMA, d.IRQs[0].Count, d.IRQs[1].Count = 1, 0, 0 }, "afpacket", ""},
		{"interrupts in one place", func(d *device.Device) {
			for i := range d.IRQs {
				d.IRQs[i].CPUs = device.CPUs{1}
			}
			d.IRQs = append(d.IRQs, device.IRQ{Number: 42, CPUs: device.CPUs{1}, Count: 1})
		}, "afpacket", "note eth2 has all its 3 interrupts on CPU 1: one core receives all of it, whatever the number of queues"},
		{"another program", func(d *device.Device) { d.XDP = new(uint32(7)) }, "xdp afxdp",
			"fault eth2 no backend opens it: another XDP program is there: stop what uses it (bpftool prog show id 7)"},
		{"jumbo", func(d *device.Device) { d.MTU = 9000 }, "xdp afxdp afpacket",
			"note eth2 is not opened with xdp, 2..4 Mpps a core: MTU 9000 is more than XDP programs take\n    ip link set eth2 mtu 1500"},
		{"card that DPDK could have", func(*device.Device) {}, "dpdk afpacket",
			"note eth2 is not opened with dpdk, over 30 Mpps a core: bound to i40e\n    driverctl set-override 0000:22:00.0 vfio-pci\n" +
				"note  no huge pages: DPDK is about 1.6 times as fast with them\n    sysctl -w vm.nr_hugepages=512"},
		{"DPDK's", func(d *device.Device) { d.Name, d.Driver, d.Set, d.Up = "", "vfio-pci", false, false }, "dpdk afpacket", "note  no huge pages: DPDK is about 1.6 times as fast with them\n" +
			"    sysctl -w vm.nr_hugepages=512"},
		{"DPDK's without DPDK", func(d *device.Device) { d.Name, d.Driver = "", "vfio-pci" }, "afpacket",
			"fault 0000:22:00.0 no backend opens it: bound to vfio-pci\n    driverctl unset-override 0000:22:00.0"},
		{"no driver", func(d *device.Device) { d.Name, d.Driver = "", "" }, "afpacket",
			"fault 0000:22:00.0 no backend opens it: no driver is bound\n    modprobe $(cat /sys/bus/pci/devices/0000:22:00.0/modalias)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := card()
			tt.change(&d)
			if got := judge([]device.Device{d}, device.Build{Backends: strings.Fields(tt.backends), Machine: server()}, nil); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestThreads(t *testing.T) {
	for _, tt := range []struct {
		name string
		cpus device.CPUs
		want string
	}{
		{"not told", nil, ""},
		{"near, with interrupts", device.CPUs{1}, "warning eth2 has interrupt 41 on CPU 1 of --cpu: each one stops the thread that sends or receives there\n" +
			"    for i in 41; do echo 0 > /proc/irq/$i/smp_affinity_list; done\n" +
			"note  CPU 1 of --cpu may run other programs: to keep them free, start the kernel with isolcpus=1 nohz_full=1"},
		{"all", device.CPUs{0, 1}, "warning eth2 has interrupts 40, 41 on CPUs 0-1 of --cpu: each one stops the thread that sends or receives there\n" +
			"note  CPUs 0-1 of --cpu may run other programs: to keep them free, start the kernel with isolcpus=0-1 nohz_full=0-1"},
		{"far", device.CPUs{3}, "warning eth2 is on memory node 0, CPU 3 of --cpu on another: each packet crosses from one processor to the other; near are 0-1\n" +
			"note  CPU 3 of --cpu may run other programs: to keep them free, start the kernel with isolcpus=3 nohz_full=3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := judge([]device.Device{card()}, device.Build{Backends: []string{"afpacket"}, Machine: server()}, tt.cpus); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestMachine(t *testing.T) {
	for _, tt := range []struct {
		name     string
		change   func(*device.Machine)
		backends string
		cpus     device.CPUs
		want     string
	}{
		{"nothing wrong", func(*device.Machine) {}, "afpacket", nil, ""},
		{"nothing told", func(m *device.Machine) { *m = device.Machine{} }, "afpacket", nil, ""},
		{"governor", func(m *device.Machine) { m.CPUs[1].Governor, m.CPUs[2].Governor = "powersave", "powersave" }, "afpacket", nil,
			"warning  the clock of CPUs 1-2 follows the load (governor powersave): it rises only after packets were late\n    cpupower frequency-set -g performance"},
		{"governor of others", func(m *device.Machine) { m.CPUs[1].Governor, m.Isolated = "powersave", device.CPUs{2} }, "afpacket", device.CPUs{2}, ""},
		{"irqbalance", func(m *device.Machine) { m.Balancer = &device.Process{PID: 7, Name: "irqbalance"} }, "afpacket", nil,
			"warning  irqbalance is running (pid 7): it moves interrupts to other CPUs in the middle of a trial\n    systemctl stop irqbalance"},
		{"busy", func(m *device.Machine) { m.Load = 2.5 }, "afpacket", nil,
			"warning  load average 2.5 on 4 CPUs: other programs take time from the tester, so packets leave late or unsent"},
		{"stolen from", func(m *device.Machine) { m.Virtual, m.Steal = true, .034 }, "afpacket", nil,
			"warning  a virtual machine, and 3 % of its time went to others: threads are stopped in between, so packets leave late and latency has outliers"},
		{"virtual", func(m *device.Machine) { m.Virtual, m.Steal = true, .009 }, "afpacket", nil,
			"note  a virtual machine: the hypervisor may stop its threads for others, so latency has outliers"},
		{"no privileges", func(m *device.Machine) { m.Raw = new(false) }, "afpacket", nil,
			"warning  loadtest may not open packet sockets here: use sudo, or this, once\n" +
				"    sudo setcap cap_net_raw,cap_net_admin,cap_bpf,cap_perfmon,cap_ipc_lock+ep $(command -v loadtest)"},
		{"privileges", func(m *device.Machine) { m.Raw = new(true) }, "afpacket", nil, ""},
		{"one CPU", func(m *device.Machine) { m.CPUs = m.CPUs[:1] }, "afpacket", nil, "warning  one CPU: sending and receiving take turns on it"},
		{"SMT", func(m *device.Machine) { m.SMT = true }, "afpacket", nil,
			"note  two threads share each core (SMT): a busy one halves the other\n    echo off > /sys/devices/system/cpu/smt/control"},
		{"siblings", func(m *device.Machine) {
			m.SMT, m.CPUs[1].Siblings, m.CPUs[3].Siblings, m.Isolated = true, device.CPUs{1, 3}, device.CPUs{1, 3}, device.CPUs{1, 3}
		}, "afpacket", device.CPUs{1, 3}, "warning  CPU 1 and CPU 3 of --cpu are one core: two busy threads there have half of it each"},
		{"one of two siblings", func(m *device.Machine) {
			m.SMT, m.CPUs[1].Siblings, m.CPUs[3].Siblings, m.Isolated = true, device.CPUs{1, 3}, device.CPUs{1, 3}, device.CPUs{1, 3}
		}, "afpacket", device.CPUs{3}, ""},
		{"turbo", func(m *device.Machine) { m.Turbo = "echo 0 > /sys/x" }, "afpacket", nil,
			"note  the clock rises beyond its nominal rate while the processor is cool (turbo): what the tester can send drifts with temperature\n    echo 0 > /sys/x"},
		{"old kernel", func(m *device.Machine) { m.Kernel = "5.10.1" }, "afpacket", nil,
			"note  Linux 5.10.1 sends no packets out of XDP programs: that takes Linux 5.18 with BTF, and is the fastest way beside DPDK"},
		{"no XDP sockets", func(m *device.Machine) { m.AFXDP = false }, "afpacket", nil,
			"note  Linux 6.18.1 has no XDP sockets: they send faster than packet sockets (CONFIG_XDP_SOCKETS)"},
		{"no memory for DPDK", func(m *device.Machine) { m.IOMMU = false }, "dpdk", nil,
			"note  no huge pages: DPDK is about 1.6 times as fast with them\n    sysctl -w vm.nr_hugepages=512\n" +
				"note  no IOMMU: vfio-pci works only in its unsafe mode; start the kernel with intel_iommu=on iommu=pt"},
		{"no memory left for DPDK", func(m *device.Machine) { m.HugePages = []device.HugePages{{Total: 3}, {Node: 1, Total: 1}} }, "dpdk", nil,
			"note  all 4 huge pages are in use: DPDK gets none, and is about 1.6 times as fast with them\n    sysctl -w vm.nr_hugepages=512"},
		{"memory for DPDK", func(m *device.Machine) { m.HugePages = []device.HugePages{{Total: 3, Free: 1}} }, "dpdk", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := server()
			tt.change(&m)
			if got := judge(nil, device.Build{Backends: strings.Fields(tt.backends), Machine: m}, tt.cpus); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestOrder: the worst come first, and in each severity the ports in their order, then the machine.
func TestOrder(t *testing.T) {
	a, b := card(), card()
	a.Up, a.MTU = false, 1400
	b.Name, b.Speed, b.Settings.HalfDuplex = "eth3", 1000, true
	m := server()
	m.Load = 4
	all := Judge([]device.Device{a, b}, device.Build{Backends: []string{"afpacket"}, Machine: m}, nil)
	var got []string
	for _, f := range all {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%v %s %s", f.Severity, f.Port, f.What)))
	}
	want := []string{"fault eth2 has no carrier", "fault eth3 is half duplex", "warning eth2 has MTU 1400", "warning  load average 4.0 on 4 CPUs",
		"note eth3 has 1G, eth2 has 10G", "ok eth2 opens with afpacket", "ok eth3 opens with afpacket", "ok  Linux 6.18.1"}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
	for s, n := range map[Severity]int{Fault: 2, Warning: 2, Note: 1, OK: 3} {
		if Count(all, s) != n {
			t.Errorf("Count(%v) = %d, want %d", s, Count(all, s), n)
		}
	}
}
