package xdp

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// testRun is union bpf_attr of BPF_PROG_TEST_RUN (linux/bpf.h).
type testRun struct {
	prog                    uint32
	retval                  uint32
	dataSizeIn, dataSizeOut uint32
	dataIn, dataOut         uint64
	repeat, duration        uint32
	ctxSizeIn, ctxSizeOut   uint32
	ctxIn, ctxOut           uint64
	flags, cpu, batchSize   uint32
	_                       uint32
}

const (
	cmdTestRun = 10 // BPF_PROG_TEST_RUN
	liveFrames = 2  // BPF_F_TEST_XDP_LIVE_FRAMES
)

// A run calls the generator again and again on the same frame.
type run struct {
	attr  testRun
	frame []byte
}

func newRun(prog int, frame []byte) *run {
	return &run{frame: frame, attr: testRun{prog: uint32(prog), dataSizeIn: uint32(len(frame)), flags: liveFrames}}
}

// times runs it so many times, in batches. Not a library's call: that begins anew after a signal. Not unix.Syscall: the scheduler
// would hand this thread's processor to another one.
func (r *run) times(repeat, batch int) error {
	r.attr.repeat, r.attr.batchSize = uint32(repeat), uint32(batch)
	r.attr.dataIn = uint64(uintptr(unsafe.Pointer(&r.frame[0])))
	_, _, errno := unix.RawSyscall(unix.SYS_BPF, cmdTestRun, uintptr(unsafe.Pointer(&r.attr)), unsafe.Sizeof(r.attr))
	runtime.KeepAlive(r)
	if errno != 0 && errno != unix.EINTR { // interrupted: what is left comes with the next call
		return errno
	}
	return nil
}
