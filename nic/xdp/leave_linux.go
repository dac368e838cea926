package xdp

import (
	"github.com/cilium/ebpf/asm"

	"loadtest/trial"
	"loadtest/units"
)

// write makes the frame the packet.
func (g *generator) write(c *code) {
	whole := c.fresh("whole")
	c.load(asm.R2, asm.RFP, sLength, asm.DWord)
	c.imm(asm.Sub, asm.R2, int32(g.longest))
	c.ifImm(asm.JEq, asm.R2, 0, whole)
	c.mov(asm.R1, asm.R6)
	c.call(asm.FnXdpAdjustTail)
	c.ifImm(asm.JNE, asm.R0, 0, "busy") // it only shrinks: this cannot be
	c.label(whole)
	c.mov(asm.R1, asm.R6)
	c.imm(asm.Mov, asm.R2, 0)
	c.load(asm.R5, asm.RFP, sAt, asm.DWord)
	c.ifImm(asm.JGT, asm.R5, int32((g.blobSize-g.longest)/8), "busy")
	c.imm(asm.LSh, asm.R5, 3)
	c.add(asm.LoadMapValue(asm.R3, g.blob.m.FD(), 0))
	c.op(asm.Add, asm.R3, asm.R5)
	c.load(asm.R4, asm.RFP, sLength, asm.DWord)
	c.ifImm(asm.JGT, asm.R4, int32(g.longest), "busy")
	c.ifImm(asm.JLT, asm.R4, 14, "busy")
	c.call(asm.FnXdpStoreBytes)
}

// tag puts the tag, if the packet has one.
func (g *generator) tag(c *code) {
	none, counting, preroll := "untagged", c.fresh("counting"), c.fresh("preroll")
	c.load(asm.R5, asm.RFP, sTag, asm.DWord)
	c.ifImm(asm.JEq, asm.R5, noTag, none)
	c.load(asm.R3, asm.R7, lPreroll, asm.DWord)
	c.load(asm.R1, asm.RFP, sCounted, asm.DWord)
	c.ifImm(asm.JEq, asm.R1, 0, preroll)
	c.load(asm.R3, asm.R7, lCounted, asm.DWord)
	c.load(asm.R1, asm.R7, lCounting, asm.DWord)
	c.ifImm(asm.JNE, asm.R1, 0, counting)
	c.imm(asm.Mov, asm.R1, 1)
	c.store(asm.R7, lCounting, asm.R1, asm.DWord)
	c.imm(asm.Mov, asm.R1, 0)
	c.store(asm.R7, lSeq, asm.R1, asm.DWord)
	c.label(counting)
	c.label(preroll)
	c.load(asm.R1, asm.R7, lSeq, asm.DWord)
	c.mov(asm.R2, asm.R1)
	c.imm(asm.Add, asm.R2, 1)
	c.store(asm.R7, lSeq, asm.R2, asm.DWord)
	c.add(asm.Mov.Reg32(asm.R1, asm.R1))
	c.op(asm.Or, asm.R3, asm.R1) // the tag's first eight bytes
	c.mov(asm.R4, asm.R9)
	c.set(asm.R1, g.epoch)
	c.op(asm.Sub, asm.R4, asm.R1) // and the time
	c.load(asm.R0, asm.R6, 0, asm.Word)
	c.load(asm.R2, asm.R6, 4, asm.Word)
	c.imm(asm.And, asm.R5, 0xfff)
	c.op(asm.Add, asm.R0, asm.R5)
	c.mov(asm.R1, asm.R0)
	c.imm(asm.Add, asm.R1, 18)
	c.ifReg(asm.JGT, asm.R1, asm.R2, "busy") // no tag lies beyond its packet
	c.mov(asm.R1, asm.R3)
	c.add(asm.HostTo(asm.BE, asm.R1, asm.DWord))
	c.store(asm.R0, 2, asm.R1, asm.DWord)
	c.mov(asm.R1, asm.R4)
	c.add(asm.HostTo(asm.BE, asm.R1, asm.DWord))
	c.store(asm.R0, 10, asm.R1, asm.DWord)
	c.fold(asm.R3, asm.R4, asm.R1)
	c.imm(asm.Xor, asm.R3, 0xffff)
	c.add(asm.HostTo(asm.BE, asm.R3, asm.Half))
	c.store(asm.R0, 0, asm.R3, asm.Half)
	c.label(none)
}

// book counts the packet, and notes in the ring whose it is.
func (g *generator) book(c *code) {
	uncounted, tagged := c.fresh("uncounted"), c.fresh("tagged")
	c.load(asm.R5, asm.R7, lIndex, asm.DWord)
	c.load(asm.R4, asm.RFP, sLength, asm.DWord)
	c.mov(asm.R1, asm.R4)
	c.imm(asm.LSh, asm.R1, lengthShift)
	c.op(asm.Or, asm.R5, asm.R1)
	c.load(asm.R1, asm.RFP, sTag, asm.DWord)
	c.ifImm(asm.JEq, asm.R1, noTag, tagged)
	c.imm(asm.Or, asm.R5, flagTagged)
	c.label(tagged)
	c.load(asm.R1, asm.RFP, sCounted, asm.DWord)
	c.ifImm(asm.JEq, asm.R1, 0, uncounted)
	c.imm(asm.Or, asm.R5, flagCounted)
	c.count(asm.R7, lIntended, 1, asm.R1)
	c.count(asm.R7, lSent, 1, asm.R1)
	c.grow(asm.R7, lBytes, asm.R4, asm.R1)
	wireBits(c, asm.R4)
	c.grow(asm.R7, lWire, asm.R4, asm.R1)
	none := c.fresh("untagged")
	c.load(asm.R1, asm.RFP, sTag, asm.DWord)
	c.ifImm(asm.JEq, asm.R1, noTag, none)
	c.count(asm.R7, lTagged, 1, asm.R1)
	c.label(none)
	g.lateness(c)
	c.label(uncounted)
	c.store(asm.RFP, sEntry, asm.R5, asm.DWord)
}

// lateness counts how late the packet is; R5 stays.
func (g *generator) lateness(c *code) {
	g.extremes(c)
	c.mov(asm.R2, asm.R9)
	c.op(asm.Sub, asm.R2, asm.R8)
	c.cell(asm.R2, asm.R3, asm.R4)
	c.ifImm(asm.JGE, asm.R2, trial.HistogramCells, "busy")
	c.imm(asm.LSh, asm.R2, 3)
	c.mov(asm.R1, asm.R5)
	c.imm(asm.And, asm.R1, 0xff)
	c.ifImm(asm.JGE, asm.R1, int32(g.lanes), "busy")
	c.imm(asm.Mul, asm.R1, int32(cellsSize))
	c.op(asm.Add, asm.R2, asm.R1)
	c.add(asm.LoadMapValue(asm.R1, g.late.m.FD(), 0))
	c.op(asm.Add, asm.R1, asm.R2)
	c.count(asm.R1, 0, 1, asm.R2)
}

func (g *generator) extremes(c *code) {
	least, most := c.fresh("least"), c.fresh("most")
	c.mov(asm.R2, asm.R9)
	c.op(asm.Sub, asm.R2, asm.R8)
	c.grow(asm.R7, lLateSum, asm.R2, asm.R1)
	c.load(asm.R1, asm.R7, lLateMin, asm.DWord)
	c.ifReg(asm.JGE, asm.R2, asm.R1, least)
	c.store(asm.R7, lLateMin, asm.R2, asm.DWord)
	c.label(least)
	c.load(asm.R1, asm.R7, lLateMax, asm.DWord)
	c.ifReg(asm.JLE, asm.R2, asm.R1, most)
	c.store(asm.R7, lLateMax, asm.R2, asm.DWord)
	c.label(most)
}

// redirect hands the frame to the driver.
func (g *generator) redirect(c *code) {
	g.stateTo(c, asm.R1)
	c.imm(asm.Mov, asm.R2, 0)
	c.store(asm.R1, hWait, asm.R2, asm.DWord)
	c.load(asm.R2, asm.R1, hGiven, asm.DWord)
	c.mov(asm.R3, asm.R2)
	c.imm(asm.Add, asm.R2, 1)
	c.store(asm.R1, hGiven, asm.R2, asm.DWord)
	c.imm(asm.And, asm.R3, ringSlots-1)
	c.imm(asm.LSh, asm.R3, 2)
	c.add(asm.LoadMapValue(asm.R4, g.state.m.FD(), uint32(ringAt)))
	c.op(asm.Add, asm.R4, asm.R3)
	c.load(asm.R5, asm.RFP, sEntry, asm.DWord)
	c.store(asm.R4, 0, asm.R5, asm.Word)
	c.add(asm.LoadMapPtr(asm.R1, g.devmap.FD()))
	c.imm(asm.Mov, asm.R2, 0)
	c.imm(asm.Mov, asm.R3, 0)
	c.call(asm.FnRedirectMap)
	c.ifImm(asm.JEq, asm.R0, xdpRedirect, "redirected")
	// The interface is gone: nobody will answer for this frame.
	g.stateTo(c, asm.R1)
	c.load(asm.R2, asm.R1, hGiven, asm.DWord)
	c.imm(asm.Sub, asm.R2, 1)
	c.store(asm.R1, hGiven, asm.R2, asm.DWord)
	c.load(asm.R5, asm.RFP, sEntry, asm.DWord)
	charge(c, g.state, g.lanes, asm.R5, "busy")
	c.ret(xdpDrop)
	c.label("redirected")
	c.add(asm.Return())
}

// wireBits makes of a frame's length the bits that it takes on the wire.
func wireBits(c *code, r asm.Register) {
	long := c.fresh("long")
	c.ifImm(asm.JGE, r, units.MinFrame, long)
	c.imm(asm.Mov, r, units.MinFrame)
	c.label(long)
	c.imm(asm.Add, r, int32(units.WireBits(units.MinFrame)/8-units.MinFrame))
	c.imm(asm.LSh, r, 3)
}
