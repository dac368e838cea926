//go:build dpdk && cgo && linux

package dpdk

/*
#include <stdlib.h>
#include "dpdk.h"
#include "tag.h"
*/
import "C"

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"loadtest/nic"
	"loadtest/packet"
	"loadtest/trial"
)

// Tests cannot use cgo themselves: what they compare with its like in Go is called from here, and from nowhere else.

// ringPair makes a wire of two rings; its ends are opened as net_ring_A and net_ring_B.
func ringPair(a, b string, size int) error {
	eal.Lock()
	defer eal.Unlock()
	if err := start(nil); err != nil {
		return err
	}
	if errno := C.lt_ring_pair(C.CString(a), C.CString(b), C.uint32_t(size)); errno != 0 {
		return told(unix.Errno(errno), said())
	}
	return nil
}

func bytesOf(b []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(b)) }

// tagAt is where C looks for a tag; -1: nowhere.
func tagAt(b []byte) int { return int(C.lt_tag_at(bytesOf(b), C.uint32_t(len(b)))) }

func putTag(b []byte, t packet.Tag) {
	C.lt_tag_put(bytesOf(b), C.lt_tag_sum(front(t), C.uint64_t(t.Nanos)), front(t), C.uint32_t(t.Seq), C.uint64_t(t.Nanos))
}

// A knower is C's classifier without a port.
type knower struct{ classifier }

func newKnower(a nic.Await) (k knower, ok bool) {
	k.c = (*C.struct_lt_classifier)(C.calloc(1, C.sizeof_struct_lt_classifier))
	return k, k.await(a)
}

// ours says whether C counts the frame as one of ours.
func (k knower) ours(frame []byte) bool {
	return bool(C.lt_classify(k.c, bytesOf(frame), C.uint32_t(len(frame)), 1))
}

// A window is C's receive window.
type window struct{ a *C.struct_lt_arrivals }

func newWindow() window             { return window{C.lt_arrivals_new()} }
func (w window) see(low uint32) int { return int(C.lt_see(&w.a.window, C.uint32_t(low))) }
func (w window) reset()             { C.lt_arrivals_reset(w.a) }
func (w window) free()              { C.lt_arrivals_free(w.a) }
func (w window) books() (b [5]int64) {
	c := &w.a.window
	return [5]int64{int64(c.received), int64(c.duplicated), int64(c.reordered), int64(c.too_old), int64(c.top)}
}

// A schedule is C's deadlines of one lane.
type schedule struct{ c C.struct_lt_schedule }

func newSchedule(num, den uint64) *schedule {
	return &schedule{C.struct_lt_schedule{num: C.uint64_t(num), den: C.uint64_t(den)}}
}
func (s *schedule) due() int64       { return int64(s.c.due) }
func (s *schedule) next(cost uint64) { C.lt_next(&s.c, C.uint64_t(cost)) }

// cells counts times in C's histogram.
func cells(ns []int64) (h trial.Histogram) {
	c := (*C.struct_lt_histogram)(C.calloc(1, C.sizeof_struct_lt_histogram))
	defer C.free(unsafe.Pointer(c))
	for _, v := range ns {
		C.lt_record(c, C.int64_t(v), 1)
	}
	addTo(&h, c)
	return h
}

// register makes the thread one of EAL's.
func register() bool { return bool(C.lt_register()) }

func huge() bool { return bool(C.lt_huge()) }

// step is one step of the plan at a time that is given.
func (p *port) step(now int64) int64 { return int64(C.lt_step(p.player.c, C.int64_t(now))) }
