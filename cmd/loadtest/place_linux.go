package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nodes is where the system tells of memory nodes.
const nodes = "/sys/devices/system/node"

// place brings the process to a memory node: its threads, those to come, and the memory that it has so far. A machine with one node
// has nothing to bring. What the system refuses stays where it is: then it is only slower.
func place(root string, node int) {
	all, _ := filepath.Glob(root + "/node[0-9]*")
	if node < 0 || node >= 64 || len(all) < 2 {
		return
	}
	text, err := os.ReadFile(fmt.Sprintf("%s/node%d/cpulist", root, node))
	if err != nil {
		return
	}
	cpus, err := parseCPUs(string(text[:max(0, len(text)-1)]))
	if err != nil {
		return
	}
	var set unix.CPUSet
	for _, c := range cpus {
		set.Set(c)
	}
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, t := range tasks {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.SchedSetaffinity(id, &set)
		}
	}
	from, to := ^(uint64(1) << node), uint64(1)<<node
	_, _, _ = unix.Syscall6(unix.SYS_MIGRATE_PAGES, 0, 64, uintptr(unsafe.Pointer(&from)), uintptr(unsafe.Pointer(&to)), 0, 0)
}
