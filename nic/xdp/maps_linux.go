package xdp

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// A region is a map of one value that programs and Go see as the same memory.
type region struct {
	m     *ebpf.Map
	bytes []byte
}

func newRegion(name string, size int) (*region, error) {
	m, err := ebpf.NewMap(&ebpf.MapSpec{Name: name, Type: ebpf.Array, KeySize: 4, ValueSize: uint32(size), MaxEntries: 1, Flags: unix.BPF_F_MMAPABLE})
	if err != nil {
		return nil, fmt.Errorf("%d bytes of kernel memory: %w", size, err)
	}
	b, err := unix.Mmap(m.FD(), 0, (size+os.Getpagesize()-1)&^(os.Getpagesize()-1), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		m.Close()
		return nil, os.NewSyscallError("mmap", err)
	}
	return &region{m, b}, nil
}

func (r *region) close() {
	if r != nil {
		_ = unix.Munmap(r.bytes)
		r.m.Close()
	}
}

// at is the part of type T that begins at an offset.
func at[T any](r *region, offset int) *T {
	var t T
	_ = r.bytes[offset+int(unsafe.Sizeof(t))-1]
	return (*T)(unsafe.Pointer(&r.bytes[offset]))
}

// cells is the i-th histogram of a region of them.
func (r *region) cells(i int) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(&r.bytes[i*cellsSize])), cellsSize/8)
}
