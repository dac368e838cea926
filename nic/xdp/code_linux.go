package xdp

import (
	"fmt"

	"github.com/cilium/ebpf/asm"

	"loadtest/trial"
)

// A code is a program that is being written, one instruction after the other.
type code struct {
	asm.Instructions
	symbol string // of the next instruction
	labels int
}

func (c *code) add(ins ...asm.Instruction) {
	for _, i := range ins {
		if c.symbol != "" {
			i, c.symbol = i.WithSymbol(c.symbol), ""
		}
		c.Instructions = append(c.Instructions, i)
	}
}

// label names the next instruction.
func (c *code) label(name string) {
	if c.symbol != "" { // two names for one place
		c.add(asm.Ja.Label(name))
	}
	c.symbol = name
}

// fresh is a label that nobody else has.
func (c *code) fresh(name string) string {
	c.labels++
	return fmt.Sprintf("%s_%d", name, c.labels)
}

func (c *code) load(dst, src asm.Register, off int, size asm.Size) {
	c.add(asm.LoadMem(dst, src, int16(off), size))
}
func (c *code) store(dst asm.Register, off int, src asm.Register, size asm.Size) {
	c.add(asm.StoreMem(dst, int16(off), src, size))
}
func (c *code) mov(dst, src asm.Register)                               { c.add(asm.Mov.Reg(dst, src)) }
func (c *code) set(dst asm.Register, v int64)                           { c.add(asm.LoadImm(dst, v, asm.DWord)) }
func (c *code) op(op asm.ALUOp, dst, src asm.Register)                  { c.add(op.Reg(dst, src)) }
func (c *code) imm(op asm.ALUOp, dst asm.Register, v int32)             { c.add(op.Imm(dst, v)) }
func (c *code) ifImm(op asm.JumpOp, r asm.Register, v int32, to string) { c.add(op.Imm(r, v, to)) }
func (c *code) ifReg(op asm.JumpOp, a, b asm.Register, to string)       { c.add(op.Reg(a, b, to)) }
func (c *code) jump(to string)                                          { c.add(asm.Ja.Label(to)) }
func (c *code) call(f asm.BuiltinFunc)                                  { c.add(f.Call()) }

// ret ends the program with a verdict.
func (c *code) ret(v int32) { c.add(asm.Mov.Imm(asm.R0, v), asm.Return()) }

// grow adds src to the 64 bits at base+off; tmp is lost.
func (c *code) grow(base asm.Register, off int, src, tmp asm.Register) {
	c.load(tmp, base, off, asm.DWord)
	c.op(asm.Add, tmp, src)
	c.store(base, off, tmp, asm.DWord)
}

// count adds v to the 64 bits at base+off; tmp is lost.
func (c *code) count(base asm.Register, off int, v int32, tmp asm.Register) {
	c.load(tmp, base, off, asm.DWord)
	c.imm(asm.Add, tmp, v)
	c.store(base, off, tmp, asm.DWord)
}

// fold makes of a and b their one's complement sum in 16 bits, in a; tmp is lost. As packet.Tag does.
func (c *code) fold(a, b, tmp asm.Register) {
	done := c.fresh("carry")
	c.op(asm.Add, a, b)
	c.ifReg(asm.JGE, a, b, done)
	c.imm(asm.Add, a, 1)
	c.label(done)
	for _, bits := range []int32{32, 16, 16, 16} {
		c.mov(tmp, a)
		c.imm(asm.RSh, tmp, bits)
		if bits == 32 {
			c.add(asm.Mov.Reg32(a, a)) // the upper half becomes zero
		} else {
			c.imm(asm.And, a, 0xffff)
		}
		c.op(asm.Add, a, tmp)
	}
}

// cell makes of a time in ns, v, the number of its cell in a trial.Histogram; a and b are lost. Negative times count as 0.
func (c *code) cell(v, a, b asm.Register) {
	positive, last, low, done := c.fresh("positive"), c.fresh("last"), c.fresh("low"), c.fresh("cell")
	c.ifImm(asm.JSGE, v, 0, positive)
	c.imm(asm.Mov, v, 0)
	c.label(positive)
	c.ifImm(asm.JLT, v, 128, done)
	c.mov(a, v)
	c.imm(asm.RSh, a, 39)
	c.ifImm(asm.JGT, a, 1, last) // 2^40 and more
	c.imm(asm.Mov, b, 33)        // becomes the place of the highest bit - 6
	c.ifImm(asm.JEq, a, 0, low)
	c.jump(done + "_shift")
	c.label(low)
	c.imm(asm.Mov, b, 1)
	c.mov(a, v)
	c.imm(asm.RSh, a, 7)
	for _, bits := range []int32{16, 8, 4, 2, 1} {
		next := c.fresh("bits")
		c.mov(asm.R0, a)
		c.imm(asm.RSh, asm.R0, bits)
		c.ifImm(asm.JEq, asm.R0, 0, next)
		c.mov(a, asm.R0)
		c.imm(asm.Add, b, bits)
		c.label(next)
	}
	c.label(done + "_shift")
	c.op(asm.RSh, v, b)
	c.imm(asm.LSh, b, 6)
	c.op(asm.Add, v, b)
	c.jump(done)
	c.label(last)
	c.imm(asm.Mov, v, trial.HistogramCells-1)
	c.label(done)
}
