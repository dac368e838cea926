package device

import (
	"fmt"
	"slices"
	"strings"

	"loadtest/internal/xdp"
)

// Build is what there is to open ports with.
type Build struct {
	Backends []string // compiled in, as nic/dial names them
	Machine  Machine
}

// A Way is a backend that could open a device.
type Way struct {
	Backend string
	Mode    string // of it, if it has several: zero-copy, copy
	Speed   string // how fast one core is known to send with it
	Why     string // not; empty: it works
	Mend    string // the command that would change that; empty: there is none
}

// Speeds are millions of packets of 64 bytes a second, sent by one core of a shared server processor: over veth, and for dpdk into a
// device that drops them, which no card beats. Zero-copy was never measured.
const (
	speedDPDK     = "over 30 Mpps"
	speedXDP      = "2..4 Mpps"
	speedZeroCopy = "not measured"
	speedCopy     = "0.6 Mpps"
	speedAFPacket = "0.4 Mpps"
)

// longestXDP is the MTU up to which a frame, its headroom and its tail fit a page of 4096 bytes, as XDP programs need it: veth's limit;
// some cards take less, which shows when they are opened.
const longestXDP = 3498

// Ways says which backends would open the device, fastest first. A bare name takes the first that works.
func (d *Device) Ways(b Build) (ways []Way) {
	for _, w := range []Way{d.dpdk(), d.xdp(b), d.afxdp(b), d.afpacket()} {
		switch {
		case slices.Contains(b.Backends, w.Backend):
		case w.Backend == "dpdk" && d.PCI != "":
			w.Why, w.Mend = "this build has no DPDK: apt install libdpdk-dev && make build", ""
		case w.Backend != "dpdk":
			w.Why, w.Mend = "this build has no "+w.Backend, ""
		}
		ways = append(ways, w)
	}
	return ways
}

// userspace are the drivers that hand a device to a program.
func userspace(driver string) bool {
	return slices.Contains([]string{"vfio-pci", "uio_pci_generic", "igb_uio"}, driver)
}

// dpdk takes the device away from the kernel, so it is only taken where somebody did that on purpose.
func (d *Device) dpdk() Way {
	w := Way{Backend: "dpdk", Speed: speedDPDK}
	switch {
	case d.PCI == "":
		w.Why = "no PCI device"
	case d.Driver == "vfio-pci" && d.IOMMU == "":
		w.Why, w.Mend = "vfio-pci has no IOMMU here", "echo 1 > /sys/module/vfio/parameters/enable_unsafe_noiommu_mode"
	case userspace(d.Driver):
	case strings.HasPrefix(d.Driver, "mlx"): // Mellanox' work beside the kernel's driver
		w.Why = fmt.Sprintf("only if asked for, as dpdk:%s", d.PCI)
	case d.Driver == "":
		w.Why, w.Mend = "no driver is bound", bind(d.PCI)
	default:
		w.Why = "bound to " + d.Driver
		if len(d.Refused) == 0 && len(d.Addresses) == 0 {
			w.Mend = bind(d.PCI)
		}
	}
	return w
}

func bind(pci string) string { return "driverctl set-override " + pci + " vfio-pci" }

// kernel says why the device is no interface of the kernel's.
func (d *Device) kernel(w *Way) {
	switch {
	case d.Name != "":
	case userspace(d.Driver):
		w.Why, w.Mend = "bound to "+d.Driver, "driverctl unset-override "+d.PCI
	case d.Driver == "":
		w.Why, w.Mend = "no driver is bound", fmt.Sprintf("modprobe $(cat /sys/%s/%s/modalias)", pciDevices, d.PCI)
	default:
		w.Why = fmt.Sprintf("bound to %s, its interface is in no namespace that has a name", d.Driver)
	}
}

// program says why no XDP program can be put on the interface.
func (d *Device) program(w *Way) {
	switch d.kernel(w); {
	case w.Why != "":
	case d.XDP != nil:
		w.Why = fmt.Sprintf("another XDP program is there: stop what uses it (bpftool prog show id %d)", *d.XDP)
	case d.MTU > longestXDP:
		w.Why, w.Mend = fmt.Sprintf("MTU %d is more than XDP programs take", d.MTU), d.In("ip link set %s mtu 1500", d.Name)
	}
}

// xdp needs a driver that sends what a program gives it.
func (d *Device) xdp(b Build) Way {
	w := Way{Backend: "xdp", Speed: speedXDP}
	merging := d.Settings.Features["rx-gro-hw"]
	switch d.program(&w); {
	case w.Why != "":
	case !b.Machine.atLeast(5, 18):
		w.Why = fmt.Sprintf("needs Linux 5.18, this is %s", b.Machine.Kernel)
	case !b.Machine.BTF:
		w.Why = "needs a kernel with BTF (CONFIG_DEBUG_INFO_BTF)"
	case d.features()&xdp.Transmit != 0:
	case d.Driver == "veth":
		w.Why = "its far end takes no packets from XDP programs: turn on GRO there (ethtool -K FAR-END gro on)"
	case !slices.Contains(sending(), d.Driver):
		w.Why = d.Driver + " sends no packets for XDP programs"
		if d.Driver == "" {
			w.Why = "its driver sends no packets for XDP programs"
		}
	case d.Driver == "virtio_net" && merging.On && merging.Fixed:
		w.Why = "the hypervisor merges segments (rx-gro-hw, fixed), so virtio_net takes no XDP program"
	case d.Driver == "virtio_net" && merging.On:
		w.Why, w.Mend = "virtio_net takes no XDP program while rx-gro-hw is on", d.In("ethtool -K %s rx-gro-hw off", d.Name)
	}
	return w
}

// features are what the driver does with XDP programs; 0: nothing is known.
func (d *Device) features() xdp.Features {
	if d.XDPFeatures == nil {
		return 0
	}
	return *d.XDPFeatures
}

// sending lists drivers that have ndo_xdp_xmit. Many of them say so only once a program is there, which the backend sees to.
func sending() []string {
	return strings.Fields("mlx5_core i40e ice ixgbe igb igc idpf bnxt_en ena gve mana hv_netvsc sfc qede ionic atlantic stmmac mvneta " +
		"fsl_dpaa2_eth fsl_enetc fec cpsw vmxnet3 virtio_net tun")
}

// afxdp runs on every interface, copying; where the driver knows XDP sockets it does not copy.
func (d *Device) afxdp(b Build) Way {
	w := Way{Backend: "afxdp", Mode: "copy", Speed: speedCopy}
	if d.features()&xdp.ZeroCopy != 0 {
		w.Mode, w.Speed = "zero-copy", speedZeroCopy
	}
	if d.program(&w); w.Why == "" && !b.Machine.AFXDP {
		w.Why = "needs a kernel with XDP sockets (CONFIG_XDP_SOCKETS)"
	}
	return w
}

// afpacket runs on every interface.
func (d *Device) afpacket() Way {
	w := Way{Backend: "afpacket", Speed: speedAFPacket}
	d.kernel(&w)
	return w
}
