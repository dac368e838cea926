//go:build dpdk && cgo && linux

package dpdk

/*
#cgo pkg-config: libdpdk
#cgo CFLAGS: -O3
#cgo LDFLAGS: -lrte_net_ring
#cgo noescape lt_send
#cgo nocallback lt_send
#cgo noescape lt_recv
#cgo nocallback lt_recv
#cgo noescape lt_play
#cgo nocallback lt_play
#include <stdlib.h>
#include "dpdk.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Memory that EAL is started with, MiB: huge pages are taken at once, usual ones when they are used.
const (
	hugeMiB  = 256
	usualMiB = 1024
)

// noDevice is a PCI address that no device has: with it alone allowed, EAL touches no device before it is asked to.
const noDevice = "ffff:ff:1f.7"

// eal is the one EAL of the process.
var eal struct {
	sync.Mutex
	started bool
	err     error                   // of the start: it cannot be tried again
	ports   map[C.uint16_t]bool     // that are open
	left    []*C.struct_rte_mempool // of ports that are closed: some of their packets were still on their way
}

// start starts EAL unless it runs. eal is locked.
func start(options []string) error {
	if eal.started {
		return eal.err
	}
	args, err := arguments(options, freeHuge("/sys"))
	if err != nil {
		return err
	}
	eal.started = true
	runtime.LockOSThread() // it is EAL's main one meanwhile, and pinned
	defer runtime.UnlockOSThread()
	argv := make([]*C.char, len(args)+1)
	for i, a := range args {
		argv[i] = C.CString(a) // EAL keeps them
	}
	list := (**C.char)(C.calloc(C.size_t(len(argv)), C.size_t(unsafe.Sizeof(argv[0]))))
	copy(unsafe.Slice(list, len(argv)), argv)
	if errno := C.lt_init(C.int(len(args)), list); errno != 0 {
		eal.err = refusal(unix.Errno(errno), said(), args[1:])
	}
	return eal.err
}

// arguments are ours and then the user's. free is the bytes of huge pages that are free.
func arguments(user []string, free int64) ([]string, error) {
	names := make([]string, len(user))
	for i, o := range user {
		names[i], _, _ = strings.Cut(o, "=")
		if names[i] == "-h" || strings.HasPrefix("--help", names[i]) && len(names[i]) > len("--h") {
			return nil, errors.New("DPDK option " + o + ": it would end the program. All options: dpdk-testpmd --help")
		}
	}
	named := func(options ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			return slices.ContainsFunc(options, func(o string) bool {
				return name == o || len(o) == 2 && strings.HasPrefix(name, o)
			})
		})
	}
	a := []string{"EAL", "--log-level=4", "--no-telemetry"} // errors alone
	if !named("-l", "-c", "--lcores") {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(0, &set); err != nil {
			return nil, os.NewSyscallError("sched_getaffinity", err)
		}
		cpu := 0
		for !set.IsSet(cpu) {
			cpu++
		}
		a = append(a, "--lcores=0@"+strconv.Itoa(cpu))
	}
	if !named("-a", "--allow", "-b", "--block", "--no-pci") {
		a = append(a, "--allow="+noDevice)
	}
	if !named("--no-huge", "--in-memory", "--legacy-mem", "--file-prefix", "--huge-dir", "--proc-type") {
		memory := usualMiB
		if free >= hugeMiB<<20 {
			memory = hugeMiB
			a = append(a, "--in-memory")
		} else {
			a = append(a, "--no-huge", "--no-shconf")
		}
		if !named("-m", "--socket-mem") {
			a = append(a, "-m", strconv.Itoa(memory))
		}
	}
	return append(a, user...), nil
}

// freeHuge is how many bytes of huge pages are free. sys is where sysfs(5) is.
func freeHuge(sys string) (bytes int64) {
	sizes, _ := filepath.Glob(sys + "/kernel/mm/hugepages/hugepages-*kB")
	for _, dir := range sizes {
		var kB, n int64
		text, err := os.ReadFile(dir + "/free_hugepages")
		if err != nil {
			continue
		}
		if _, err := fmt.Sscan(string(text), &n); err != nil {
			continue
		}
		if _, err := fmt.Sscanf(filepath.Base(dir), "hugepages-%dkB", &kB); err == nil {
			bytes += n * kB << 10
		}
	}
	return bytes
}

// refusal says why EAL does not start.
func refusal(errno unix.Errno, log []string, args []string) error {
	why := errno.Error()
	if len(log) > 0 {
		why = log[0]
	}
	hint := ""
	switch {
	case strings.Contains(why, "Is another primary process running"):
		hint = ". Leave --file-prefix away, or give it a name of its own"
	case errno == unix.ENOMEM:
		hint = ". Ask for less (-m MiB), or for usual memory (--no-huge --no-shconf)"
	case errno == unix.EACCES && !strings.Contains(why, "lcore"):
		hint = ". Huge pages: echo 256 > /proc/sys/vm/nr_hugepages, or without: --no-huge --no-shconf"
	}
	return fmt.Errorf("DPDK does not start: %s%s (its options: %s)", why, hint, strings.Join(args, " "))
}

// said is what DPDK has logged since it was last asked: lines without the name of the part that says it.
func said() (lines []string) {
	text := C.lt_log()
	defer C.free(unsafe.Pointer(text))
	for line := range strings.Lines(C.GoString(text)) {
		line = strings.TrimSpace(line)
		if _, rest, ok := strings.Cut(line, ": "); ok {
			line = strings.TrimPrefix(rest, "FATAL: ")
		}
		if line != "" && !strings.Contains(line, "skipping unrecognized data section") { // what libbpf says of each program
			lines = append(lines, line)
		}
	}
	return lines
}

// sweep frees the memory of closed ports whose packets have all come back. Some drivers never give theirs back: once no port is open
// nobody has any. eal is locked.
func sweep(more *C.struct_rte_mempool) {
	if more != nil {
		eal.left = append(eal.left, more)
	}
	sure := C.bool(len(eal.ports) == 0)
	eal.left = slices.DeleteFunc(eal.left, func(p *C.struct_rte_mempool) bool { return bool(C.lt_pool_free(p, sure)) })
}
