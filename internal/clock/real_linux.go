package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// sleep is the kernel's own: time.Sleep waits in the poller, which counts whole milliseconds.
func sleep(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &t, nil)
}

func monotonic() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return t.Nano()
}

// pin binds the calling thread to a CPU, as far as the system lets it.
func pin(cpu int) {
	var set unix.CPUSet
	set.Set(cpu)
	_ = unix.SchedSetaffinity(0, &set)
}
