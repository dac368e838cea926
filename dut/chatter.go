package dut

import "encoding/binary"

// A chat is what an interface says on its own, again and again.
type chat struct {
	every, at int64 // ps
	data      []byte
}

// say sends the interface's earliest chat at its time.
func (in *iface) say() {
	n := in.node.net
	c := &in.chats[0]
	for i := range in.chats {
		if in.chats[i].at < c.at {
			c = &in.chats[i]
		}
	}
	at := c.at
	c.at += c.every
	in.chatAt = far
	for i := range in.chats {
		in.chatAt = min(in.chatAt, in.chats[i].at)
	}
	n.chatAt = far
	for _, other := range n.chatty {
		n.chatAt = min(n.chatAt, other.chatAt)
	}
	f := n.slab.get(len(c.data))
	copy(f.data, c.data)
	n.totals.Chatter++
	in.out.cross(f, at)
}

// chat lets the interface speak whose turn it is.
func (n *Network) chat() {
	for _, in := range n.chatty {
		if in.chatAt == n.chatAt {
			in.say()
			return
		}
	}
}

// arpRequest asks everyone who has target: 42 bytes, RFC 826.
func arpRequest(mac [6]byte, src, target address) []byte {
	b := make([]byte, 42)
	copy(b, "\xff\xff\xff\xff\xff\xff")
	copy(b[6:], mac[:])
	binary.BigEndian.PutUint16(b[12:], typeARP)
	copy(b[14:], "\x00\x01\x08\x00\x06\x04\x00\x01") // Ethernet, IPv4, their lengths, request
	copy(b[22:], mac[:])
	binary.BigEndian.PutUint32(b[28:], uint32(src.lo))
	binary.BigEndian.PutUint32(b[38:], uint32(target.lo))
	return b
}

// solicitation asks the neighbours for target: 86 bytes, RFC 4861 section 4.3.
func solicitation(mac [6]byte, src, target address) []byte {
	b := make([]byte, 86)
	copy(b, "\x33\x33\xff")
	b[3], b[4], b[5] = byte(target.lo>>16), byte(target.lo>>8), byte(target.lo)
	copy(b[6:], mac[:])
	header6(b, 32, src, 255)
	ip := b[ethernet:]
	copy(ip[24:], "\xff\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\xff") // the target's solicited-node group
	copy(ip[37:], b[3:6])
	icmp := ip[40:]
	icmp[0] = 135
	binary.BigEndian.PutUint64(icmp[8:], target.hi)
	binary.BigEndian.PutUint64(icmp[16:], target.lo)
	icmp[24], icmp[25] = 1, 1 // option: source link-layer address
	copy(icmp[26:], mac[:])
	setChecksum6(ip)
	return b
}

// lldp announces the interface: the mandatory TLVs of IEEE 802.1AB section 8.5.
func lldp(mac [6]byte) []byte {
	b := make([]byte, 0, 60)
	b = append(b, 0x01, 0x80, 0xc2, 0, 0, 0x0e)
	b = append(b, mac[:]...)
	b = append(b, typeLLDP>>8, typeLLDP&0xff)
	b = append(append(b, 1<<1, 7, 4), mac[:]...) // chassis: MAC address
	b = append(append(b, 2<<1, 7, 3), mac[:]...) // port: MAC address
	b = append(b, 3<<1, 2, 0, 120)               // time to live, s
	return b[:60]                                // the end TLV and padding are zeros
}

// bpdu is a spanning tree's configuration message, IEEE 802.1D section 9.3.1: this bridge takes itself for the root.
func bpdu(mac [6]byte) []byte {
	b := make([]byte, 60)
	copy(b, "\x01\x80\xc2\x00\x00\x00")
	copy(b[6:], mac[:])
	copy(b[12:], "\x00\x26\x42\x42\x03") // length 38, LLC
	id := append([]byte{0x80, 0x00}, mac[:]...)
	copy(b[22:], id)                                         // root
	copy(b[34:], id)                                         // bridge; the cost between them is 0
	copy(b[42:], "\x80\x01\x00\x00\x14\x00\x02\x00\x0f\x00") // port 1; ages in 1/256 s: 0, 20 s, 2 s, 15 s
	return b
}
