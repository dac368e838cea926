package clock

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sleep is the kernel's own: time.Sleep waits in the poller, which counts whole milliseconds.
func sleep(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &t, nil)
}

// nap is sleep behind the back of Go's scheduler. For a thread that it knows to be in a system call its monitor looks every 20 µs, and
// takes a fifth of a core from a sender on the same one. The thread keeps its processor meanwhile: there must be enough of them.
func nap(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 0, uintptr(unsafe.Pointer(&t)), 0, 0, 0)
}

func monotonic() int64 { return read(unix.CLOCK_MONOTONIC) }

// read is 0 where there is no such clock.
func read(id int32) int64 {
	var t unix.Timespec
	if unix.ClockGettime(id, &t) != nil {
		return 0
	}
	return t.Nano()
}

// asleep bounds how long the machine has slept so far: CLOCK_BOOTTIME counts that, CLOCK_MONOTONIC does not. They cannot be read
// at once, and this thread may be held up in between: the difference of the least now and the most before was slept for certain.
func asleep() (least, most int64) {
	before := monotonic()
	boot := read(unix.CLOCK_BOOTTIME)
	return boot - monotonic(), boot - before
}

// pin binds the calling thread to a CPU, as far as the system lets it.
func pin(cpu int) {
	var set unix.CPUSet
	set.Set(cpu)
	_ = unix.SchedSetaffinity(0, &set)
}
