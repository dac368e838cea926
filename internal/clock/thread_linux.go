package clock

import "golang.org/x/sys/unix"

// slice is the stretch of CPU time that a stepper's thread asks for at once. Short slices are scheduled soon (EEVDF, Linux 6.12);
// the thread's share of the CPU stays what it was, so a device in software on the same cores is not starved.
const slice = 100e3 // ns, the kernel's minimum

// eager asks the kernel to run the calling thread soon after it is due: no rounding of timers, short slices. Where the kernel
// knows better it stays as it is.
func eager() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	a, err := unix.SchedGetAttr(0, 0)
	if err != nil || a.Policy != unix.SCHED_NORMAL {
		return
	}
	a.Runtime = slice
	_ = unix.SchedSetAttr(0, a, 0)
}
