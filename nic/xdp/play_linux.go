package xdp

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"loadtest/internal/link"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/trial"
)

const (
	longestFrame = 3408      // of one page, less what the kernel keeps in it
	mostBytes    = 500 << 20 // of all packets: a program reaches no farther into one value

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

// Load makes a program for the packets. Whatever is in its way, the packet socket sends them then.
func (p *player) Load(lanes []nic.Lane) error {
	p.close()
	p.lanes = lanes
	err := p.measure()
	if err == nil {
		err = p.make()
	}
	if err != nil {
		p.close()
		return fmt.Errorf("%w: %w", err, nic.ErrNotPlayed)
	}
	p.run = newRun(p.program.FD(), make([]byte, p.generator.longest))
	return nil
}

// measure says what the packets need, or why they are too much.
func (p *player) measure() error {
	if len(p.lanes) > mostLanes {
		return fmt.Errorf("%d streams out of one queue, the kernel plays %d", len(p.lanes), mostLanes)
	}
	g := &p.generator
	*g = generator{lanes: len(p.lanes), epoch: p.epoch}
	for _, l := range p.lanes {
		for i := range l.Store.Len() {
			size := l.Store.Size(i)
			if size > longestFrame {
				return fmt.Errorf("a packet of %d bytes, the kernel plays up to %d", size, longestFrame)
			}
			g.longest = max(g.longest, size)
			g.blobSize += (size + 7) &^ 7
			g.packets++
		}
	}
	g.blobSize += longestFrame &^ 7
	if g.blobSize > mostBytes {
		return fmt.Errorf("%d MB of packets, the kernel plays up to %d", g.blobSize>>20, mostBytes>>20)
	}
	return nil
}

// make makes all that playing takes.
func (p *player) make() (err error) {
	g := &p.generator
	if err := g.memory(); err != nil {
		return err
	}
	p.stock()
	if err := p.target(); err != nil {
		return err
	}
	if p.program, err = g.program(); err != nil {
		return fmt.Errorf("load the generator: %w", err)
	}
	info, err := p.program.Info()
	if err != nil {
		return fmt.Errorf("ask for the generator's number: %w", err)
	}
	id, _ := info.ID()
	if p.watch, err = watchDriver(g.state, g.lanes, p.index, id); err != nil {
		return err
	}
	p.idle, err = newIdle(p.program)
	return err
}

// memory makes the maps.
func (g *generator) memory() (err error) {
	for _, r := range []struct {
		to   **region
		name string
		size int
	}{{&g.state, "lt_state", stateSize}, {&g.templates, "lt_templates", g.packets * templateSize}, {&g.blob, "lt_packets", g.blobSize},
		{&g.late, "lt_lateness", g.lanes * cellsSize}} {
		if *r.to, err = newRegion(r.name, r.size); err != nil {
			return err
		}
	}
	return nil
}

// stock copies the packets to where the program finds them.
func (p *player) stock() {
	g, i, end := &p.generator, 0, 0
	for _, l := range p.lanes {
		for k := range l.Store.Len() {
			b := l.Store.Frame(k).Data
			t := at[template](g.templates, i*templateSize)
			*t = template{at: uint32(end / 8), length: uint16(len(b)), tag: noTag, gap: uint64(l.Gaps[k])}
			if tag := l.Tags[k]; tag >= 0 {
				t.tag = uint16(tag)
			}
			copy(g.blob.bytes[end:], b)
			end += (len(b) + 7) &^ 7
			i++
		}
	}
}

// target makes the map that redirection goes by.
func (p *player) target() (err error) {
	g := &p.generator
	if g.devmap, err = ebpf.NewMap(&ebpf.MapSpec{Name: "lt_port", Type: ebpf.DevMap, KeySize: 4, ValueSize: 4, MaxEntries: 1}); err != nil {
		return fmt.Errorf("make a devmap: %w", err)
	}
	return link.At(p.name, func(string) error { // the index is one of this namespace
		return g.devmap.Put(uint32(0), uint32(p.index))
	})
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

func (p *player) close() {
	g := &p.generator
	p.watch.close()
	p.idle.close()
	if p.program != nil {
		p.program.Close()
	}
	if g.devmap != nil {
		g.devmap.Close()
	}
	for _, r := range []*region{g.state, g.templates, g.blob, g.late} {
		r.close()
	}
	*g, p.watch, p.idle, p.program = generator{}, nil, nil, nil
}
