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
	"loadtest/units"
)

const (
	playFor   = 1e6      // ns: one Play
	nearby    = 20e3     // ns: what is due within it is waited for in place
	mostStock = 64 << 10 // mbufs that hold packets, of all lanes; packets of more lanes are copied when they are sent
)

// A player is the plan of one queue, in C's memory, and the packets, in Go's: pinned, so that C may read them where they are.
type player struct {
	c       *C.struct_lt_player
	packets *C.struct_lt_packet // of all lanes
	stocks  []*C.struct_rte_mempool
	pinned  runtime.Pinner
	lanes   []nic.Lane
}

// Load lists the packets, and makes stocks of mbufs that hold them.
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
	total := 0
	for _, l := range lanes {
		for i := range l.Store.Len() {
			if err := p.takes(l.Store.Frame(i).Data); err != nil {
				return fmt.Errorf("packet %d, of %d bytes: %w: %w", i+1, l.Store.Size(i), err, nic.ErrNotPlayed)
			}
		}
		total += l.Store.Len() + 1
	}
	p.player.c = (*C.struct_lt_player)(C.calloc(1, C.sizeof_struct_lt_player))
	p.packets = (*C.struct_lt_packet)(C.calloc(C.size_t(total+1), C.sizeof_struct_lt_packet))
	first := (*C.struct_lt_lane)(C.calloc(C.size_t(len(lanes)+1), C.sizeof_struct_lt_lane))
	if p.player.c == nil || p.packets == nil || first == nil {
		return fmt.Errorf("no memory for a list of %d packets: %w", total, nic.ErrNotPlayed)
	}
	p.player.c.lanes, p.player.c.n, p.player.c.queue = first, C.uint32_t(len(lanes)), p.q
	p.lanes = lanes
	rest, left := unsafe.Slice(p.packets, total), mostStock
	for i := range lanes {
		l, n := p.lane(i), lanes[i].Store.Len()
		l.packets, l.n = &rest[0], C.uint32_t(n)
		if n > 0 {
			p.list(&lanes[i], rest[:n+1])
			left -= p.stock(l, left)
		}
		rest = rest[n+1:]
	}
	return nil
}

// list lists the packets of a lane, and what is before each and before their end.
func (p *player) list(l *nic.Lane, list []C.struct_lt_packet) {
	p.pinned.Pin(unsafe.SliceData(l.Store.Frame(0).Data)) // a store is one block
	for i := range list[1:] {
		b, t := l.Store.Frame(i).Data, &list[i]
		t.data, t.size = (*C.uint8_t)(unsafe.SliceData(b)), C.uint32_t(len(b))
		t.gap, t.tag = C.int64_t(l.Gaps[i]), C.int32_t(l.Tags[i])
		next := &list[i+1]
		next.bytes, next.wire, next.tagged = t.bytes+C.int64_t(len(b)), t.wire+C.int64_t(units.WireBits(len(b))), t.tagged
		if t.tag >= 0 {
			next.tagged++
		}
	}
}

// stock makes a lane's stock, of most mbufs at most. It says of how many it is.
func (p *port) stock(l *C.struct_lt_lane, most int) int {
	n := C.lt_stock_size(p.device.c, l.n)
	if int(n) > most {
		return 0
	}
	if !bool(C.lt_stock(l, n, -1)) {
		said() // copying is slower, and no error
		return 0
	}
	p.stocks = append(p.stocks, l.stock)
	return int(n)
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

// close gives back mbufs and memory; what is on its way comes back to the pools by itself.
func (p *player) close() {
	if p.c != nil {
		C.lt_player_free(p.c, p.packets)
	}
	eal.Lock()
	for _, s := range p.stocks {
		sweep(s)
	}
	eal.Unlock()
	p.pinned.Unpin()
	*p = player{}
}
