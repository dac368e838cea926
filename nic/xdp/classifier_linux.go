package xdp

import (
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"loadtest/packet"
	"loadtest/trial"
)

// Offsets in await and arrivals.
const (
	wMagic, wTrial, wPreroll  = int(unsafe.Offsetof(await{}.magic)), int(unsafe.Offsetof(await{}.trial)), int(unsafe.Offsetof(await{}.preroll))
	wGeneration, wHalf, wEnd  = int(unsafe.Offsetof(await{}.generation)), int(unsafe.Offsetof(await{}.half)), int(unsafe.Offsetof(await{}.halfEnd))
	wLanes                    = int(unsafe.Offsetof(await{}.lanes))
	aTop, aReceived           = int(unsafe.Offsetof(arrivals{}.top)), int(unsafe.Offsetof(arrivals{}.received))
	aBytes, aWire             = int(unsafe.Offsetof(arrivals{}.bytes)), int(unsafe.Offsetof(arrivals{}.wire))
	aDuplicated, aReordered   = int(unsafe.Offsetof(arrivals{}.duplicated)), int(unsafe.Offsetof(arrivals{}.reordered))
	aTooOld, aLast            = int(unsafe.Offsetof(arrivals{}.tooOld)), int(unsafe.Offsetof(arrivals{}.last))
	aHalfPackets, aHalfBytes  = int(unsafe.Offsetof(arrivals{}.halfPackets)), int(unsafe.Offsetof(arrivals{}.halfBytes))
	aHalfWire                 = int(unsafe.Offsetof(arrivals{}.halfWire))
	aLatMin, aLatMax, aLatSum = int(unsafe.Offsetof(arrivals{}.latMin)), int(unsafe.Offsetof(arrivals{}.latMax)), int(unsafe.Offsetof(arrivals{}.latSum))
	mostTagAt                 = 0x3fff // no frame is longer
	windowBits                = windowWords * 64
)

// Where the classifier keeps what it knows of a frame.
const (
	fSeq, fNanos, fLength, fPlace, fKey, fBit, fCell = -8, -16, -24, -32, -40, -48, -56
	fLane                                            = -64
)

// code knows our frames and counts them; all else goes up. What it does not understand is Go's to judge. R7 and R8 are the frame's
// ends, R6 is the frame at first, then the time.
func (c *classifier) code() (*ebpf.Program, error) {
	p := &code{}
	p.mov(asm.R6, asm.R1)
	p.load(asm.R7, asm.R6, 0, asm.Word)
	p.load(asm.R8, asm.R6, 4, asm.Word)
	l3 := packet.EtherLen
	for vlans := range 3 {
		next := p.fresh("vlan")
		p.reach(l3)
		p.load(asm.R2, asm.R7, l3-2, asm.Half)
		p.ethernet(l3, next)
		if vlans == 2 {
			break
		}
		p.label(next)
		l3 += 4
	}
	p.label("found") // R4: where the transport header begins, R5: where the packet ends, R3: the protocol
	p.transport()
	p.find()
	c.ours(p)
	c.count(p)
	p.label("pass")
	p.ret(xdpPass)
	return ebpf.NewProgram(&ebpf.ProgramSpec{Name: "lt_classifier", Type: ebpf.XDP, License: "GPL", Instructions: p.Instructions})
}

// reach leaves if the frame does not have so many bytes.
func (c *code) reach(n int) {
	c.mov(asm.R1, asm.R7)
	c.imm(asm.Add, asm.R1, int32(n))
	c.ifReg(asm.JGT, asm.R1, asm.R8, "pass")
}

// ethernet goes on by the type in R2: IP behind l3 is read, a VLAN tag is for next.
func (c *code) ethernet(l3 int, next string) {
	six := c.fresh("ip6")
	if l3 < packet.EtherLen+8 {
		c.ifImm(asm.JEq, asm.R2, int32(be16(packet.TypeVLAN)), next)
		c.ifImm(asm.JEq, asm.R2, int32(be16(packet.TypeQinQ)), next)
	}
	c.ifImm(asm.JEq, asm.R2, int32(be16(packet.TypeIPv6)), six)
	c.ifImm(asm.JNE, asm.R2, int32(be16(packet.TypeIPv4)), "pass")
	c.reach(l3 + 20)
	c.load(asm.R1, asm.R7, l3, asm.Byte)
	c.mov(asm.R4, asm.R1)
	c.imm(asm.RSh, asm.R1, 4)
	c.ifImm(asm.JNE, asm.R1, 4, "pass")
	c.imm(asm.And, asm.R4, 15)
	c.imm(asm.LSh, asm.R4, 2)
	c.ifImm(asm.JLT, asm.R4, 20, "pass")
	c.load(asm.R1, asm.R7, l3+6, asm.Half)
	c.imm(asm.And, asm.R1, int32(be16(0x3fff))) // more fragments, or an offset
	c.ifImm(asm.JNE, asm.R1, 0, "pass")
	c.load(asm.R3, asm.R7, l3+9, asm.Byte)
	c.load(asm.R5, asm.R7, l3+2, asm.Half)
	c.add(asm.HostTo(asm.BE, asm.R5, asm.Half))
	c.ifReg(asm.JLT, asm.R5, asm.R4, "pass")
	c.imm(asm.Add, asm.R4, int32(l3))
	c.imm(asm.Add, asm.R5, int32(l3))
	c.jump("found")
	c.label(six)
	c.reach(l3 + 40)
	c.load(asm.R1, asm.R7, l3, asm.Byte)
	c.imm(asm.RSh, asm.R1, 4)
	c.ifImm(asm.JNE, asm.R1, 6, "pass")
	c.load(asm.R3, asm.R7, l3+6, asm.Byte)
	for _, extension := range []int32{0, 43, 44, 60} {
		c.ifImm(asm.JEq, asm.R3, extension, "pass")
	}
	c.imm(asm.Mov, asm.R4, int32(l3+40))
	c.load(asm.R5, asm.R7, l3+4, asm.Half)
	c.add(asm.HostTo(asm.BE, asm.R5, asm.Half))
	c.op(asm.Add, asm.R5, asm.R4)
	c.jump("found")
}

// transport leaves where the transport header contradicts the packet, or the packet quotes another one, as packet.Parse does.
func (c *code) transport() {
	c.mov(asm.R2, asm.R7)
	c.op(asm.Add, asm.R2, asm.R4)
	c.mov(asm.R1, asm.R2)
	c.ifImm(asm.JEq, asm.R3, packet.ProtoTCP, "tcp")
	c.ifImm(asm.JEq, asm.R3, packet.ProtoUDP, "udp")
	c.ifImm(asm.JEq, asm.R3, packet.ProtoICMP, "icmp")
	c.ifImm(asm.JNE, asm.R3, packet.ProtoICMPv6, "place")
	c.imm(asm.Add, asm.R1, 1)
	c.ifReg(asm.JGT, asm.R1, asm.R8, "pass")
	c.load(asm.R1, asm.R2, 0, asm.Byte)
	c.ifImm(asm.JLT, asm.R1, 128, "pass")
	c.jump("udp")
	c.label("icmp")
	c.imm(asm.Add, asm.R1, 1)
	c.ifReg(asm.JGT, asm.R1, asm.R8, "pass")
	c.load(asm.R1, asm.R2, 0, asm.Byte)
	for _, quotes := range []int32{3, 4, 5, 11, 12} {
		c.ifImm(asm.JEq, asm.R1, quotes, "pass")
	}
	c.label("udp")
	c.imm(asm.Mov, asm.R1, 8)
	c.jump("payload")
	c.label("tcp")
	c.imm(asm.Add, asm.R1, 20)
	c.ifReg(asm.JGT, asm.R1, asm.R8, "pass")
	c.load(asm.R1, asm.R2, 12, asm.Byte)
	c.imm(asm.RSh, asm.R1, 4)
	c.imm(asm.LSh, asm.R1, 2)
	c.ifImm(asm.JLT, asm.R1, 20, "pass")
	c.label("payload") // R1: the header's length
	c.op(asm.Add, asm.R1, asm.R4)
	c.ifReg(asm.JGT, asm.R1, asm.R5, "pass")
	c.label("place")
}

// find makes R2 point at the tag.
func (c *code) find() {
	c.imm(asm.Sub, asm.R5, packet.TagLen)
	c.ifReg(asm.JSLT, asm.R5, asm.R4, "pass")
	c.ifImm(asm.JSLT, asm.R5, 0, "pass")
	c.ifImm(asm.JGT, asm.R5, mostTagAt, "pass")
	c.mov(asm.R2, asm.R7)
	c.op(asm.Add, asm.R2, asm.R5)
	c.mov(asm.R1, asm.R2)
	c.imm(asm.Add, asm.R1, packet.TagLen)
	c.ifReg(asm.JGT, asm.R1, asm.R8, "pass")
}

// ours leaves if the tag is not one that is awaited, or not whole; R9 becomes 1 for one of the pre-roll.
func (c *classifier) ours(p *code) {
	p.add(asm.LoadMapValue(asm.R9, c.await.m.FD(), 0))
	p.load(asm.R1, asm.R2, 2, asm.Half)
	p.load(asm.R3, asm.R9, wMagic, asm.DWord)
	p.ifReg(asm.JNE, asm.R1, asm.R3, "pass")
	p.load(asm.R4, asm.R2, 4, asm.Byte)
	p.store(asm.RFP, fLane, asm.R4, asm.DWord)
	p.ifImm(asm.JGE, asm.R4, int32(c.lanes), "pass")
	p.mov(asm.R3, asm.R9)
	p.op(asm.Add, asm.R3, asm.R4)
	p.load(asm.R3, asm.R3, wLanes, asm.Byte)
	p.ifImm(asm.JEq, asm.R3, 0, "pass")
	p.load(asm.R3, asm.R2, 6, asm.Word)
	p.add(asm.HostTo(asm.BE, asm.R3, asm.Word))
	p.store(asm.RFP, fSeq, asm.R3, asm.DWord)
	p.load(asm.R3, asm.R2, 2, asm.DWord)
	p.add(asm.HostTo(asm.BE, asm.R3, asm.DWord))
	p.load(asm.R4, asm.R2, 10, asm.DWord)
	p.add(asm.HostTo(asm.BE, asm.R4, asm.DWord))
	p.store(asm.RFP, fNanos, asm.R4, asm.DWord)
	p.load(asm.R5, asm.R2, 0, asm.Half)
	p.add(asm.HostTo(asm.BE, asm.R5, asm.Half))
	p.fold(asm.R3, asm.R4, asm.R1)
	p.imm(asm.Xor, asm.R3, 0xffff)
	p.ifReg(asm.JNE, asm.R3, asm.R5, "pass")
	p.load(asm.R1, asm.R2, 5, asm.Byte)
	p.load(asm.R3, asm.R9, wTrial, asm.DWord)
	p.load(asm.R4, asm.R9, wPreroll, asm.DWord)
	p.mov(asm.R6, asm.R8)
	p.op(asm.Sub, asm.R6, asm.R7)
	p.store(asm.RFP, fLength, asm.R6, asm.DWord)
	p.imm(asm.Mov, asm.R9, 0)
	p.ifReg(asm.JEq, asm.R1, asm.R3, "mine")
	p.ifReg(asm.JNE, asm.R1, asm.R4, "pass")
	p.imm(asm.Mov, asm.R9, 1)
	p.label("mine")
	p.call(asm.FnKtimeGetNs)
	p.mov(asm.R6, asm.R0)
	p.load(asm.R1, asm.RFP, fLane, asm.DWord)
	p.store(asm.RFP, fKey, asm.R1, asm.Word)
	p.mov(asm.R2, asm.RFP)
	p.imm(asm.Add, asm.R2, fKey)
	p.add(asm.LoadMapPtr(asm.R1, c.counts.FD()))
	p.call(asm.FnMapLookupElem)
	p.ifImm(asm.JEq, asm.R0, 0, "pass")
	p.mov(asm.R7, asm.R0)
}

// count books the frame: R6 is the time, R7 the lane's book, R9 whether it is of the pre-roll.
func (c *classifier) count(p *code) {
	p.mov(asm.R1, asm.R7)
	p.call(asm.FnSpinLock)
	p.store(asm.R7, aLast, asm.R6, asm.DWord)
	p.ifImm(asm.JNE, asm.R9, 0, "counted")
	c.window(p)
	c.arrival(p)
	p.label("counted")
	p.mov(asm.R1, asm.R7)
	p.call(asm.FnSpinUnlock)
	p.ret(xdpDrop)
}

// window tells a new packet from a copy, as match.Window.See does.
func (c *classifier) window(p *code) {
	p.load(asm.R2, asm.R7, aTop, asm.DWord)
	p.load(asm.R1, asm.RFP, fSeq, asm.DWord)
	p.op(asm.Sub, asm.R1, asm.R2)
	p.imm(asm.LSh, asm.R1, 32)
	p.imm(asm.ArSh, asm.R1, 32) // the nearest to the newest is meant
	p.mov(asm.R8, asm.R2)
	p.op(asm.Add, asm.R8, asm.R1) // R8: the sequence number, R2: the top
	p.ifImm(asm.JSLT, asm.R8, 0, "old")
	p.mov(asm.R1, asm.R2)
	p.imm(asm.Sub, asm.R1, windowBits-64)
	p.ifReg(asm.JSGE, asm.R8, asm.R1, "known")
	p.label("old")
	p.count(asm.R7, aTooOld, 1, asm.R1)
	p.jump("counted")
	p.label("known")
	p.mov(asm.R3, asm.R8)
	p.imm(asm.RSh, asm.R3, 6) // the word
	p.mov(asm.R4, asm.R3)
	p.imm(asm.And, asm.R4, windowWords-1)
	p.imm(asm.LSh, asm.R4, 4)
	p.load(asm.R1, asm.RFP, fLane, asm.DWord)
	p.ifImm(asm.JGE, asm.R1, int32(c.lanes), "counted")
	p.imm(asm.LSh, asm.R1, windowShift)
	p.op(asm.Add, asm.R4, asm.R1)
	p.add(asm.LoadMapValue(asm.R5, c.windows.m.FD(), 0))
	p.op(asm.Add, asm.R5, asm.R4)
	p.add(asm.LoadMapValue(asm.R1, c.await.m.FD(), 0))
	p.load(asm.R1, asm.R1, wGeneration, asm.DWord)
	p.op(asm.Add, asm.R3, asm.R1)
	p.load(asm.R1, asm.R5, 0, asm.DWord)
	p.imm(asm.Mov, asm.R4, 0)
	p.ifReg(asm.JNE, asm.R1, asm.R3, "fresh_word")
	p.load(asm.R4, asm.R5, 8, asm.DWord)
	p.label("fresh_word")
	p.store(asm.R5, 0, asm.R3, asm.DWord)
	p.imm(asm.Mov, asm.R1, 1)
	p.mov(asm.R3, asm.R8)
	p.imm(asm.And, asm.R3, 63)
	p.op(asm.LSh, asm.R1, asm.R3)
	p.mov(asm.R3, asm.R4)
	p.op(asm.And, asm.R3, asm.R1)
	p.ifImm(asm.JEq, asm.R3, 0, "new")
	p.store(asm.R5, 8, asm.R4, asm.DWord)
	p.count(asm.R7, aDuplicated, 1, asm.R1)
	p.jump("counted")
	p.label("new")
	p.op(asm.Or, asm.R4, asm.R1)
	p.store(asm.R5, 8, asm.R4, asm.DWord)
	p.ifReg(asm.JSGE, asm.R8, asm.R2, "ahead")
	p.count(asm.R7, aReordered, 1, asm.R1)
	p.jump("arrived")
	p.label("ahead")
	p.imm(asm.Add, asm.R8, 1)
	p.store(asm.R7, aTop, asm.R8, asm.DWord)
	p.label("arrived")
}

// arrival books a packet that came for the first time.
func (c *classifier) arrival(p *code) {
	p.count(asm.R7, aReceived, 1, asm.R1)
	p.load(asm.R2, asm.RFP, fLength, asm.DWord)
	p.grow(asm.R7, aBytes, asm.R2, asm.R1)
	p.mov(asm.R3, asm.R2)
	wireBits(p, asm.R3)
	p.grow(asm.R7, aWire, asm.R3, asm.R1)
	p.add(asm.LoadMapValue(asm.R4, c.await.m.FD(), 0))
	p.load(asm.R5, asm.R4, wHalf, asm.DWord)
	p.ifReg(asm.JLT, asm.R6, asm.R5, "not_half")
	p.load(asm.R5, asm.R4, wEnd, asm.DWord)
	p.ifReg(asm.JGE, asm.R6, asm.R5, "not_half")
	p.count(asm.R7, aHalfPackets, 1, asm.R1)
	p.grow(asm.R7, aHalfBytes, asm.R2, asm.R1)
	p.grow(asm.R7, aHalfWire, asm.R3, asm.R1)
	p.label("not_half")
	p.mov(asm.R2, asm.R6)
	p.set(asm.R1, c.epoch)
	p.op(asm.Sub, asm.R2, asm.R1)
	p.load(asm.R1, asm.RFP, fNanos, asm.DWord)
	p.op(asm.Sub, asm.R2, asm.R1)
	p.ifImm(asm.JSGE, asm.R2, 0, "later")
	p.imm(asm.Mov, asm.R2, 0)
	p.label("later")
	p.grow(asm.R7, aLatSum, asm.R2, asm.R1)
	p.load(asm.R1, asm.R7, aLatMin, asm.DWord)
	p.ifReg(asm.JGE, asm.R2, asm.R1, "not_least")
	p.store(asm.R7, aLatMin, asm.R2, asm.DWord)
	p.label("not_least")
	p.load(asm.R1, asm.R7, aLatMax, asm.DWord)
	p.ifReg(asm.JLE, asm.R2, asm.R1, "not_most")
	p.store(asm.R7, aLatMax, asm.R2, asm.DWord)
	p.label("not_most")
	p.cell(asm.R2, asm.R3, asm.R4)
	p.ifImm(asm.JGE, asm.R2, trial.HistogramCells, "counted")
	p.imm(asm.LSh, asm.R2, 3)
	p.load(asm.R1, asm.RFP, fLane, asm.DWord)
	p.ifImm(asm.JGE, asm.R1, int32(c.lanes), "counted")
	p.imm(asm.Mul, asm.R1, int32(cellsSize))
	p.op(asm.Add, asm.R2, asm.R1)
	p.add(asm.LoadMapValue(asm.R1, c.cells.m.FD(), 0))
	p.op(asm.Add, asm.R1, asm.R2)
	p.count(asm.R1, 0, 1, asm.R2)
}
