//go:build dpdk && cgo && linux

package dpdk

/*
#include <stdlib.h>
#include "dpdk.h"
*/
import "C"

import (
	"errors"
	"unsafe"

	"loadtest/nic"
	"loadtest/trial"
)

// A classifier is one queue's knowledge of our packets, in C's memory; nil before it is first asked for.
type classifier struct{ c *C.struct_lt_classifier }

// Classify begins a trial, or ends it.
func (p *port) Classify(a nic.Await) error {
	if !p.gate.Enter() {
		return nic.ErrClosed
	}
	defer p.gate.Leave()
	p.q.classifier = nil
	if len(a.Lanes) == 0 {
		return nil
	}
	if p.classifier.c == nil {
		p.classifier.c = (*C.struct_lt_classifier)(C.calloc(1, C.sizeof_struct_lt_classifier))
	}
	if !p.classifier.await(a) {
		return errors.New("no memory to count our packets in")
	}
	p.q.classifier = p.classifier.c
	return nil
}

// await empties the books of the lanes that are awaited and closes the others. It is false if there is no memory.
func (p *classifier) await(a nic.Await) bool {
	c := p.c
	if c == nil {
		return false
	}
	c.magic, c.trial, c.preroll = C.uint16_t(a.Magic), C.uint8_t(a.Trial), C.uint8_t(a.Preroll)
	c.half, c.half_end = C.int64_t(a.Half), C.int64_t(a.HalfEnd)
	var awaited [256]bool
	for _, id := range a.Lanes {
		awaited[id] = true
	}
	for id := range c.lane {
		switch l := &c.lane[id]; {
		case !awaited[id]:
			C.lt_arrivals_free(*l)
			*l = nil
		case *l != nil:
			C.lt_arrivals_reset(*l)
		default:
			if *l = C.lt_arrivals_new(); *l == nil {
				return false
			}
		}
	}
	return true
}

// Classified reads a lane's books.
func (p *port) Classified(lane uint8) (a nic.Arrivals) {
	if !p.gate.Enter() {
		return a
	}
	if l := p.classifier.arrivals(lane); l != nil {
		w := &l.window
		a = nic.Arrivals{Received: int64(w.received), Duplicated: int64(w.duplicated), Reordered: int64(w.reordered), TooOld: int64(w.too_old),
			Top: int64(w.top), Bytes: int64(l.bytes), WireBits: int64(l.wire), Last: int64(l.last),
			Half: trial.Arrivals{Packets: int64(l.half_packets), Bytes: int64(l.half_bytes), WireBits: int64(l.half_wire)}}
	}
	p.gate.Leave()
	return a
}

func (p *classifier) arrivals(id uint8) *C.struct_lt_arrivals {
	if p.c == nil {
		return nil
	}
	return p.c.lane[id]
}

// Latency reads a lane's histogram.
func (p *port) Latency(lane uint8, into *trial.Histogram) {
	if !p.gate.Enter() {
		return
	}
	if l := p.classifier.arrivals(lane); l != nil {
		addTo(into, &l.latency)
	}
	p.gate.Leave()
}

func (p *classifier) close() {
	if p.c == nil {
		return
	}
	for _, l := range p.c.lane {
		C.lt_arrivals_free(l)
	}
	C.free(unsafe.Pointer(p.c))
	p.c = nil
}
