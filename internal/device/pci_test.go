package device

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const interrupts = `           CPU0       CPU1
 16:          2          3 IO-APIC   5-edge      ahci[0000:00:1f.2]
 37:          0          0 PCI-MSIX-0000:22:00.0   0-edge      eth2-config
 38:        100       4911 PCI-MSIX-0000:22:00.0   1-edge      eth2-rx-0
NMI:          0          0   Non-maskable interrupts
ERR:          0
`

func TestReadPCI(t *testing.T) {
	const a, b, c = "bus/pci/devices/0000:22:00.0", "bus/pci/devices/0000:22:00.1", "bus/pci/devices/0001:00:1f.6"
	sys := tree(map[string]string{
		a + "/class": "0x020000\n", a + "/driver": "→../../../../bus/pci/drivers/i40e", a + "/numa_node": "1\n",
		a + "/iommu_group": "→../../../kernel/iommu_groups/17", a + "/msi_irqs/38": "msix\n", a + "/msi_irqs/37": "msix\n", a + "/irq": "16\n",
		b + "/class": "0x020700\n", b + "/numa_node": "-1\n", b + "/irq": "0\n",
		c + "/class": "0x028000\n", c + "/driver": "→/sys/bus/pci/drivers/vfio-pci", c + "/irq": "16\n",
		"bus/pci/devices/0000:00:02.0/class": "0x030000\n",
	})
	proc := tree(map[string]string{
		"interrupts": interrupts, "irq/38/smp_affinity_list": "0-1\n", "irq/38/effective_affinity_list": "1\n", "irq/37/smp_affinity_list": "0-1\n",
	})
	want := []Device{
		{PCI: "0000:22:00.0", Driver: "i40e", IOMMU: "17", NUMA: 1, Kind: "device",
			IRQs: []IRQ{{37, "eth2-config", CPUs{0, 1}, 0}, {38, "eth2-rx-0", CPUs{1}, 5011}}},
		{PCI: "0000:22:00.1", NUMA: -1, Kind: "device"},
		{PCI: "0001:00:1f.6", Driver: "vfio-pci", NUMA: -1, Kind: "device", IRQs: []IRQ{{16, "ahci[0000:00:1f.2]", nil, 5}}},
	}
	if diff := cmp.Diff(want, readPCI(sys, proc)); diff != "" {
		t.Errorf("readPCI (-want +got):\n%s", diff)
	}
	if got := readPCI(tree(nil), tree(nil)); got != nil {
		t.Errorf("without a bus: %+v", got)
	}
}

// FuzzParseInterrupts: no line is two interrupts, none has a negative number or count, and each has its number as key.
func FuzzParseInterrupts(f *testing.F) {
	f.Add(interrupts)
	f.Add("CPU0\n1: 99999999999 a\n-1: 2 b\n1:\n")
	f.Fuzz(func(t *testing.T, text string) {
		got := parseInterrupts(text)
		if lines := strings.Count(text, "\n"); len(got) > lines {
			t.Fatalf("%d interrupts in %d lines", len(got), lines)
		}
		for n, irq := range got {
			if n < 0 || irq.Number != n || irq.Count < 0 {
				t.Fatalf("interrupt %d: %+v", n, irq)
			}
		}
	})
}
