package xdp

import (
	"github.com/cilium/ebpf/asm"

	"loadtest/packet"
)

// How far the classifier reads: a frame with more than that is passed on. The kernel wants an end to each loop.
const (
	mostVLANs      = 4
	mostExtensions = 8      // headers of IPv6 between it and the transport
	mostTagAt      = 0x3fff // no frame is longer
)

// ethernet finds the IP header behind VLAN tags: R4 is where it begins, at label ip4 or ip6.
func (c *code) ethernet() {
	for vlans := range mostVLANs + 1 {
		next, l3 := c.fresh("vlan"), packet.EtherLen+4*vlans
		c.mov(asm.R1, asm.R7)
		c.imm(asm.Add, asm.R1, int32(l3))
		c.ifReg(asm.JGT, asm.R1, asm.R8, "pass")
		c.load(asm.R2, asm.R7, l3-2, asm.Half)
		c.imm(asm.Mov, asm.R4, int32(l3))
		c.ifImm(asm.JEq, asm.R2, int32(be16(packet.TypeIPv4)), "ip4")
		c.ifImm(asm.JEq, asm.R2, int32(be16(packet.TypeIPv6)), "ip6")
		c.ifImm(asm.JEq, asm.R2, int32(be16(packet.TypeVLAN)), next)
		c.ifImm(asm.JNE, asm.R2, int32(be16(packet.TypeQinQ)), "pass")
		c.label(next)
	}
	c.jump("pass")
}

// reach makes R2 point at the n bytes of the frame that begin at R4, or leaves if it does not have them.
func (c *code) reach(n int32) {
	c.ifImm(asm.JGT, asm.R4, mostTagAt, "pass")
	c.mov(asm.R2, asm.R7)
	c.op(asm.Add, asm.R2, asm.R4)
	c.mov(asm.R1, asm.R2)
	c.imm(asm.Add, asm.R1, n)
	c.ifReg(asm.JGT, asm.R1, asm.R8, "pass")
}

// ip4 makes R4 where the transport header begins, R5 where the packet ends, R3 the protocol.
func (c *code) ip4() {
	c.label("ip4")
	c.reach(20)
	c.load(asm.R1, asm.R2, 0, asm.Byte)
	c.mov(asm.R0, asm.R1)
	c.imm(asm.RSh, asm.R1, 4)
	c.ifImm(asm.JNE, asm.R1, 4, "pass")
	c.imm(asm.And, asm.R0, 15)
	c.imm(asm.LSh, asm.R0, 2)
	c.ifImm(asm.JLT, asm.R0, 20, "pass")
	c.load(asm.R1, asm.R2, 6, asm.Half)
	c.imm(asm.And, asm.R1, int32(be16(0x3fff))) // more fragments, or an offset
	c.ifImm(asm.JNE, asm.R1, 0, "pass")
	c.load(asm.R3, asm.R2, 9, asm.Byte)
	c.load(asm.R5, asm.R2, 2, asm.Half)
	c.add(asm.HostTo(asm.BE, asm.R5, asm.Half))
	c.ifReg(asm.JLT, asm.R5, asm.R0, "pass")
	c.op(asm.Add, asm.R5, asm.R4)
	c.op(asm.Add, asm.R4, asm.R0)
	c.jump("transport")
}

// ip6 does the same, behind extension headers (RFC 8200, 4).
func (c *code) ip6() {
	c.label("ip6")
	c.reach(40)
	c.load(asm.R1, asm.R2, 0, asm.Byte)
	c.imm(asm.RSh, asm.R1, 4)
	c.ifImm(asm.JNE, asm.R1, 6, "pass")
	c.load(asm.R3, asm.R2, 6, asm.Byte)
	c.load(asm.R5, asm.R2, 4, asm.Half)
	c.add(asm.HostTo(asm.BE, asm.R5, asm.Half))
	c.imm(asm.Add, asm.R4, 40)
	c.op(asm.Add, asm.R5, asm.R4)
	for i := range mostExtensions + 1 {
		extension := c.fresh("extension")
		c.ifImm(asm.JEq, asm.R3, 44, "pass") // a fragment
		for _, options := range []int32{0, 43, 60} {
			c.ifImm(asm.JEq, asm.R3, options, extension)
		}
		c.jump("transport")
		c.label(extension)
		if i == mostExtensions {
			c.jump("pass")
			break
		}
		c.reach(8)
		c.mov(asm.R1, asm.R4)
		c.imm(asm.Add, asm.R1, 8)
		c.ifReg(asm.JGT, asm.R1, asm.R5, "pass")
		c.load(asm.R3, asm.R2, 0, asm.Byte)
		c.load(asm.R1, asm.R2, 1, asm.Byte)
		c.imm(asm.Add, asm.R1, 1)
		c.imm(asm.LSh, asm.R1, 3)
		c.op(asm.Add, asm.R4, asm.R1)
		c.ifReg(asm.JGT, asm.R4, asm.R5, "pass")
	}
}

// transport leaves where the transport header contradicts the packet, or the packet quotes another one, as packet.Parse does.
func (c *code) transport() {
	c.label("transport")
	c.ifImm(asm.JEq, asm.R3, packet.ProtoTCP, "tcp")
	c.ifImm(asm.JEq, asm.R3, packet.ProtoUDP, "udp")
	c.ifImm(asm.JEq, asm.R3, packet.ProtoICMP, "icmp")
	c.ifImm(asm.JNE, asm.R3, packet.ProtoICMPv6, "place")
	c.reach(1)
	c.load(asm.R1, asm.R2, 0, asm.Byte)
	c.ifImm(asm.JLT, asm.R1, 128, "pass")
	c.jump("udp")
	c.label("icmp")
	c.reach(1)
	c.load(asm.R1, asm.R2, 0, asm.Byte)
	for _, quotes := range []int32{3, 4, 5, 11, 12} {
		c.ifImm(asm.JEq, asm.R1, quotes, "pass")
	}
	c.label("udp")
	c.imm(asm.Mov, asm.R1, 8)
	c.jump("payload")
	c.label("tcp")
	c.reach(20)
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
