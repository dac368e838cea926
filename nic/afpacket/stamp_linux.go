package afpacket

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// A stamper turns the kernel's stamps, taken of CLOCK_REALTIME as a frame arrives, into the run's clock. The two clocks are a
// constant apart until somebody sets the time of day; so the distance is looked at for each block.
type stamper struct {
	epoch  int64
	offset int64 // CLOCK_REALTIME - CLOCK_MONOTONIC, in ns
	now    int64 // CLOCK_MONOTONIC when the current block came
	doubt  bool  // the distance has just changed: the block's stamps may be of before or after
}

func (s *stamper) start(epoch int64) {
	s.epoch = epoch
	best := int64(1 << 62)
	for range 16 {
		if offset, width := s.measure(); width < best {
			s.offset, best = offset, width
		}
	}
}

// measure reads the wall clock between two looks at the monotonic one, width ns apart.
func (s *stamper) measure() (offset, width int64) {
	before := clock(unix.CLOCK_MONOTONIC)
	wall := clock(unix.CLOCK_REALTIME)
	s.now = clock(unix.CLOCK_MONOTONIC)
	width = s.now - before
	return wall - before - width/2, width
}

// sync corrects the offset where the measurement leaves no other explanation.
func (s *stamper) sync() {
	const slack = 1000 // ns; setting the clock by less is no harm
	offset, width := s.measure()
	step := offset - s.offset
	s.doubt = step > width/2+slack || -step > width/2+slack
	if s.doubt {
		s.offset = offset
	}
}

// arrival is a stamp in ns since the epoch. In doubt it is the time at which the block came.
func (s *stamper) arrival(sec, nsec uint32) int64 {
	const oldest = 60e9 // no frame waits that long in a ring
	t := int64(sec)*1e9 + int64(nsec) - s.offset
	if s.doubt || t > s.now || t < s.now-oldest {
		t = s.now
	}
	return t - s.epoch
}

func clock(id int) int64 {
	var t unix.Timespec
	unix.RawSyscall(unix.SYS_CLOCK_GETTIME, uintptr(id), uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}
