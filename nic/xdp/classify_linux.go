package xdp

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"

	"loadtest/internal/xdp"
	"loadtest/nic"
	"loadtest/trial"
)

// The memory that tells the classifier what to await. Times are of CLOCK_MONOTONIC.
type await struct {
	magic          uint64 // as two bytes of a packet are read
	trial, preroll uint64 // preroll: noTrial, if there is none
	generation     uint64 // of what is in the windows
	half, halfEnd  uint64
	_              [2]uint64
	lanes          [256]uint8 // 1: awaited
}

const noTrial = 1 << 8

// arrivals is what is counted of a lane, under its lock: the packets of one lane may come at several CPUs.
type arrivals struct {
	lock                          uint32 // struct bpf_spin_lock
	_                             uint32
	top                           uint64
	received, bytes, wire         uint64
	duplicated, reordered, tooOld uint64
	last                          uint64
	halfPackets, halfBytes        uint64
	halfWire                      uint64
	latMin, latMax, latSum        uint64
	_                             uint64
}

// A window remembers the last 2^20 sequence numbers of a lane, as match.Window does: in words of 64, each with its own number, so
// that an old word is known for one, and nothing is cleared.
const (
	windowWords = 1 << 14
	wordSize    = 16
	windowShift = 18 // log2 of a window's size
)

// A classifier is the program at an interface and its memory.
type classifier struct {
	epoch      int64
	attachment *xdp.Attachment

	mu sync.Mutex // Classify, Classified and Close may be of different goroutines
	memory
	generation uint64
	open       bool
}

// A memory is for so many lanes, and a program that uses it.
type memory struct {
	lanes   int
	await   *region
	counts  *ebpf.Map
	windows *region
	cells   *region
	program *ebpf.Program
}

// newClassifier puts a program at an interface of the thread's network namespace.
func newClassifier(index int, epoch int64) (c *classifier, err error) {
	c = &classifier{epoch: epoch, open: true}
	if err := c.make(1); err != nil {
		return nil, err
	}
	if c.attachment, err = xdp.Attach(c.program, index, ""); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// make makes memory for so many lanes, and a program that uses it.
func (c *classifier) make(lanes int) (err error) {
	old := c.memory
	c.memory = memory{lanes: lanes}
	defer func() {
		if err != nil {
			c.free()
			c.memory = old
		}
	}()
	for _, r := range []struct {
		to   **region
		name string
		size int
	}{{&c.await, "lt_await", int(unsafe.Sizeof(await{}))}, {&c.windows, "lt_windows", lanes << windowShift}, {&c.cells, "lt_latency", lanes * cellsSize}} {
		if *r.to, err = newRegion(r.name, r.size); err != nil {
			return err
		}
	}
	u32 := &btf.Int{Name: "unsigned int", Size: 4}
	u64 := &btf.Int{Name: "unsigned long", Size: 8}
	lock := &btf.Struct{Name: "bpf_spin_lock", Size: 4, Members: []btf.Member{{Name: "val", Type: u32}}}
	rest := &btf.Array{Index: u32, Type: u64, Nelems: uint32(unsafe.Sizeof(arrivals{})/8 - 1)}
	value := &btf.Struct{Name: "arrivals", Size: uint32(unsafe.Sizeof(arrivals{})),
		Members: []btf.Member{{Name: "lock", Type: lock}, {Name: "rest", Type: rest, Offset: 64}}}
	c.counts, err = ebpf.NewMap(&ebpf.MapSpec{Name: "lt_arrivals", Type: ebpf.Array, KeySize: 4, ValueSize: value.Size, MaxEntries: uint32(lanes), Key: u32, Value: value})
	if err != nil {
		return fmt.Errorf("make a map with a lock: %w", err)
	}
	c.program, err = c.code()
	if err != nil {
		return fmt.Errorf("load the classifier: %w", err)
	}
	if old.program != nil && c.attachment != nil {
		if err = c.attachment.Update(c.program); err != nil {
			return fmt.Errorf("replace the classifier: %w", err)
		}
		old.free()
	}
	return nil
}

func (c *memory) free() {
	c.await.close()
	c.windows.close()
	c.cells.close()
	if c.counts != nil {
		c.counts.Close()
	}
	if c.program != nil {
		c.program.Close()
	}
}

// begin awaits the lanes of a trial; without any the program passes all on.
func (c *classifier) begin(a nic.Await) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.open {
		return nic.ErrClosed
	}
	most := 0
	for _, id := range a.Lanes {
		most = max(most, int(id)+1)
	}
	if most > c.lanes {
		if err := c.make(most); err != nil {
			return err
		}
	}
	w := at[await](c.await, 0)
	w.lanes = [256]uint8{} // first: nothing is counted while the rest changes
	if most == 0 {
		return nil
	}
	c.generation++
	w.generation = c.generation << 40
	w.magic, w.trial, w.preroll = uint64(be16(a.Magic)), uint64(a.Trial), noTrial
	if a.Preroll != 0 {
		w.preroll = uint64(a.Preroll)
	}
	w.half, w.halfEnd = uint64(a.Half+c.epoch), uint64(a.HalfEnd+c.epoch)
	clear(c.cells.bytes)
	for i := range uint32(c.lanes) {
		if err := c.counts.Update(i, arrivals{latMin: never}, ebpf.UpdateLock); err != nil {
			return fmt.Errorf("empty the books: %w", err)
		}
	}
	for _, id := range a.Lanes {
		w.lanes[id] = 1
	}
	return nil
}

func be16(v uint16) uint16 { return v<<8 | v>>8 }

// read takes a lane's books out.
func (c *classifier) read(id uint8) (a nic.Arrivals) {
	v, ok := c.lookup(id)
	if !ok {
		return a
	}
	a = nic.Arrivals{Received: int64(v.received), Bytes: int64(v.bytes), WireBits: int64(v.wire), Duplicated: int64(v.duplicated),
		Reordered: int64(v.reordered), TooOld: int64(v.tooOld), Top: int64(v.top)}
	a.Half.Packets, a.Half.Bytes, a.Half.WireBits = int64(v.halfPackets), int64(v.halfBytes), int64(v.halfWire)
	if v.last != 0 {
		a.Last = int64(v.last) - c.epoch
	}
	return a
}

func (c *classifier) lookup(id uint8) (v arrivals, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.open || int(id) >= c.lanes {
		return v, false
	}
	key := uint32(id)
	attr := struct {
		fd         uint32
		_          uint32
		key, value uint64
		flags      uint64
	}{uint32(c.counts.FD()), 0, uint64(uintptr(unsafe.Pointer(&key))), uint64(uintptr(unsafe.Pointer(&v))), uint64(ebpf.LookupLock)}
	const cmdLookup = 1 // BPF_MAP_LOOKUP_ELEM; by hand, since the library's call makes garbage each time
	_, _, errno := unix.RawSyscall(unix.SYS_BPF, cmdLookup, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	return v, errno == 0
}

func (c *classifier) latency(id uint8, into *trial.Histogram) {
	if v, ok := c.lookup(id); ok && v.latMin != never {
		into.AddCells(c.cells.cells(int(id)), int64(v.latMin), int64(v.latMax), float64(v.latSum))
	}
}

func (c *classifier) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.open {
		return nil
	}
	c.open = false
	var err error
	if c.attachment != nil {
		err = c.attachment.Close()
	}
	c.free()
	return err
}
