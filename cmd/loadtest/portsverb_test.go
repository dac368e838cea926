package main

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"loadtest/internal/device"
	"loadtest/internal/guard"
)

// some are a card, a card of DPDK's, one without a driver, and a veth in a namespace.
func some() []device.Device {
	return []device.Device{
		{Name: "eth2", Kind: "device", PCI: "0000:22:00.0", Driver: "i40e", NUMA: 1, Set: true, Up: true, Speed: 10000, MTU: 1500, MAC: [6]byte{2, 0, 0, 0, 1, 2},
			Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/8")},
			Refused:   []guard.Reason{{Fact: "carries the default route", Instead: "load on it would cut you off. Another port"}}},
		{Kind: "device", PCI: "0000:22:00.1", Driver: "vfio-pci", IOMMU: "17", NUMA: 1},
		{Kind: "device", PCI: "0000:23:00.0", NUMA: -1},
		{Name: "a0", Namespace: "lab", Kind: "veth", Driver: "veth", NUMA: -1, Set: true, MTU: 1500, Speed: 10000},
		{Name: "b0", Namespace: "lab", Kind: "veth", Driver: "veth", NUMA: -1, MTU: 9000},
	}
}

func TestPortsTable(t *testing.T) {
	machine := device.Machine{Kernel: "6.18.1", BTF: true, AFXDP: true}
	for _, tt := range []struct {
		name     string
		devices  []device.Device
		backends string
		want     string
	}{
		{"none", nil, "afpacket", "no port: this machine has no Ethernet interface and no network device on the PCI bus. Without hardware: loadtest demo\n"},
		{"small build", some(), "afpacket", `port          PCI           driver    line  link        NUMA  opens with (a core sends, 64 B)
eth2          0000:22:00.0  i40e      10G   up          1     afpacket 0.4 Mpps
0000:22:00.1  0000:22:00.1  vfio-pci  –     –           1     –
0000:23:00.0  0000:23:00.0  –         –     –           –     –
a0@lab        –             veth      10G   no carrier  –     afpacket 0.4 Mpps
b0@lab        –             veth      –     set down    –     afpacket 0.4 Mpps

eth2 carries the default route: load on it would cut you off. Another port, or --force-port eth2
0000:22:00.1 is not opened with afpacket, 0.4 Mpps: bound to vfio-pci
    driverctl unset-override 0000:22:00.1
0000:23:00.0 is not opened with afpacket, 0.4 Mpps: no driver is bound
    modprobe $(cat /sys/bus/pci/devices/0000:23:00.0/modalias)
`},
		{"large build", some(), "dpdk xdp afxdp afpacket", `port          PCI           driver    line  link        NUMA  opens with (a core sends, 64 B)
eth2          0000:22:00.0  i40e      10G   up          1     xdp 2..4 Mpps, afxdp copy 0.6 Mpps, afpacket 0.4 Mpps
0000:22:00.1  0000:22:00.1  vfio-pci  –     –           1     dpdk over 30 Mpps
0000:23:00.0  0000:23:00.0  –         –     –           –     –
a0@lab        –             veth      10G   no carrier  –     afxdp copy 0.6 Mpps, afpacket 0.4 Mpps
b0@lab        –             veth      –     set down    –     afpacket 0.4 Mpps

eth2 carries the default route: load on it would cut you off. Another port, or --force-port eth2
0000:23:00.0 is not opened with dpdk, over 30 Mpps: no driver is bound
    driverctl set-override 0000:23:00.0 vfio-pci
0000:23:00.0 is not opened with xdp, 2..4 Mpps: no driver is bound
    modprobe $(cat /sys/bus/pci/devices/0000:23:00.0/modalias)
b0@lab is not opened with xdp, 2..4 Mpps: MTU 9000 is more than XDP programs take
    ip netns exec lab ip link set b0 mtu 1500
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			if err := portsTable(&b, tt.devices, device.Build{Backends: strings.Fields(tt.backends), Machine: machine}); err != nil {
				t.Fatal(err)
			}
			if b.String() != tt.want {
				t.Errorf("got\n%s\nwant\n%s", b.String(), tt.want)
			}
		})
	}
}

func TestPortsJSON(t *testing.T) {
	var b strings.Builder
	if err := portsJSON(&b, some(), device.Build{Backends: []string{"afpacket"}}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 5 {
		t.Fatalf("%d lines: %s", len(lines), b.String())
	}
	for i, want := range map[int]string{
		0: `{"port":"eth2","interface":"eth2","namespace":null,"kind":"device","pci":"0000:22:00.0","driver":"i40e","iommu_group":null,"numa":1,"link":"up",` +
			`"speed_bps":10000000000,"mac":"02:00:00:00:01:02","mtu_bytes":1500,"addresses":["10.0.0.1/8"],"xdp_program":null,"refused":["carries the default route"],`,
		1: `{"port":"0000:22:00.1","interface":null,"namespace":null,"kind":"device","pci":"0000:22:00.1","driver":"vfio-pci","iommu_group":"17","numa":1,"link":null,` +
			`"speed_bps":null,"mac":null,"mtu_bytes":null,"addresses":[],"xdp_program":null,"refused":[],"ways":[{"backend":"dpdk",`,
		3: `{"port":"a0@lab","interface":"a0","namespace":"lab","kind":"veth","pci":null,"driver":"veth","iommu_group":null,"numa":null,"link":"no carrier",`,
	} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("\n got %s\nwant %s…", lines[i], want)
		}
	}
	if want := `{"backend":"afpacket","mode":null,"speed":"0.4 Mpps","why_not":null,"command":null}]}`; !strings.HasSuffix(lines[0], want) {
		t.Errorf("\n got %s\nwant …%s", lines[0], want)
	}
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
}
