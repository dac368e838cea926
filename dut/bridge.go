package dut

import "encoding/binary"

// bridge sends a frame on by its MAC address: between two links to the other one, like a cable; between more to where the
// address was last seen, else to all others.
func (nd *node) bridge(in *iface, f *frame, t int64) {
	if nd.table == nil {
		other := nd.ifaces[0]
		if other == in {
			if len(nd.ifaces) == 1 {
				in.drop(f, noRoute)
				return
			}
			other = nd.ifaces[1]
		}
		other.emit(f, t)
		return
	}
	dst, src := macKey(f.data), macKey(f.data[6:])
	if dst&^0xf == 0x0180c2000000 { // IEEE 802.1Q table 8-1: never forwarded
		in.drop(f, reserved)
		return
	}
	if src>>40&1 == 0 {
		nd.table.learn(src, in)
	}
	if out := nd.table.find(dst); out != nil && dst>>40&1 == 0 {
		if out == in {
			in.drop(f, wouldReturn)
			return
		}
		out.emit(f, t)
		return
	}
	nd.flood(in, f, t)
}

// flood sends a frame to all interfaces but the one it came from: copies first, as a frame is no longer ours once emitted.
func (nd *node) flood(in *iface, f *frame, t int64) {
	last := nd.ifaces[len(nd.ifaces)-1]
	if last == in {
		last = nd.ifaces[len(nd.ifaces)-2]
	}
	for _, out := range nd.ifaces {
		if out != in && out != last {
			nd.net.totals.Copied++
			out.emit(nd.net.slab.clone(f), t)
		}
	}
	last.emit(f, t)
}

// macKey is a MAC address as a number, the first byte highest.
func macKey(b []byte) uint64 {
	return uint64(binary.BigEndian.Uint32(b))<<16 | uint64(binary.BigEndian.Uint16(b[4:]))
}

// A macTable remembers where addresses were seen. Addresses that collide forget each other, as in a small switch.
type macTable [1024]struct {
	mac uint64
	at  *iface
}

func (m *macTable) learn(mac uint64, in *iface) {
	e := &m[mix(mac)%uint64(len(m))]
	e.mac, e.at = mac, in
}

func (m *macTable) find(mac uint64) *iface {
	if e := &m[mix(mac)%uint64(len(m))]; e.mac == mac {
		return e.at
	}
	return nil
}
