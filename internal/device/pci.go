package device

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

const pciDevices = "bus/pci/devices"

// readPCI lists the network devices on the PCI bus (class 02), by address.
func readPCI(sys, proc fs.FS) (all []Device) {
	interrupts := parseInterrupts(text(proc, "interrupts"))
	entries, _ := fs.ReadDir(sys, pciDevices)
	for _, e := range entries {
		dir := path.Join(pciDevices, e.Name())
		if !strings.HasPrefix(text(sys, dir+"/class"), "0x02") {
			continue
		}
		d := Device{PCI: e.Name(), Driver: target(sys, dir+"/driver"), IOMMU: target(sys, dir+"/iommu_group"), NUMA: -1, Kind: "device"}
		if n, err := strconv.Atoi(text(sys, dir+"/numa_node")); err == nil {
			d.NUMA = n
		}
		numbers := numbered(sys, dir+"/msi_irqs", "")
		if n := number(sys, dir+"/irq"); len(numbers) == 0 && n > 0 {
			numbers = []int{int(n)}
		}
		for _, n := range numbers {
			irq := interrupts[n]
			irq.Number, irq.CPUs = n, affinity(proc, n)
			d.IRQs = append(d.IRQs, irq)
		}
		all = append(all, d)
	}
	return all
}

// target is the last name of what a link leads to.
func target(root fs.FS, name string) string {
	to, err := fs.ReadLink(root, name)
	if err != nil {
		return ""
	}
	return path.Base(to)
}

// affinity is which CPUs get an interrupt: of those that may, the ones that do.
func affinity(proc fs.FS, irq int) CPUs {
	dir := fmt.Sprintf("irq/%d/", irq)
	if cpus := parseCPUs(text(proc, dir+"effective_affinity_list")); cpus != nil {
		return cpus
	}
	return parseCPUs(text(proc, dir+"smp_affinity_list"))
}

// parseInterrupts reads /proc/interrupts: a line of headings, one for each CPU, then "NUMBER: count … chip hardware-number name".
func parseInterrupts(text string) map[int]IRQ {
	all := make(map[int]IRQ)
	head, rest, _ := strings.Cut(text, "\n")
	cpus := len(strings.Fields(head))
	for line := range strings.Lines(rest) {
		label, values, _ := strings.Cut(line, ":")
		n, err := strconv.Atoi(strings.TrimSpace(label))
		fields := strings.Fields(values)
		if err != nil || n < 0 || len(fields) < cpus {
			continue
		}
		irq := IRQ{Number: n}
		for _, f := range fields[:cpus] {
			count, _ := strconv.ParseUint(f, 10, 32) // the kernel's are of 32 bits
			irq.Count += int64(count)
		}
		if len(fields) > cpus {
			irq.Name = fields[len(fields)-1]
		}
		all[n] = irq
	}
	return all
}
