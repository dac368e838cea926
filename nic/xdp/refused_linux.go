package xdp

import (
	"fmt"
	"io/fs"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// A watch is two programs at tracepoints, which take what the driver refused off the books of the lanes.
type watch struct {
	programs []*ebpf.Program
	links    []link.Link
}

// watchDriver begins to watch what becomes of the frames that the generator, a program of that id, gives to an interface.
func watchDriver(state *region, lanes, ifindex int, generator ebpf.ProgramID) (w *watch, err error) {
	w = &watch{}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	kernel, err := btf.LoadKernelSpec()
	if err != nil {
		return nil, fmt.Errorf("the kernel's type information (BTF): %w", err)
	}
	at := offsets{kernel: kernel}
	whose, err := playing(state)
	if err != nil {
		return nil, err
	}
	index := at.of("net_device", "ifindex")
	aux, id := at.of("bpf_prog", "aux"), at.of("bpf_prog_aux", "id")
	if at.err != nil {
		return nil, at.err
	}
	for point, code := range map[string]*code{
		"xdp_devmap_xmit":  bulk(whose, lanes, ifindex, index),
		"xdp_redirect_err": single(whose, lanes, int(generator), aux, id),
	} {
		p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "lt_" + point[4:], Type: ebpf.Tracing, AttachType: ebpf.AttachTraceRawTp, AttachTo: point,
			License: "GPL", Instructions: code.Instructions})
		if err != nil {
			return w, fmt.Errorf("program at tracepoint %s: %w", point, err)
		}
		w.programs = append(w.programs, p)
		l, err := link.AttachTracing(link.TracingOptions{Program: p, AttachType: ebpf.AttachTraceRawTp})
		if err != nil {
			return w, fmt.Errorf("tracepoint %s: %w", point, err)
		}
		w.links = append(w.links, l)
	}
	return w, nil
}

func (w *watch) close() {
	if w == nil {
		return
	}
	for _, l := range w.links {
		l.Close()
	}
	for _, p := range w.programs {
		p.Close()
	}
}

// offsets finds members of the kernel's structs.
type offsets struct {
	kernel *btf.Spec
	err    error
}

func (o *offsets) of(name, member string) int {
	var s *btf.Struct
	if err := o.kernel.TypeByName(name, &s); err != nil {
		o.err = fmt.Errorf("struct %s: %w", name, err)
		return 0
	}
	for _, m := range s.Members {
		if m.Name == member {
			return int(m.Offset.Bytes())
		}
	}
	o.err = fmt.Errorf("struct %s has no %s", name, member)
	return 0
}

// A whose tells the thread that plays from others: by its number in the process's namespace of those, which is not the kernel's own
// in a container.
type whose struct {
	*region
	device, inode int64 // of the namespace
}

func playing(state *region) (w whose, err error) {
	var s unix.Stat_t
	if err := unix.Stat("/proc/self/ns/pid", &s); err != nil {
		return w, &fs.PathError{Op: "stat", Path: "/proc/self/ns/pid", Err: err}
	}
	const minorBits = 20 // of the kernel's dev_t
	return whose{state, int64(unix.Major(s.Dev))<<minorBits | int64(unix.Minor(s.Dev)), int64(s.Ino)}, nil
}

// only leaves a tracepoint's program unless the thread that plays is running. R6 becomes the arguments.
func (w whose) only(c *code) {
	const infoSize = 8 // struct bpf_pidns_info: numbers of the thread and the process
	c.mov(asm.R6, asm.R1)
	c.set(asm.R1, w.device)
	c.set(asm.R2, w.inode)
	c.mov(asm.R3, asm.RFP)
	c.imm(asm.Add, asm.R3, -infoSize)
	c.imm(asm.Mov, asm.R4, infoSize)
	c.call(asm.FnGetNsCurrentPidTgid)
	c.ifImm(asm.JNE, asm.R0, 0, "out") // of another namespace
	c.load(asm.R0, asm.RFP, -infoSize, asm.Word)
	c.add(asm.LoadMapValue(asm.R1, w.m.FD(), 0))
	c.load(asm.R1, asm.R1, hTID, asm.DWord)
	c.ifReg(asm.JNE, asm.R0, asm.R1, "out")
}

// bulk is xdp_devmap_xmit(from, to, sent, drops, err): of so many frames in a row the driver took the first, and refused the last.
func bulk(w whose, lanes, ifindex, indexAt int) *code {
	c := &code{}
	w.only(c)
	c.load(asm.R1, asm.R6, 8, asm.DWord)
	c.load(asm.R1, asm.R1, indexAt, asm.Word)
	c.ifImm(asm.JNE, asm.R1, int32(ifindex), "out")
	c.load(asm.R7, asm.R6, 16, asm.DWord)
	c.add(asm.Mov.Reg32(asm.R7, asm.R7))
	c.load(asm.R8, asm.R6, 24, asm.DWord)
	c.add(asm.Mov.Reg32(asm.R8, asm.R8))
	c.add(asm.LoadMapValue(asm.R1, w.m.FD(), 0))
	c.load(asm.R9, asm.R1, hDone, asm.DWord)
	c.op(asm.Add, asm.R9, asm.R7) // of the first that was refused
	c.mov(asm.R2, asm.R9)
	c.op(asm.Add, asm.R2, asm.R8)
	c.store(asm.R1, hDone, asm.R2, asm.DWord)
	c.load(asm.R7, asm.R6, 32, asm.DWord)
	c.add(asm.Mov.Reg32(asm.R7, asm.R7))
	const mostBulk = 16 // DEV_MAP_BULK_SIZE
	for i := range mostBulk {
		next := c.fresh("next")
		c.ifImm(asm.JLE, asm.R8, int32(i), "out")
		c.mov(asm.R3, asm.R9)
		c.imm(asm.Add, asm.R3, int32(i))
		entry(c, w.region, asm.R3, asm.R5, asm.R4)
		again(c, w.region, lanes, next)
		charge(c, w.region, lanes, asm.R5, next)
		c.label(next)
	}
	c.label("out")
	c.ret(0)
	return c
}

// single is xdp_redirect_err(dev, prog, …): the frame that was given last was refused before it was queued.
func single(w whose, lanes, generator, auxAt, idAt int) *code {
	c := &code{}
	w.only(c)
	c.load(asm.R1, asm.R6, 8, asm.DWord)
	c.load(asm.R1, asm.R1, auxAt, asm.DWord)
	c.load(asm.R1, asm.R1, idAt, asm.Word)
	c.ifImm(asm.JNE, asm.R1, int32(generator), "out")
	c.add(asm.LoadMapValue(asm.R1, w.m.FD(), 0))
	c.load(asm.R3, asm.R1, hGiven, asm.DWord)
	c.imm(asm.Sub, asm.R3, 1)
	c.store(asm.R1, hGiven, asm.R3, asm.DWord)
	entry(c, w.region, asm.R3, asm.R5, asm.R4)
	charge(c, w.region, lanes, asm.R5, "out")
	c.label("out")
	c.ret(0)
	return c
}

// entry reads the ring at a place that counts on for ever.
func entry(c *code, state *region, place, to, tmp asm.Register) {
	c.imm(asm.And, place, ringSlots-1)
	c.imm(asm.LSh, place, 2)
	c.add(asm.LoadMapValue(tmp, state.m.FD(), uint32(ringAt)))
	c.op(asm.Add, tmp, place)
	c.load(to, tmp, 0, asm.Word)
}

// again lets a lane without a pace send one more where the driver had no room, and R7, its error, is none: of a given number of packets
// that many are sent. The frame's entry is in R5.
func again(c *code, state *region, lanes int, out string) {
	enough := c.fresh("enough")
	c.ifImm(asm.JNE, asm.R7, 0, enough)
	laneOf(c, state, lanes, asm.R5, out)
	c.load(asm.R1, asm.R2, lNum, asm.DWord)
	c.ifImm(asm.JNE, asm.R1, 0, enough)
	c.count(asm.R2, lLeft, 1, asm.R1)
	c.load(asm.R1, asm.R2, lNext, asm.DWord)
	c.add(asm.LoadMapValue(asm.R3, state.m.FD(), 0))
	c.load(asm.R4, asm.R3, hEnd, asm.DWord)
	c.ifReg(asm.JGE, asm.R1, asm.R4, enough)
	c.store(asm.R2, lDue, asm.R1, asm.DWord)
	c.imm(asm.Mov, asm.R1, 0)
	c.store(asm.R3, hWait, asm.R1, asm.DWord) // the lane may have seemed to be through
	c.label(enough)
}

// laneOf makes R2 the lane of an entry; R1 is lost. out is where to go if there is none.
func laneOf(c *code, state *region, lanes int, r asm.Register, out string) {
	c.mov(asm.R1, r)
	c.imm(asm.And, asm.R1, 0xff)
	c.ifImm(asm.JGE, asm.R1, int32(lanes), out)
	c.imm(asm.Mul, asm.R1, int32(laneSize))
	c.add(asm.LoadMapValue(asm.R2, state.m.FD(), uint32(headSize)))
	c.op(asm.Add, asm.R2, asm.R1)
}

// charge takes the frame of an entry, in R5, off its lane's books. R1 to R4 are lost; out is where to go if it is not in any.
func charge(c *code, state *region, lanes int, r asm.Register, out string) {
	untagged := c.fresh("untagged")
	laneOf(c, state, lanes, r, out)
	c.mov(asm.R1, r)
	c.imm(asm.And, asm.R1, flagCounted)
	c.ifImm(asm.JEq, asm.R1, 0, out)
	c.count(asm.R2, lRefused, 1, asm.R1)
	c.mov(asm.R3, r)
	c.imm(asm.RSh, asm.R3, lengthShift)
	c.grow(asm.R2, lRefusedBytes, asm.R3, asm.R1)
	wireBits(c, asm.R3)
	c.grow(asm.R2, lRefusedWire, asm.R3, asm.R1)
	c.mov(asm.R1, r)
	c.imm(asm.And, asm.R1, flagTagged)
	c.ifImm(asm.JEq, asm.R1, 0, untagged)
	c.count(asm.R2, lRefusedTagged, 1, asm.R1)
	c.label(untagged)
}
