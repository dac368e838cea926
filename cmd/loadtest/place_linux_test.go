package main

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"loadtest/nic"
)

func TestNode(t *testing.T) {
	at := func(nodes ...int) map[string]nic.Device {
		all := map[string]nic.Device{}
		for i, n := range nodes {
			all[string(rune('a'+i))] = nic.Device{Info: nic.Info{NUMA: n}}
		}
		return all
	}
	for _, tt := range []struct {
		devices map[string]nic.Device
		want    int
	}{{at(0), 0}, {at(1, 1), 1}, {at(0, 1), -1}, {at(-1), -1}, {at(1, -1), -1}, {at(-1, 0), -1}, {at(), -1}} {
		if got := node(tt.devices); got != tt.want {
			t.Errorf("%v: node %d, want %d", tt.devices, got, tt.want)
		}
	}
}

// On a machine with two nodes the process goes to the CPUs of one; with one it stays.
func TestPlace(t *testing.T) {
	var before, after unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	if before.Count() < 2 {
		t.Skip("this machine has one CPU")
	}
	first := 0
	for !before.IsSet(first) {
		first++
	}
	root := t.TempDir()
	write := func(node, cpus string) {
		if err := os.MkdirAll(filepath.Join(root, node), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, node, "cpulist"), []byte(cpus+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		tasks, _ := os.ReadDir("/proc/self/task")
		for _, task := range tasks {
			id := 0
			for _, c := range task.Name() {
				id = id*10 + int(c-'0')
			}
			_ = unix.SchedSetaffinity(id, &before)
		}
	})
	write("node0", "0-63")
	place(root, 0)
	if err := unix.SchedGetaffinity(0, &after); err != nil || after != before {
		t.Errorf("one node: moved, %v", err)
	}
	write("node1", string(rune('0'+first)))
	place(root, 1)
	if err := unix.SchedGetaffinity(0, &after); err != nil || after.Count() != 1 || !after.IsSet(first) {
		t.Errorf("two nodes: on %d CPUs, %v; want CPU %d alone", after.Count(), err, first)
	}
}
