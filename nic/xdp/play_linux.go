package xdp

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"loadtest/nic"
	"loadtest/packet"
	"loadtest/trial"
)

const (
	playFor = int64(time.Millisecond)      // one Play
	nearby  = int64(20 * time.Microsecond) // what is due within it is waited for in place
)

// A player is one thread's generator and what belongs to it.
type player struct {
	name  string // of the port: IF or IF@NETNS
	index int    // of the interface
	epoch int64

	lanes     []nic.Lane
	generator generator
	program   *ebpf.Program
	watch     *watch
	idle      *idle
	run       *run
	plan      nic.Plan
	batch     int
	repeat    int
}

func (p *player) head() *head      { return at[head](p.generator.state, 0) }
func (p *player) lane(i int) *lane { return at[lane](p.generator.state, headSize+i*laneSize) }
func (p *player) clock(t int64) uint64 {
	if t == nic.Never {
		return never
	}
	return uint64(t + p.epoch)
}

// Begin writes the plan to where the program reads it.
func (p *player) Begin(plan nic.Plan) error {
	p.plan = plan
	clear(p.generator.state.bytes[headSize:ringAt])
	clear(p.generator.late.bytes)
	h := p.head()
	*h = head{end: p.clock(plan.End), count: p.clock(plan.Count), credit: uint64(plan.Credit)}
	first, rate := 0, 0.0
	for i, load := range plan.Lanes {
		n := &p.lanes[i]
		tagged := packet.Tag{Magic: n.Magic, Lane: n.ID, Trial: plan.Trial}
		preroll := tagged
		preroll.Trial = plan.Preroll
		l := p.lane(i)
		*l = lane{due: p.clock(plan.Start + load.Lead), num: load.Num, den: load.Den, unit: uint64(load.Unit), left: uint64(load.Packets), index: uint64(i),
			pos: uint64(first), first: uint64(first), limit: uint64(first + n.Store.Len()), countedHead: front(tagged), prerollHead: front(preroll), lateMin: never}
		l.next = l.due
		if load.Packets == 0 {
			l.left = never
		}
		if load.Den == 0 || l.due >= h.end {
			l.due = never
		}
		first += n.Store.Len()
		rate += speed(load, n)
	}
	p.batch, p.repeat = pieces(rate)
	return nil
}

// front is a tag's first eight bytes behind the compensation, without a sequence number.
func front(t packet.Tag) uint64 {
	return uint64(t.Magic)<<48 | uint64(t.Lane)<<40 | uint64(t.Trial)<<32
}

// speed is about how many packets/s a lane sends.
func speed(load nic.Load, l *nic.Lane) float64 {
	if load.Num == 0 {
		return math.Inf(1)
	}
	cost := 1.0
	switch load.Unit {
	case trial.WireBits:
		cost = float64(l.Store.Bytes()+24*int64(l.Store.Len())) * 8 / float64(l.Store.Len())
	case trial.Factor:
		var sum int64
		for _, g := range l.Gaps {
			sum += g
		}
		cost = max(1, float64(sum)/float64(len(l.Gaps)))
	}
	return 1e9 * float64(load.Den) / (cost * float64(load.Num))
}

// pieces are how many packets leave together, and for how many a call is made. They leave when their batch ends, even if the rest of it
// was not due: so at low rates few. A call costs 20 µs, one that finds nothing due 0.15: from some rate on the program waits in the call.
func pieces(rate float64) (batch, repeat int) {
	switch {
	case rate <= 20e3:
		return 1, 1
	case rate <= 150e3:
		batch = 1
	case rate <= 300e3:
		batch = 2
	case rate <= 600e3:
		batch = 4
	case rate <= 1.2e6:
		batch = 16
	default:
		batch = 64
	}
	return batch, 2048
}

// Play lets the program send for a while.
func (p *player) Play(now int64) (next int64, err error) {
	h := p.head()
	h.tid = uint64(unix.Gettid())
	until := now + playFor
	for {
		if err := p.run.times(p.repeat, p.batch); err != nil {
			return 0, fmt.Errorf("run the generator: %w", err)
		}
		wait := atomic.LoadUint64(&h.wait)
		now = monotonic() - p.epoch
		switch {
		case wait == never:
			return nic.Never, nil
		case wait != 0 && int64(wait)-p.epoch > now+nearby:
			return int64(wait) - p.epoch, nil
		case now >= until:
			return now, nil
		}
	}
}

func monotonic() int64 {
	var t unix.Timespec
	unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

// Played reads the lane's books.
func (p *player) Played(i int) (o nic.Offer) {
	l := p.lane(i)
	refused := get(&l.refused)
	o = nic.Offer{Intended: get(&l.intended), Sent: get(&l.sent) - refused, Bytes: get(&l.bytes) - get(&l.refusedBytes),
		WireBits: get(&l.wire) - get(&l.refusedWire), Refused: get(&l.refusedTagged), Due: get(&l.next)}
	o.Tagged = get(&l.tagged) - o.Refused
	if l.counting != 0 {
		o.Issued = get(&l.seq)
	}
	if p.plan.Lanes[i].Num == 0 {
		o.Intended = o.Sent // what the port takes is what was meant
	}
	if o.Due != never {
		o.Due -= p.epoch
	}
	return o
}

// Lateness reads the lane's histogram. The frames that were refused are among it.
func (p *player) Lateness(i int, into *trial.Histogram) {
	l := p.lane(i)
	if l.lateMin == never {
		return
	}
	into.AddCells(p.generator.late.cells(i), int64(l.lateMin), int64(l.lateMax), float64(l.lateSum))
}
