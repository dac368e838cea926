//go:build dpdk && cgo && linux

package dpdk

/*
#include <stdlib.h>
#include "dpdk.h"
*/
import "C"

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"loadtest/nic"
	"loadtest/packet"
	"loadtest/trial"
)

const (
	playFor    = 1e6      // ns: one Play
	nearby     = 20e3     // ns: what is due within it is waited for in place
	mostShared = 64 << 10 // packets that become mbufs; of more, each is copied when it is sent
)

// A player is the plan of one queue, in C's memory, and the packets, in Go's: pinned, so that C may read them where they are.
type player struct {
	c       *C.struct_lt_player
	packets *C.struct_lt_packet // of all lanes
	n       int
	pool    *C.struct_rte_mempool // of shared packets
	pinned  runtime.Pinner
	lanes   []nic.Lane
}

// Load makes mbufs of packets without a tag: nothing writes to them, so one may be on its way many times. The others are copied.
func (p *port) Load(lanes []nic.Lane) (err error) {
	if !p.gate.Enter() {
		return nic.ErrClosed
	}
	defer p.gate.Leave()
	p.player.close()
	if err = p.load(lanes); err != nil {
		p.player.close()
	}
	return err
}

func (p *port) load(lanes []nic.Lane) error {
	for _, l := range lanes {
		for i := range l.Store.Len() {
			if err := p.takes(l.Store.Frame(i).Data); err != nil {
				return fmt.Errorf("packet %d, of %d bytes: %w: %w", i+1, l.Store.Size(i), err, nic.ErrNotPlayed)
			}
		}
		p.n += l.Store.Len()
	}
	p.player.c = (*C.struct_lt_player)(C.calloc(1, C.sizeof_struct_lt_player))
	p.packets = (*C.struct_lt_packet)(C.calloc(C.size_t(p.n+1), C.sizeof_struct_lt_packet))
	first := (*C.struct_lt_lane)(C.calloc(C.size_t(len(lanes)+1), C.sizeof_struct_lt_lane))
	if p.player.c == nil || p.packets == nil || first == nil {
		return fmt.Errorf("no memory for a list of %d packets: %w", p.n, nic.ErrNotPlayed)
	}
	p.player.c.lanes, p.player.c.n, p.player.c.queue = first, C.uint32_t(len(lanes)), p.q
	p.lanes = lanes
	rest, bare := unsafe.Slice(p.packets, p.n), 0
	for i := range lanes {
		l := &lanes[i]
		n := l.Store.Len()
		if n > 0 {
			p.lane(i).packets, p.lane(i).n = &rest[0], C.uint32_t(n)
			bare += p.stock(l, rest[:n])
		}
		rest = rest[n:]
	}
	p.share(bare)
	return nil
}

// stock lists the packets of a lane; it says how many have no tag.
func (p *player) stock(l *nic.Lane, list []C.struct_lt_packet) (bare int) {
	p.pinned.Pin(unsafe.SliceData(l.Store.Frame(0).Data)) // a store is one block
	for i := range list {
		b := l.Store.Frame(i).Data
		list[i] = C.struct_lt_packet{data: (*C.uint8_t)(unsafe.SliceData(b)), gap: C.int64_t(l.Gaps[i]), size: C.uint32_t(len(b)), tag: C.int32_t(l.Tags[i])}
		if l.Tags[i] < 0 {
			bare++
		}
	}
	return bare
}

// share makes mbufs of the packets without a tag, as far as there is memory.
func (p *port) share(bare int) {
	if bare == 0 || bare > mostShared {
		return
	}
	if p.pool = C.lt_pool(C.uint32_t(bare), 0, C.uint32_t(p.longest+vlanTag), -1); p.pool == nil {
		said() // copying is slower, and no error
		return
	}
	for i := range unsafe.Slice(p.packets, p.n) {
		if t := (*C.struct_lt_packet)(unsafe.Add(unsafe.Pointer(p.packets), i*C.sizeof_struct_lt_packet)); t.tag < 0 {
			C.lt_share(t, p.pool)
		}
	}
}

func (p *player) lane(i int) *C.struct_lt_lane {
	return (*C.struct_lt_lane)(unsafe.Add(unsafe.Pointer(p.c.lanes), i*C.sizeof_struct_lt_lane))
}

// Begin writes the plan to where C reads it.
func (p *port) Begin(plan nic.Plan) error {
	if !p.gate.Enter() {
		return nic.ErrClosed
	}
	defer p.gate.Leave()
	c := p.player.c
	c.count, c.end, c.credit = C.int64_t(plan.Count), C.int64_t(plan.End), C.int64_t(plan.Credit)
	C.lt_begin(c)
	for i, load := range plan.Lanes {
		n, l := &p.lanes[i], p.lane(i)
		counted := packet.Tag{Magic: n.Magic, Lane: n.ID, Trial: plan.Trial}
		preroll := counted
		preroll.Trial = plan.Preroll
		l.head = [2]C.uint64_t{front(counted), front(preroll)}
		l.unit = unitOf(load.Unit)
		l.schedule = C.struct_lt_schedule{num: C.uint64_t(load.Num), den: C.uint64_t(load.Den), due: C.int64_t(plan.Start + load.Lead)}
		if l.left = C.int64_t(load.Packets); load.Packets == 0 {
			l.left = math.MaxInt64
		}
		if load.Den == 0 || l.n == 0 {
			l.left, l.schedule.due = 0, nic.Never
		}
	}
	return nil
}

// front is a tag's first eight bytes behind the compensation, without a sequence number.
func front(t packet.Tag) C.uint64_t {
	return C.uint64_t(t.Magic)<<48 | C.uint64_t(t.Lane)<<40 | C.uint64_t(t.Trial)<<32
}

func unitOf(u trial.Unit) C.int {
	switch u {
	case trial.Packets:
		return C.LT_PACKETS
	case trial.Factor:
		return C.LT_FACTOR
	}
	return C.LT_WIRE_BITS
}

// Play sends what is due, for a while. ErrDown comes with a time, since a link may come back.
func (p *port) Play(now int64) (next int64, err error) {
	if !p.gate.Enter() {
		return 0, nic.ErrClosed
	}
	c := p.player.c
	before := c.taken
	next = int64(C.lt_play(c, C.int64_t(now+playFor), nearby))
	if p.away() || c.taken == before && c.pending > 0 && !bool(C.lt_up(p.device.c)) {
		err = nic.ErrDown
	}
	p.gate.Leave()
	return next, err
}

// Played reads a lane's books.
func (p *port) Played(lane int) (o nic.Offer) {
	if !p.gate.Enter() {
		return o
	}
	l := p.lane(lane)
	o = nic.Offer{Intended: int64(l.intended), Sent: int64(l.sent), Bytes: int64(l.bytes), WireBits: int64(l.wire), Tagged: int64(l.tagged),
		Issued: int64(l.issued), Due: int64(C.lt_due(p.player.c, C.uint32_t(lane)))}
	p.gate.Leave()
	return o
}

// Lateness reads a lane's histogram.
func (p *port) Lateness(lane int, into *trial.Histogram) {
	if p.gate.Enter() {
		addTo(into, &p.lane(lane).late)
		p.gate.Leave()
	}
}

func addTo(into *trial.Histogram, h *C.struct_lt_histogram) {
	if h.count > 0 {
		cells := unsafe.Slice((*uint64)(&h.cell[0]), C.LT_CELLS)
		into.AddCells(cells, int64(h.least), int64(h.most), float64(h.sum))
	}
}

var _ [trial.HistogramCells]struct{} = [C.LT_CELLS]struct{}{} // the cells are the same ones

// close gives back mbufs and memory; what is on its way comes back to the pool by itself.
func (p *player) close() {
	if p.c != nil {
		C.lt_player_free(p.c, p.packets, C.uint64_t(p.n))
	}
	if p.pool != nil {
		eal.Lock()
		sweep(p.pool)
		eal.Unlock()
	}
	p.pinned.Unpin()
	*p = player{}
}
