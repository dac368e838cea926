package device

import (
	"fmt"
	"strings"
	"testing"

	"loadtest/internal/guard"
	"loadtest/internal/link"
	"loadtest/internal/xdp"
)

func TestWays(t *testing.T) {
	new64 := func(f xdp.Features) *xdp.Features { return &f }
	card := Device{Name: "eth2", Kind: "device", PCI: "0000:22:00.0", Driver: "i40e", IOMMU: "17", MTU: 1500, XDPFeatures: new64(xdp.Basic | xdp.ZeroCopy)}
	all := []string{"dpdk", "xdp", "afxdp", "afpacket"}
	kernel := Machine{Kernel: "6.18.1", BTF: true, AFXDP: true}
	with := func(change func(*Device)) Device {
		d := card
		change(&d)
		return d
	}
	for _, tt := range []struct {
		name     string
		d        Device
		backends []string
		machine  Machine
		want     []string // works as "xdp 2..4 Mpps", or not as "xdp: why [command]"
	}{
		{"card", card, all, kernel, []string{"dpdk: bound to i40e [driverctl set-override 0000:22:00.0 vfio-pci]", "xdp 2..4 Mpps",
			"afxdp zero-copy not measured", "afpacket 0.4 Mpps"}},
		{"card in use", with(func(d *Device) { d.Refused = []guard.Reason{{Fact: "carries the default route"}} }), all, kernel, []string{
			"dpdk: bound to i40e", "xdp 2..4 Mpps", "afxdp zero-copy not measured", "afpacket 0.4 Mpps"}},
		{"small build", card, []string{"afpacket"}, kernel, []string{"dpdk: this build has no DPDK: apt install libdpdk-dev && make build", "xdp: this build has no xdp", "afxdp: this build has no afxdp",
			"afpacket 0.4 Mpps"}},
		{"old kernel", card, all, Machine{Kernel: "5.10.2", BTF: true}, []string{"dpdk: bound to i40e [driverctl set-override 0000:22:00.0 vfio-pci]",
			"xdp: needs Linux 5.18, this is 5.10.2", "afxdp: needs a kernel with XDP sockets (CONFIG_XDP_SOCKETS)", "afpacket 0.4 Mpps"}},
		{"no BTF", card, all[1:], Machine{Kernel: "6.1.0", AFXDP: true}, []string{"dpdk: this build has no DPDK: apt install libdpdk-dev && make build", "xdp: needs a kernel with BTF (CONFIG_DEBUG_INFO_BTF)",
			"afxdp zero-copy not measured", "afpacket 0.4 Mpps"}},
		{"another program", with(func(d *Device) { d.XDP = new(uint32(7)) }), all[1:], kernel, []string{"dpdk: this build has no DPDK: apt install libdpdk-dev && make build",
			"xdp: another XDP program is there: stop what uses it (bpftool prog show id 7)",
			"afxdp: another XDP program is there: stop what uses it (bpftool prog show id 7)", "afpacket 0.4 Mpps"}},
		{"jumbo in a namespace", with(func(d *Device) { d.MTU, d.Namespace = 9000, "lab" }), all[1:], kernel, []string{"dpdk: this build has no DPDK: apt install libdpdk-dev && make build",
			"xdp: MTU 9000 is more than XDP programs take [ip netns exec lab ip link set eth2 mtu 1500]",
			"afxdp: MTU 9000 is more than XDP programs take [ip netns exec lab ip link set eth2 mtu 1500]", "afpacket 0.4 Mpps"}},
		{"driver that says it sends", with(func(d *Device) { d.Driver, d.XDPFeatures = "new", new64(xdp.Transmit) }), all[1:], kernel, []string{
			"dpdk: this build has no DPDK: apt install libdpdk-dev && make build", "xdp 2..4 Mpps", "afxdp copy 0.6 Mpps", "afpacket 0.4 Mpps"}},
		{"driver without XDP", with(func(d *Device) { d.Driver, d.XDPFeatures = "r8169", nil }), all[1:], kernel, []string{
			"dpdk: this build has no DPDK: apt install libdpdk-dev && make build", "xdp: r8169 sends no packets for XDP programs", "afxdp copy 0.6 Mpps", "afpacket 0.4 Mpps"}},
		{"Mellanox", with(func(d *Device) { d.Driver = "mlx5_core" }), all, kernel, []string{
			"dpdk: only if asked for, as dpdk:0000:22:00.0", "xdp 2..4 Mpps", "afxdp zero-copy not measured", "afpacket 0.4 Mpps"}},
		{"veth", Device{Name: "a0", Kind: "veth", Driver: "veth", MTU: 1500, XDPFeatures: new64(xdp.Basic)}, all, kernel, []string{"dpdk: no PCI device",
			"xdp: its far end takes no packets from XDP programs: turn on GRO there (ethtool -K FAR-END gro on)", "afxdp copy 0.6 Mpps", "afpacket 0.4 Mpps"}},
		{"veth whose far end does", Device{Name: "a0", Kind: "veth", Driver: "veth", MTU: 1500, XDPFeatures: new64(xdp.Basic | xdp.Transmit)}, all, kernel,
			[]string{"dpdk: no PCI device", "xdp 2..4 Mpps", "afxdp copy 0.6 Mpps", "afpacket 0.4 Mpps"}},
		{"interface without a driver's name", Device{Name: "x0", Kind: "dummy", MTU: 1500}, all, kernel, []string{"dpdk: no PCI device",
			"xdp: its driver sends no packets for XDP programs", "afxdp copy 0.6 Mpps", "afpacket 0.4 Mpps"}},
		{"virtio, hypervisor merges", with(func(d *Device) {
			d.Driver, d.XDPFeatures, d.Settings.Features = "virtio_net", nil, map[string]link.Feature{"rx-gro-hw": {On: true, Fixed: true}}
		}), all[1:], kernel, []string{"dpdk: this build has no DPDK: apt install libdpdk-dev && make build", "xdp: the hypervisor merges segments (rx-gro-hw, fixed), so virtio_net takes no XDP program",
			"afxdp copy 0.6 Mpps", "afpacket 0.4 Mpps"}},
		{"virtio, switchable", with(func(d *Device) {
			d.Driver, d.XDPFeatures, d.Settings.Features = "virtio_net", nil, map[string]link.Feature{"rx-gro-hw": {On: true}}
		}), all[1:], kernel, []string{"dpdk: this build has no DPDK: apt install libdpdk-dev && make build", "xdp: virtio_net takes no XDP program while rx-gro-hw is on [ethtool -K eth2 rx-gro-hw off]",
			"afxdp copy 0.6 Mpps", "afpacket 0.4 Mpps"}},
		{"virtio", with(func(d *Device) { d.Driver, d.XDPFeatures = "virtio_net", nil }), all[1:], kernel, []string{"dpdk: this build has no DPDK: apt install libdpdk-dev && make build", "xdp 2..4 Mpps",
			"afxdp copy 0.6 Mpps", "afpacket 0.4 Mpps"}},
		{"vfio-pci", Device{PCI: "0000:22:00.0", Driver: "vfio-pci", IOMMU: "17"}, all, kernel, []string{"dpdk over 30 Mpps",
			"xdp: bound to vfio-pci [driverctl unset-override 0000:22:00.0]", "afxdp: bound to vfio-pci [driverctl unset-override 0000:22:00.0]",
			"afpacket: bound to vfio-pci [driverctl unset-override 0000:22:00.0]"}},
		{"vfio-pci and no IOMMU", Device{PCI: "0000:22:00.0", Driver: "vfio-pci"}, all, kernel, []string{
			"dpdk: vfio-pci has no IOMMU here [echo 1 > /sys/module/vfio/parameters/enable_unsafe_noiommu_mode]",
			"xdp: bound to vfio-pci [driverctl unset-override 0000:22:00.0]", "afxdp: bound to vfio-pci [driverctl unset-override 0000:22:00.0]",
			"afpacket: bound to vfio-pci [driverctl unset-override 0000:22:00.0]"}},
		{"igb_uio without DPDK", Device{PCI: "0000:22:00.0", Driver: "igb_uio"}, all[3:], kernel, []string{
			"dpdk: this build has no DPDK: apt install libdpdk-dev && make build",
			"xdp: this build has no xdp", "afxdp: this build has no afxdp",
			"afpacket: bound to igb_uio [driverctl unset-override 0000:22:00.0]"}},
		{"no driver", Device{PCI: "0000:22:00.0"}, all, kernel, []string{"dpdk: no driver is bound [driverctl set-override 0000:22:00.0 vfio-pci]",
			"xdp: no driver is bound [modprobe $(cat /sys/bus/pci/devices/0000:22:00.0/modalias)]",
			"afxdp: no driver is bound [modprobe $(cat /sys/bus/pci/devices/0000:22:00.0/modalias)]",
			"afpacket: no driver is bound [modprobe $(cat /sys/bus/pci/devices/0000:22:00.0/modalias)]"}},
		{"interface out of sight", Device{PCI: "0000:22:00.0", Driver: "i40e"}, all[3:], kernel, []string{"dpdk: this build has no DPDK: apt install libdpdk-dev && make build",
			"xdp: this build has no xdp", "afxdp: this build has no afxdp",
			"afpacket: bound to i40e, its interface is in no namespace that has a name"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, w := range tt.d.Ways(Build{tt.backends, tt.machine}) {
				text := strings.TrimSpace(w.Backend+" "+w.Mode) + " " + w.Speed
				if w.Why != "" {
					text = w.Backend + ": " + w.Why
				}
				if w.Mend != "" {
					text += fmt.Sprintf(" [%s]", w.Mend)
				}
				got = append(got, text)
			}
			if g, w := strings.Join(got, "\n"), strings.Join(tt.want, "\n"); g != w {
				t.Errorf("got\n%s\nwant\n%s", g, w)
			}
		})
	}
}
