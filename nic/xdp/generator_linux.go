package xdp

import (
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"loadtest/trial"
)

// Offsets of what the programs share.
const (
	hWait, hGiven, hDone, hTID = int(unsafe.Offsetof(head{}.wait)), int(unsafe.Offsetof(head{}.given)), int(unsafe.Offsetof(head{}.done)), int(unsafe.Offsetof(head{}.tid))
	hTurn                      = int(unsafe.Offsetof(head{}.turn))
	hEnd, hCount, hCredit      = int(unsafe.Offsetof(head{}.end)), int(unsafe.Offsetof(head{}.count)), int(unsafe.Offsetof(head{}.credit))

	lDue, lRem, lNum, lDen, lUnit, lLeft = int(unsafe.Offsetof(lane{}.due)), int(unsafe.Offsetof(lane{}.rem)), int(unsafe.Offsetof(lane{}.num)), int(unsafe.Offsetof(lane{}.den)), int(unsafe.Offsetof(lane{}.unit)), int(unsafe.Offsetof(lane{}.left))
	lPos, lFirst, lLimit, lTat           = int(unsafe.Offsetof(lane{}.pos)), int(unsafe.Offsetof(lane{}.first)), int(unsafe.Offsetof(lane{}.limit)), int(unsafe.Offsetof(lane{}.tat))
	lCounted, lPreroll, lCounting        = int(unsafe.Offsetof(lane{}.countedHead)), int(unsafe.Offsetof(lane{}.prerollHead)), int(unsafe.Offsetof(lane{}.counting))
	lNext, lSeq, lIntended, lSent        = int(unsafe.Offsetof(lane{}.next)), int(unsafe.Offsetof(lane{}.seq)), int(unsafe.Offsetof(lane{}.intended)), int(unsafe.Offsetof(lane{}.sent))
	lBytes, lWire, lTagged               = int(unsafe.Offsetof(lane{}.bytes)), int(unsafe.Offsetof(lane{}.wire)), int(unsafe.Offsetof(lane{}.tagged))
	lRefused, lRefusedBytes              = int(unsafe.Offsetof(lane{}.refused)), int(unsafe.Offsetof(lane{}.refusedBytes))
	lRefusedWire, lRefusedTagged         = int(unsafe.Offsetof(lane{}.refusedWire)), int(unsafe.Offsetof(lane{}.refusedTagged))
	lIndex                               = int(unsafe.Offsetof(lane{}.index))
	lLateMin, lLateMax, lLateSum         = int(unsafe.Offsetof(lane{}.lateMin)), int(unsafe.Offsetof(lane{}.lateMax)), int(unsafe.Offsetof(lane{}.lateSum))
)

// Verdicts of an XDP program.
const (
	xdpDrop     = 1
	xdpPass     = 2
	xdpRedirect = 4
)

// skips is how many packets that are too late one call passes over.
const skips = 8

// A generator is what its program is made for.
type generator struct {
	state, templates, blob, late *region
	devmap                       *ebpf.Map
	lanes, packets, blobSize     int
	longest                      int   // of the templates: the length of the frame that a call gets
	epoch                        int64 // CLOCK_MONOTONIC at the run's time zero
}

// Where the generator keeps what it knows of the packet at hand, below the frame pointer.
const (
	sLength, sTag, sAt, sStep, sRem = -8, -16, -24, -32, -40
	sCounted, sEntry                = -48, -56
)

// program sends one packet of the lane that is due first, if one is due. R6 is the frame, R7 the lane, R8 its deadline, R9 now.
func (g *generator) program() (*ebpf.Program, error) {
	c := &code{}
	c.mov(asm.R6, asm.R1)
	c.call(asm.FnKtimeGetNs)
	c.mov(asm.R9, asm.R0)
	for i := range skips {
		g.first(c)
		g.due(c)
		g.cost(c)
		again := c.fresh("again")
		if i == skips-1 {
			again = "busy"
		}
		g.skip(c, again)
		if i < skips-1 {
			c.jump("send")
			c.label(again)
		}
	}
	c.label("send")
	g.hold(c)
	g.write(c)
	g.tag(c)
	g.book(c)
	g.advance(c)
	g.redirect(c)
	c.label("busy") // come again at once
	g.stateTo(c, asm.R1)
	c.imm(asm.Mov, asm.R2, 0)
	c.store(asm.R1, hWait, asm.R2, asm.DWord)
	c.ret(xdpDrop)
	c.label("wait") // until R8
	g.stateTo(c, asm.R1)
	c.store(asm.R1, hWait, asm.R8, asm.DWord)
	c.ret(xdpDrop)
	return ebpf.NewProgram(&ebpf.ProgramSpec{Name: "lt_generator", Type: ebpf.XDP, License: "GPL", Instructions: c.Instructions})
}

func (g *generator) stateTo(c *code, r asm.Register) { c.add(asm.LoadMapValue(r, g.state.m.FD(), 0)) }

// first finds the lane that is due first. Its number goes through memory: so the kernel's verifier, which follows each way through the
// program, does not follow on with each lane by itself.
func (g *generator) first(c *code) {
	c.add(asm.LoadMapValue(asm.R1, g.state.m.FD(), uint32(headSize)))
	c.load(asm.R8, asm.R1, lDue, asm.DWord)
	if g.lanes == 1 {
		c.mov(asm.R7, asm.R1)
		return
	}
	c.imm(asm.Mov, asm.R7, 0)
	for i := 1; i < g.lanes; i++ {
		later := c.fresh("later")
		c.load(asm.R2, asm.R1, i*laneSize+lDue, asm.DWord)
		c.ifReg(asm.JGE, asm.R2, asm.R8, later)
		c.imm(asm.Mov, asm.R7, int32(i))
		c.mov(asm.R8, asm.R2)
		c.label(later)
	}
	c.store(asm.R1, hTurn-headSize, asm.R7, asm.DWord)
	c.load(asm.R7, asm.R1, hTurn-headSize, asm.DWord)
	c.imm(asm.And, asm.R7, mostLanes-1)
	c.imm(asm.Mul, asm.R7, int32(laneSize))
	c.op(asm.Add, asm.R7, asm.R1)
}

// due waits for it; a lane without a pace is due now.
func (g *generator) due(c *code) {
	paced, now := c.fresh("paced"), c.fresh("now")
	c.set(asm.R1, never)
	c.ifReg(asm.JGE, asm.R8, asm.R1, "wait")
	c.load(asm.R1, asm.R7, lNum, asm.DWord)
	c.ifImm(asm.JNE, asm.R1, 0, paced)
	c.ifReg(asm.JGE, asm.R8, asm.R9, now)
	c.mov(asm.R8, asm.R9)
	c.store(asm.R7, lDue, asm.R8, asm.DWord)
	g.stateTo(c, asm.R1)
	c.load(asm.R1, asm.R1, hEnd, asm.DWord)
	c.ifReg(asm.JLT, asm.R8, asm.R1, now)
	c.store(asm.R7, lNext, asm.R8, asm.DWord)
	c.set(asm.R1, never)
	c.store(asm.R7, lDue, asm.R1, asm.DWord)
	c.jump("busy")
	c.label(now)
	c.label(paced)
	c.ifReg(asm.JGT, asm.R8, asm.R9, "wait")
}

// cost reads the packet and how long it takes of the load.
func (g *generator) cost(c *code) {
	packets, factor, costed := c.fresh("packets"), c.fresh("factor"), c.fresh("costed")
	c.load(asm.R1, asm.R7, lPos, asm.DWord)
	c.ifImm(asm.JGE, asm.R1, int32(g.packets), "busy")
	c.imm(asm.LSh, asm.R1, 4)
	c.add(asm.LoadMapValue(asm.R2, g.templates.m.FD(), 0))
	c.op(asm.Add, asm.R2, asm.R1)
	c.load(asm.R1, asm.R2, 0, asm.Word)
	c.store(asm.RFP, sAt, asm.R1, asm.DWord)
	c.load(asm.R4, asm.R2, 4, asm.Half)
	c.store(asm.RFP, sLength, asm.R4, asm.DWord)
	c.load(asm.R1, asm.R2, 6, asm.Half)
	c.store(asm.RFP, sTag, asm.R1, asm.DWord)
	c.load(asm.R1, asm.R7, lUnit, asm.DWord)
	c.ifImm(asm.JEq, asm.R1, int32(trial.Packets), packets)
	c.ifImm(asm.JEq, asm.R1, int32(trial.Factor), factor)
	wireBits(c, asm.R4)
	c.jump(costed)
	c.label(factor)
	c.load(asm.R4, asm.R2, 8, asm.DWord)
	c.jump(costed)
	c.label(packets)
	c.imm(asm.Mov, asm.R4, 1)
	c.label(costed)
	c.load(asm.R1, asm.R7, lNum, asm.DWord)
	c.op(asm.Mul, asm.R4, asm.R1)
	c.load(asm.R1, asm.R7, lRem, asm.DWord)
	c.op(asm.Add, asm.R4, asm.R1)
	c.load(asm.R1, asm.R7, lDen, asm.DWord)
	c.mov(asm.R2, asm.R4)
	c.op(asm.Div, asm.R2, asm.R1)
	c.store(asm.RFP, sStep, asm.R2, asm.DWord)
	c.op(asm.Mul, asm.R2, asm.R1)
	c.op(asm.Sub, asm.R4, asm.R2)
	c.store(asm.RFP, sRem, asm.R4, asm.DWord)
	// Is it counted?
	uncounted := c.fresh("uncounted")
	g.stateTo(c, asm.R1)
	c.load(asm.R1, asm.R1, hCount, asm.DWord)
	c.imm(asm.Mov, asm.R2, 0)
	c.ifReg(asm.JLT, asm.R8, asm.R1, uncounted)
	c.imm(asm.Mov, asm.R2, 1)
	c.label(uncounted)
	c.store(asm.RFP, sCounted, asm.R2, asm.DWord)
}

// skip passes over a packet that is too late: it stays unsent.
func (g *generator) skip(c *code, again string) {
	sent, uncounted := c.fresh("in_time"), c.fresh("uncounted")
	c.load(asm.R1, asm.R7, lNum, asm.DWord)
	c.ifImm(asm.JEq, asm.R1, 0, sent)
	c.mov(asm.R2, asm.R9)
	c.op(asm.Sub, asm.R2, asm.R8)
	g.stateTo(c, asm.R1)
	c.load(asm.R1, asm.R1, hCredit, asm.DWord)
	c.ifReg(asm.JLE, asm.R2, asm.R1, sent)
	c.load(asm.R1, asm.RFP, sCounted, asm.DWord)
	c.ifImm(asm.JEq, asm.R1, 0, uncounted)
	c.count(asm.R7, lIntended, 1, asm.R1)
	c.label(uncounted)
	g.advance(c)
	c.jump(again)
	c.label(sent)
}

// advance goes on to the lane's next packet.
func (g *generator) advance(c *code) {
	within, limited, through := c.fresh("within"), c.fresh("limited"), c.fresh("through")
	c.load(asm.R1, asm.R7, lPos, asm.DWord)
	c.imm(asm.Add, asm.R1, 1)
	c.load(asm.R2, asm.R7, lLimit, asm.DWord)
	c.ifReg(asm.JLT, asm.R1, asm.R2, within)
	c.load(asm.R1, asm.R7, lFirst, asm.DWord)
	c.label(within)
	c.store(asm.R7, lPos, asm.R1, asm.DWord)
	c.load(asm.R1, asm.RFP, sRem, asm.DWord)
	c.store(asm.R7, lRem, asm.R1, asm.DWord)
	c.load(asm.R1, asm.RFP, sStep, asm.DWord)
	c.op(asm.Add, asm.R1, asm.R8)
	c.store(asm.R7, lNext, asm.R1, asm.DWord)
	g.stateTo(c, asm.R2)
	c.load(asm.R2, asm.R2, hEnd, asm.DWord)
	c.ifReg(asm.JLT, asm.R1, asm.R2, limited)
	c.set(asm.R1, never)
	c.label(limited)
	c.load(asm.R2, asm.R7, lLeft, asm.DWord)
	c.imm(asm.Sub, asm.R2, 1)
	c.store(asm.R7, lLeft, asm.R2, asm.DWord)
	c.ifImm(asm.JNE, asm.R2, 0, through)
	c.set(asm.R1, never)
	c.label(through)
	c.store(asm.R7, lDue, asm.R1, asm.DWord)
}

// hold keeps a late lane from more than twice its load, a burst of 32 packets excepted.
func (g *generator) hold(c *code) {
	free, early := c.fresh("free"), c.fresh("early")
	c.load(asm.R1, asm.R7, lNum, asm.DWord)
	c.ifImm(asm.JEq, asm.R1, 0, free)
	c.load(asm.R1, asm.R7, lTat, asm.DWord)
	c.load(asm.R2, asm.RFP, sStep, asm.DWord)
	c.mov(asm.R3, asm.R2)
	c.imm(asm.LSh, asm.R3, 4) // half the time of 32 packets
	c.mov(asm.R4, asm.R9)
	c.op(asm.Add, asm.R4, asm.R3)
	c.ifReg(asm.JGT, asm.R1, asm.R4, early)
	inTime := c.fresh("in_time")
	c.ifReg(asm.JGE, asm.R1, asm.R9, inTime)
	c.mov(asm.R1, asm.R9)
	c.label(inTime)
	c.imm(asm.RSh, asm.R2, 1)
	c.op(asm.Add, asm.R1, asm.R2)
	c.store(asm.R7, lTat, asm.R1, asm.DWord)
	c.jump(free)
	c.label(early)
	c.mov(asm.R8, asm.R1)
	c.op(asm.Sub, asm.R8, asm.R3)
	c.jump("wait")
	c.label(free)
}
