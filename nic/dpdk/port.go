//go:build dpdk && cgo && linux

package dpdk

/*
#include <stdlib.h>
#include "dpdk.h"
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"loadtest/nic"
	"loadtest/packet"
)

const vlanTag = 4 // bytes: a frame that has one may be that much longer

var errShort = fmt.Errorf("frame is shorter than an Ethernet header, %d bytes", packet.EtherLen)

// A port is one queue. What its halves use is C's memory, so the gate keeps it until both have left.
type port struct {
	*device
	q       *C.struct_lt_queue
	first   bool
	longest int
	gate    nic.Gate
	player
	classifier
}

// Send copies frames into fresh buffers and offers them to the driver, a burst a call.
func (p *port) Send(frames []packet.Frame) (n int, err error) {
	if !p.gate.Enter() {
		return 0, nic.ErrClosed
	}
	n, err = p.send(frames)
	p.gate.Leave()
	return n, err
}

func (p *port) send(frames []packet.Frame) (n int, err error) {
	for n < len(frames) && err == nil {
		if p.q.fresh == 0 {
			if C.lt_send(p.q, 0); p.q.fresh == 0 { // all buffers are on their way
				return n, nil
			}
		}
		k := 0
		for room := min(int(p.q.fresh), len(frames)-n); k < room; k++ {
			data := frames[n+k].Data
			if err = p.takes(data); err != nil {
				break
			}
			r := &p.q.room[k]
			copy(unsafe.Slice((*byte)(r.data), len(data)), data)
			r.size = C.uint32_t(len(data))
		}
		if k == 0 {
			break
		}
		sent := int(C.lt_send(p.q, C.uint16_t(k)))
		if n += sent; p.away() || sent == 0 && !bool(C.lt_up(p.device.c)) {
			return n, nic.ErrDown
		}
		if sent < k {
			return n, nil
		}
	}
	return n, err
}

// takes says whether a frame may be sent.
func (p *port) takes(b []byte) error {
	switch {
	case len(b) < packet.EtherLen:
		return errShort
	case len(b) <= p.longest:
		return nil
	case len(b) <= p.longest+vlanTag:
		if t := binary.BigEndian.Uint16(b[12:]); t == packet.TypeVLAN || t == packet.TypeQinQ {
			return nil
		}
	}
	return nic.ErrTooLong
}

// away says whether the kernel's interface is down or gone. It is asked when C says that it is time to.
func (p *port) away() bool {
	if p.q.look {
		p.q.look = false
		p.q.away = C.bool(p.lost())
	}
	return bool(p.q.away)
}

// lost asks the kernel.
func (d *device) lost() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ask()
}

// ask is lost; d.mu is locked.
func (d *device) ask() bool {
	if d.link == nil {
		return false
	}
	f, err := d.link.Ask()
	return err != nil || !f.Up
}

// Recv gives what is not for the classifier.
func (p *port) Recv(frames []packet.Frame) (n int, err error) {
	if !p.gate.Enter() {
		return 0, nic.ErrClosed
	}
	n = int(C.lt_recv(p.q, C.uint32_t(min(len(frames), C.LT_LENT))))
	for i := range n {
		o := &p.q.lent[i]
		frames[i] = packet.Frame{Data: unsafe.Slice((*byte)(o.data), int(o.size)), Nanos: int64(p.q.lent_at[i])}
	}
	p.gate.Leave()
	return n, nil
}

// mostWait is the longest sleep of a receiver that found nothing: a ring of a thousand frames takes longer to fill, at any rate that one
// core receives.
const mostWait = 20 * time.Microsecond

// Wait sleeps a little: devices are polled.
func (p *port) Wait(d time.Duration) {
	t := unix.NsecToTimespec(int64(min(d, mostWait)))
	unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 0, uintptr(unsafe.Pointer(&t)), 0, 0, 0)
}

// Status asks the driver and, where there is one, the kernel's interface. What concerns the whole device is told by its first queue.
func (p *port) Status() nic.Status {
	s := p.device.status()
	if p.first {
		return s
	}
	return nic.Status{LinkDown: s.LinkDown, Downs: s.Downs}
}

func (d *device) status() nic.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == 0 {
		d.last.LinkDown = true
		return d.last
	}
	var s C.struct_lt_status
	C.lt_status(d.c, C.bool(d.ask()), &s)
	d.dropped += dropped(d.sockets)
	d.last = nic.Status{LinkDown: !bool(s.up), Downs: int64(s.downs), Missed: int64(s.missed) + d.dropped, TxErrors: int64(s.tx_errors), TxFrames: int64(s.tx_frames)}
	return d.last
}

// Close closes a queue; the last one gives the device back. What Recv lent is gone.
func (p *port) Close() error {
	if !p.gate.Close() {
		return nil
	}
	p.player.close()
	C.lt_release(p.q)
	p.classifier.close()
	C.free(unsafe.Pointer(p.q))
	p.mu.Lock()
	p.open--
	last := p.open == 0
	p.mu.Unlock()
	if last {
		eal.Lock()
		p.device.stop()
		eal.Unlock()
	}
	return nil
}
