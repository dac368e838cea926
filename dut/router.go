package dut

import (
	"encoding/binary"

	"loadtest/units"
)

// EtherTypes.
const (
	typeIPv4 = 0x0800
	typeARP  = 0x0806
	typeIPv6 = 0x86dd
	typeLLDP = 0x88cc
)

// route sends a plain IP packet on.
func (nd *node) route(in *iface, f *frame, t int64) {
	switch binary.BigEndian.Uint16(f.data[12:]) {
	case typeIPv4:
		nd.route4(in, f, t)
	case typeIPv6:
		nd.route6(in, f, t)
	default:
		in.drop(f, notIP)
	}
}

func (nd *node) route4(in *iface, f *frame, t int64) {
	ip := f.data[ethernet:]
	if len(ip) < 20 || ip[0]>>4 != 4 {
		in.drop(f, malformed)
		return
	}
	header, length := int(ip[0]&15)*4, int(binary.BigEndian.Uint16(ip[2:]))
	if header < 20 || length < header || length > len(ip) {
		in.drop(f, malformed)
		return
	}
	if sum16(0, ip[:header]) != 0xffff {
		in.drop(f, badChecksum)
		return
	}
	dst := address{lo: uint64(binary.BigEndian.Uint32(ip[16:]))}
	v := nd.where(in, f, nd.v4, dst, ip[8], t)
	if v == nil || !nd.fits(in, v, f, length, t) {
		return
	}
	ip[8]--
	// RFC 1624: one from the high byte of a word is 0x0100 more in the complement of the sum.
	check := uint32(binary.BigEndian.Uint16(ip[10:])) + 0x0100
	if check >= 0xffff {
		check -= 0xffff
	}
	binary.BigEndian.PutUint16(ip[10:], uint16(check))
	v.send(f, length, t)
}

func (nd *node) route6(in *iface, f *frame, t int64) {
	ip := f.data[ethernet:]
	if len(ip) < 40 || ip[0]>>4 != 6 {
		in.drop(f, malformed)
		return
	}
	length := 40 + int(binary.BigEndian.Uint16(ip[4:]))
	if length > len(ip) {
		in.drop(f, malformed)
		return
	}
	dst := address{binary.BigEndian.Uint64(ip[24:]), binary.BigEndian.Uint64(ip[32:])}
	v := nd.where(in, f, nd.v6, dst, ip[7], t)
	if v == nil || !nd.fits(in, v, f, length, t) {
		return
	}
	ip[7]--
	v.send(f, length, t)
}

// where is the way to dst; nil, and the frame dropped, if there is none.
func (nd *node) where(in *iface, f *frame, routes []route, dst address, ttl byte, t int64) *via {
	v := find(routes, dst)
	switch {
	case v == nil:
		in.drop(f, noRoute)
	case v.out == nil:
		in.drop(f, forNode)
	case ttl <= 1:
		if nd.icmp {
			nd.timeExceeded(in, f, t)
		}
		in.drop(f, ttlExpired)
	case v.out == in && !nd.hairpin:
		in.drop(f, wouldReturn)
	default:
		return v
	}
	return nil
}

// fits tells whether a packet may go: it is no longer than the MTU, or will be fragmented. If not, it is dropped.
func (nd *node) fits(in *iface, v *via, f *frame, length int, t int64) bool {
	size := length
	if v.tunnel != nil {
		size = v.tunnel.Size(length)
	}
	hop := v.out.out
	if size <= hop.mtu {
		return true
	}
	if hop.policy == policyFragment && (v.tunnel != nil || mayFragment(f)) {
		return true
	}
	if hop.policy != policyDrop {
		mtu := hop.mtu
		if v.tunnel != nil {
			mtu = v.tunnel.MaxInner(mtu)
		}
		nd.tooBig(in, f, mtu, t)
	}
	hop.drop(f, tooLong)
	return false
}

// send puts an IP packet of so many bytes on its way: without what padded its frame, and into the tunnel if there is one.
func (v *via) send(f *frame, length int, t int64) {
	end := ethernet + length
	if v.tunnel != nil {
		// It comes out as a frame of its own, padded anew.
		f.data = f.data[:max(end, units.MinFrame)]
		clear(f.data[end:])
		f.tunnel, f.outer, f.ttl = v.tunnel, ethernet+v.tunnel.Size(length), 64
	} else {
		f.data = f.data[:min(len(f.data), max(end, units.MinFrame))]
		f.outer = 0
	}
	*(*[6]byte)(f.data) = v.mac
	*(*[6]byte)(f.data[6:]) = v.out.mac
	v.out.emit(f, t)
}
