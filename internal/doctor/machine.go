package doctor

import (
	"fmt"
	"slices"

	"loadtest/internal/device"
)

// A machine is being judged.
type machine struct {
	*device.Machine
	cpus  device.CPUs
	found []Finding
}

func (m *machine) add(s Severity, what, why, mend string) {
	m.found = append(m.found, Finding{s, "", what, why, mend})
}

func (m *machine) judge(dpdk bool) {
	m.privileges()
	m.governor()
	m.balancer()
	m.busy()
	m.cores()
	m.turbo()
	m.isolation()
	m.kernel()
	if dpdk {
		m.memory()
	}
}

func (m *machine) privileges() {
	if m.Raw != nil && !*m.Raw {
		m.add(Warning, "loadtest may not open packet sockets here", "use sudo, or this, once",
			"sudo setcap cap_net_raw,cap_net_admin,cap_bpf,cap_perfmon,cap_ipc_lock+ep $(command -v loadtest)")
	}
}

func (m *machine) governor() {
	var slow device.CPUs
	name := ""
	for _, c := range m.CPUs {
		if c.Governor != "" && c.Governor != "performance" && (len(m.cpus) == 0 || slices.Contains(m.cpus, c.ID)) {
			slow, name = with(slow, c.ID), c.Governor
		}
	}
	if slow != nil {
		m.add(Warning, fmt.Sprintf("the clock of %s follows the load (governor %s)", cpus(slow), name), "it rises only after packets were late",
			"cpupower frequency-set -g performance")
	}
}

func (m *machine) balancer() {
	if m.Balancer != nil {
		m.add(Warning, fmt.Sprintf("%s is running (pid %d)", m.Balancer.Name, m.Balancer.PID), "it moves interrupts to other CPUs in the middle of a trial",
			"systemctl stop "+m.Balancer.Name)
	}
}

// busy judges who else takes CPU time.
func (m *machine) busy() {
	if n := len(m.CPUs); n > 0 && m.Load > float64(n)/2 {
		m.add(Warning, fmt.Sprintf("load average %.1f on %s", m.Load, of(n, "CPU")), "other programs take time from the tester, so packets leave late or unsent", "")
	}
	switch {
	case m.Steal >= 0.01:
		m.add(Warning, fmt.Sprintf("a virtual machine, and %.0f %% of its time went to others", m.Steal*100), "threads are stopped in between, so packets leave late and latency has outliers", "")
	case m.Virtual:
		m.add(Note, "a virtual machine", "the hypervisor may stop its threads for others, so latency has outliers", "")
	}
}

// cores judges threads that share one.
func (m *machine) cores() {
	if len(m.CPUs) == 1 {
		m.add(Warning, "one CPU", "sending and receiving take turns on it", "")
	}
	for _, c := range m.CPUs {
		if !slices.Contains(m.cpus, c.ID) {
			continue
		}
		for _, s := range c.Siblings {
			if s > c.ID && slices.Contains(m.cpus, s) {
				m.add(Warning, fmt.Sprintf("CPU %d and CPU %d of --cpu are one core", c.ID, s), "two busy threads there have half of it each", "")
			}
		}
	}
	if m.SMT && len(m.cpus) == 0 {
		m.add(Note, "two threads share each core (SMT)", "a busy one halves the other", "echo off > /sys/devices/system/cpu/smt/control")
	}
}

func (m *machine) turbo() {
	if m.Turbo != "" {
		m.add(Note, "the clock rises beyond its nominal rate while the processor is cool (turbo)", "what the tester can send drifts with temperature", m.Turbo)
	}
}

func (m *machine) isolation() {
	var shared device.CPUs
	for _, cpu := range m.cpus {
		if !slices.Contains(m.Isolated, cpu) {
			shared = with(shared, cpu)
		}
	}
	if shared != nil {
		m.add(Note, fmt.Sprintf("%s of --cpu may run other programs", cpus(shared)),
			fmt.Sprintf("to keep them free, start the kernel with isolcpus=%v nohz_full=%v", shared, shared), "")
	}
}

func (m *machine) kernel() {
	if m.Kernel == "" {
		return
	}
	switch {
	case !m.LiveFrames():
		m.add(Note, "Linux "+m.Kernel+" sends no packets out of XDP programs", "that takes Linux 5.18 with BTF, and is the fastest way beside DPDK", "")
	case !m.AFXDP:
		m.add(Note, "Linux "+m.Kernel+" has no XDP sockets", "they send faster than packet sockets (CONFIG_XDP_SOCKETS)", "")
	default:
		m.add(OK, "Linux "+m.Kernel, "it has XDP sockets, BTF, and XDP programs that send", "")
	}
}

// memory judges what DPDK wants.
func (m *machine) memory() {
	var total, free int64
	for _, h := range m.HugePages {
		total, free = total+h.Total, free+h.Free
	}
	const mend = "sysctl -w vm.nr_hugepages=512"
	switch {
	case total == 0:
		m.add(Note, "no huge pages", "DPDK is about 1.6 times as fast with them", mend)
	case free == 0:
		m.add(Note, fmt.Sprintf("all %s are in use", of(int(total), "huge page")), "DPDK gets none, and is about 1.6 times as fast with them", mend)
	}
	if !m.IOMMU {
		m.add(Note, "no IOMMU", "vfio-pci works only in its unsafe mode; start the kernel with intel_iommu=on iommu=pt", "")
	}
}

// of is a number with its noun.
func of(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
