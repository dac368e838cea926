package device

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// tree is a file system of texts; a text that begins with → is a link.
func tree(files map[string]string) fstest.MapFS {
	root := fstest.MapFS{}
	for name, text := range files {
		if to, ok := cutArrow(text); ok {
			root[name] = &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink}
			continue
		}
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return root
}

func cutArrow(text string) (string, bool) {
	const arrow = "→"
	if len(text) > len(arrow) && text[:len(arrow)] == arrow {
		return text[len(arrow):], true
	}
	return "", false
}

func TestReadMachine(t *testing.T) {
	for _, tt := range []struct {
		name      string
		sys, proc map[string]string
		want      Machine
	}{
		{"nothing to read", nil, nil, Machine{}},
		{"server", map[string]string{
			"kernel/btf/vmlinux":                                                "\x9f\xeb",
			"devices/system/cpu/online":                                         "0-3\n",
			"devices/system/cpu/isolated":                                       "2-3\n",
			"devices/system/cpu/smt/active":                                     "1\n",
			"devices/system/cpu/intel_pstate/no_turbo":                          "0\n",
			"devices/system/node/node0/cpulist":                                 "0,2\n",
			"devices/system/node/node1/cpulist":                                 "1,3\n",
			"devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages": "512\n", "devices/system/node/node1/hugepages/hugepages-2048kB/free_hugepages": "12\n",
			"devices/system/node/node0/hugepages/hugepages-1048576kB/nr_hugepages": "2\n",
			"devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages":    "0\n",
			"devices/system/node/node0/hugepages/odd/nr_hugepages":                 "7\n",
			"devices/system/cpu/cpu1/cpufreq/scaling_governor":                     "powersave\n",
			"devices/system/cpu/cpu1/topology/thread_siblings_list":                "1,3\n",
			"kernel/iommu_groups/0/type":                                           "DMA\n",
		}, map[string]string{
			"sys/kernel/osrelease": "6.18.1-amd64\n",
			"net/protocols":        "protocol  size\nXDP       1088      0\nPACKET    1\n",
			"cpuinfo":              "flags\t\t: fpu hypervisor lahf_lm\n",
			"stat":                 "cpu  50 0 20 20 0 0 0 10 40 0\ncpu0 1 2\n",
			"loadavg":              "1.50 0.52 0.90 1/213 4711\n",
			"4711/comm":            "irqbalance\n", "5/comm": "bash\n", "self/comm": "irqbalance\n",
			"self/status": "Name:\tloadtest\nCapPrm:\t0000000000000000\nCapEff:\t0000000000002000\n",
		}, Machine{
			Kernel: "6.18.1-amd64", BTF: true, AFXDP: true, Raw: new(true), Isolated: CPUs{2, 3}, SMT: true, Turbo: "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo",
			CPUs:      []CPU{{0, 0, "", nil}, {1, 1, "powersave", CPUs{1, 3}}, {2, 0, "", nil}, {3, 1, "", nil}},
			HugePages: []HugePages{{0, 2 << 20, 0, 0}, {0, 1 << 30, 2, 0}, {1, 2 << 20, 512, 12}},
			IOMMU:     true, Virtual: true, Steal: 0.1, Load: 1.5, Balancer: &Process{4711, "irqbalance"},
		}},
		{"no memory nodes, boost", map[string]string{
			"devices/system/cpu/online":                           "0\n",
			"devices/system/cpu/smt/active":                       "0\n",
			"devices/system/cpu/cpufreq/boost":                    "1\n",
			"kernel/mm/hugepages/hugepages-2048kB/nr_hugepages":   "3\n",
			"kernel/mm/hugepages/hugepages-2048kB/free_hugepages": "1\n",
		}, map[string]string{"self/status": "CapEff:\tffffffffffffdfff\n", "stat": "cpu  odd\n", "net/protocols": "XDPLIKE 1\n", "loadavg": "much"},
			Machine{Raw: new(false), CPUs: []CPU{{}}, Turbo: "echo 0 > /sys/devices/system/cpu/cpufreq/boost", HugePages: []HugePages{{0, 2 << 20, 3, 1}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, ReadMachine(tree(tt.sys), tree(tt.proc))); diff != "" {
				t.Errorf("ReadMachine (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLiveFrames(t *testing.T) {
	for _, tt := range []struct {
		kernel string
		btf    bool
		want   bool
	}{{"5.18.0", true, true}, {"6.1.0-amd64", true, true}, {"5.17.9", true, false}, {"4.19", true, false}, {"6.1", false, false}, {"", true, false}} {
		if m := (Machine{Kernel: tt.kernel, BTF: tt.btf}); m.LiveFrames() != tt.want {
			t.Errorf("Linux %q, BTF %v: LiveFrames() = %v", tt.kernel, tt.btf, m.LiveFrames())
		}
	}
}

func TestNode(t *testing.T) {
	m := Machine{CPUs: []CPU{{ID: 0, Node: 0}, {ID: 8, Node: 1}}}
	if a, b, c := m.Node(0), m.Node(8), m.Node(1); a != 0 || b != 1 || c != -1 {
		t.Errorf("nodes of CPUs 0, 8 and 1: %d, %d, %d", a, b, c)
	}
}
