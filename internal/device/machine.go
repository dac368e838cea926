package device

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A Machine is what all ports share. What cannot be told is empty or nil.
type Machine struct {
	Kernel    string // release, as uname -r
	BTF       bool   // the kernel describes its own types: tracing programs need it
	AFXDP     bool   // it has XDP sockets
	Raw       *bool  // this process may open packet sockets (CAP_NET_RAW)
	CPUs      []CPU  // those that are online
	Isolated  CPUs   // kept free of other programs (isolcpus)
	SMT       bool   // two threads of a core are in use
	Turbo     string // the clock rises beyond its nominal rate: the command that ends it
	HugePages []HugePages
	IOMMU     bool
	Virtual   bool     // a guest of a hypervisor
	Steal     float64  // share of CPU time that the hypervisor gave to others, since the start
	Load      float64  // mean length of the run queue over the last minute
	Balancer  *Process // moves interrupts between CPUs: irqbalance(1)
}

// A CPU is one that the kernel runs threads on.
type CPU struct {
	ID, Node int
	Governor string // of its frequency
	Siblings CPUs   // all threads of its core, itself too
}

// HugePages are those of one size in one memory node.
type HugePages struct {
	Node              int
	Size, Total, Free int64 // bytes; pages
}

// A Process is a running program.
type Process struct {
	PID  int
	Name string
}

// ReadMachine reads /sys and /proc.
func ReadMachine(sys, proc fs.FS) (m Machine) {
	m.Kernel = text(proc, "sys/kernel/osrelease")
	_, err := fs.Stat(sys, "kernel/btf/vmlinux")
	m.BTF = err == nil
	for line := range strings.Lines(text(proc, "net/protocols")) {
		m.AFXDP = m.AFXDP || strings.HasPrefix(line, "XDP ")
	}
	m.Raw = capable(text(proc, "self/status"), 13)
	m.cpus(sys)
	m.SMT = text(sys, "devices/system/cpu/smt/active") == "1"
	for _, turbo := range []struct{ file, on, off string }{{"intel_pstate/no_turbo", "0", "1"}, {"cpufreq/boost", "1", "0"}} {
		file := "devices/system/cpu/" + turbo.file
		if text(sys, file) == turbo.on {
			m.Turbo = fmt.Sprintf("echo %s > /sys/%s", turbo.off, file)
		}
	}
	m.HugePages = hugePages(sys)
	groups, _ := fs.ReadDir(sys, "kernel/iommu_groups")
	m.IOMMU = len(groups) > 0
	m.Virtual = slices.Contains(strings.Fields(text(proc, "cpuinfo")), "hypervisor")
	m.Steal = steal(text(proc, "stat"))
	load, _, _ := strings.Cut(text(proc, "loadavg"), " ")
	m.Load, _ = strconv.ParseFloat(load, 64)
	m.Balancer = running(proc, "irqbalance")
	return m
}

// LiveFrames says whether XDP programs can send packets of their own: Linux 5.18 can, and BTF is needed to count what drivers refuse.
func (m *Machine) LiveFrames() bool { return m.BTF && m.atLeast(5, 18) }

func (m *Machine) atLeast(major, minor int) bool {
	var a, b int
	if n, _ := fmt.Sscanf(m.Kernel, "%d.%d", &a, &b); n < 2 {
		return false
	}
	return a > major || a == major && b >= minor
}

// Node is the memory node of a CPU, -1 if there is no such CPU.
func (m *Machine) Node(cpu int) int {
	if i := slices.IndexFunc(m.CPUs, func(c CPU) bool { return c.ID == cpu }); i >= 0 {
		return m.CPUs[i].Node
	}
	return -1
}

// cpus reads which are online, and where they are.
func (m *Machine) cpus(sys fs.FS) {
	const dir = "devices/system/cpu"
	m.Isolated = parseCPUs(text(sys, dir+"/isolated"))
	nodes := make(map[int]int)
	for _, n := range numbered(sys, "devices/system/node", "node") {
		for _, cpu := range parseCPUs(text(sys, fmt.Sprintf("devices/system/node/node%d/cpulist", n))) {
			nodes[cpu] = n
		}
	}
	for _, id := range parseCPUs(text(sys, dir+"/online")) {
		own := fmt.Sprintf("%s/cpu%d", dir, id)
		m.CPUs = append(m.CPUs, CPU{
			ID: id, Node: nodes[id], Governor: text(sys, own+"/cpufreq/scaling_governor"),
			Siblings: parseCPUs(text(sys, own+"/topology/thread_siblings_list")),
		})
	}
}

// hugePages reads those of each node, or of the machine where the kernel knows no nodes.
func hugePages(sys fs.FS) (all []HugePages) {
	dirs := map[string]int{}
	for _, n := range numbered(sys, "devices/system/node", "node") {
		dirs[fmt.Sprintf("devices/system/node/node%d/hugepages", n)] = n
	}
	if len(dirs) == 0 {
		dirs["kernel/mm/hugepages"] = 0
	}
	for dir, node := range dirs {
		sizes, _ := fs.ReadDir(sys, dir)
		for _, size := range sizes {
			var kb int64
			if n, _ := fmt.Sscanf(size.Name(), "hugepages-%dkB", &kb); n < 1 {
				continue
			}
			own := path.Join(dir, size.Name())
			all = append(all, HugePages{node, kb * 1024, number(sys, own+"/nr_hugepages"), number(sys, own+"/free_hugepages")})
		}
	}
	slices.SortFunc(all, func(a, b HugePages) int { return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Size, b.Size)) })
	return all
}

// steal reads the first line of /proc/stat: "cpu user nice system idle iowait irq softirq steal guest guest_nice" in ticks. Guests'
// time is part of user's.
func steal(stat string) float64 {
	line, _, _ := strings.Cut(stat, "\n")
	var all, stolen float64
	for i, f := range strings.Fields(line) {
		if n, err := strconv.ParseUint(f, 10, 64); err == nil && i >= 1 && i <= 8 {
			all += float64(n)
			if i == 8 {
				stolen = float64(n)
			}
		}
	}
	if all == 0 {
		return 0
	}
	return stolen / all
}

// capable reads whether a process has a capability (capabilities(7)); nil if /proc/PID/status does not tell.
func capable(status string, capability uint) *bool {
	for line := range strings.Lines(status) {
		mask, ok := strings.CutPrefix(line, "CapEff:")
		if effective, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64); ok && err == nil {
			return new(effective>>capability&1 == 1)
		}
	}
	return nil
}

// running finds a process by its name.
func running(proc fs.FS, name string) *Process {
	for _, pid := range numbered(proc, ".", "") {
		if text(proc, fmt.Sprintf("%d/comm", pid)) == name {
			return &Process{pid, name}
		}
	}
	return nil
}

// numbered lists the numbers n of entries named as prefix and n, in ascending order.
func numbered(root fs.FS, dir, prefix string) (numbers []int) {
	entries, _ := fs.ReadDir(root, dir)
	for _, e := range entries {
		if digits, ok := strings.CutPrefix(e.Name(), prefix); ok {
			if n, err := strconv.Atoi(digits); err == nil && n >= 0 {
				numbers = append(numbers, n)
			}
		}
	}
	slices.Sort(numbers)
	return numbers
}

// text is a file's; "" if it cannot be read.
func text(root fs.FS, name string) string {
	b, _ := fs.ReadFile(root, name)
	return strings.TrimSpace(string(b))
}

// number is a file's; 0 if there is none.
func number(root fs.FS, name string) int64 {
	n, _ := strconv.ParseInt(text(root, name), 10, 64)
	return n
}
