package hello_test

import (
	"encoding/binary"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"loadtest/internal/clock"
	"loadtest/internal/hello"
	"loadtest/nic"
	"loadtest/nic/mem"
	"loadtest/packet"
)

const magic = 0xa5c3

// A pkt is a UDP or TCP packet to build. Zero fields are 198.18.0.1:7 → 198.19.0.1:9, TTL 64, 60 bytes, zeros.
type pkt struct {
	src, dst     string
	sport, dport uint16
	size         int // without FCS
	id, vlan     uint16
	fill         byte // of the payload
	tcp          bool
}

func (p pkt) build(t testing.TB) []byte {
	t.Helper()
	or := func(s, other string) net.IP {
		if s == "" {
			s = other
		}
		a := netip.MustParseAddr(s)
		return a.AsSlice()
	}
	src, dst := or(p.src, "198.18.0.1"), or(p.dst, "198.19.0.1")
	if p.sport == 0 {
		p.sport = 7
	}
	if p.dport == 0 {
		p.dport = 9
	}
	if p.size == 0 {
		p.size = 60
	}
	eth := &layers.Ethernet{SrcMAC: net.HardwareAddr{2, 0, 0, 0, 1, 1}, DstMAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}}
	all, next := []gopacket.SerializableLayer{eth}, &eth.EthernetType
	header := 14
	if p.vlan != 0 {
		tag := &layers.Dot1Q{VLANIdentifier: p.vlan}
		*next, next = layers.EthernetTypeDot1Q, &tag.Type
		all = append(all, tag)
		header += 4
	}
	proto := layers.IPProtocolUDP
	if p.tcp {
		proto = layers.IPProtocolTCP
	}
	var network gopacket.NetworkLayer
	if len(src) == 4 {
		*next = layers.EthernetTypeIPv4
		ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: proto, SrcIP: src, DstIP: dst, Id: p.id}
		network, all, header = ip, append(all, ip), header+20
	} else {
		*next = layers.EthernetTypeIPv6
		ip := &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: proto, SrcIP: src, DstIP: dst}
		network, all, header = ip, append(all, ip), header+40
	}
	if p.tcp {
		l := &layers.TCP{SrcPort: layers.TCPPort(p.sport), DstPort: layers.TCPPort(p.dport), Seq: uint32(p.id), ACK: true}
		_ = l.SetNetworkLayerForChecksum(network)
		all, header = append(all, l), header+20
	} else {
		l := &layers.UDP{SrcPort: layers.UDPPort(p.sport), DstPort: layers.UDPPort(p.dport)}
		_ = l.SetNetworkLayerForChecksum(network)
		all, header = append(all, l), header+8
	}
	payload := make([]byte, max(0, p.size-header))
	for i := range payload {
		payload[i] = p.fill
	}
	buf := gopacket.NewSerializeBuffer()
	o := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	if err := gopacket.SerializeLayers(buf, o, append(all, gopacket.Payload(payload))...); err != nil {
		t.Fatal(err)
	}
	b := slices.Clone(buf.Bytes())
	for len(b) < 60 {
		b = append(b, 0)
	}
	return b
}

// store is n packets, of the flows that vary gives.
func store(t testing.TB, n int, vary func(i int) pkt) *packet.Store {
	t.Helper()
	s := &packet.Store{}
	for i := range n {
		b := vary(i).build(t)
		s.Append(b, 0, len(b))
	}
	return s
}

// ports is a flow each, told apart by their source ports.
func ports(p pkt) func(int) pkt {
	return func(i int) pkt {
		p.sport = uint16(1000 + i)
		return p
	}
}

// A device does something to each frame that comes in at its port a or b.
type device struct {
	ends map[string]nic.Port
	do   func(in string, b []byte, now int64) []out
	late []out
	got  map[string]int // frames, by port
}

// An out is a frame that leaves the device.
type out struct {
	port string
	b    []byte
	at   int64 // 0: at once
}

func (d *device) Step(now int64) (next int64) {
	frames := make([]packet.Frame, 64)
	sent := false
	for _, in := range []string{"a", "b"} {
		n, err := d.ends[in].Recv(frames)
		if err != nil {
			continue
		}
		for _, f := range frames[:n] {
			d.got[in]++
			for _, o := range d.do(in, slices.Clone(f.Data), now) {
				d.late = append(d.late, o)
			}
		}
	}
	next = clock.Never
	d.late = slices.DeleteFunc(d.late, func(o out) bool {
		if o.at > now {
			next = min(next, o.at)
			return false
		}
		if _, err := d.ends[o.port].Send([]packet.Frame{{Data: o.b, Nanos: now}}); err != nil {
			panic(err)
		}
		sent = true
		return true
	})
	if sent {
		return now
	}
	return next
}

// lab is two ports of the tester with a device between them, on a virtual clock.
func lab(do func(in string, b []byte, now int64) []out) (hello.Options, *device) {
	a, da := mem.New(mem.Options{Slots: 1024, MaxFrame: 2048})
	b, db := mem.New(mem.Options{Slots: 1024, MaxFrame: 2048})
	a.Info.MAC, b.Info.MAC = [6]byte{2, 0, 0, 0, 1, 1}, [6]byte{2, 0, 0, 0, 1, 2}
	d := &device{ends: map[string]nic.Port{"a": da.Queues[0], "b": db.Queues[0]}, do: do, got: map[string]int{}}
	return hello.Options{Clock: clock.NewVirtual(d), Ports: map[string]nic.Device{"a": a, "b": b}, Magic: magic, Wait: 10 * time.Second}, d
}

// other is the other port.
func other(port string) string { return map[string]string{"a": "b", "b": "a"}[port] }

// wire lets all pass.
func wire(in string, b []byte, _ int64) []out { return []out{{port: other(in), b: b}} }

// router takes one off the TTL and sends from its own MAC addresses.
func router(in string, b []byte, _ int64) []out {
	copy(b, []byte{2, 0, 0, 0, 1, 1, 2, 0, 0, 0, 2, in[0] - 'a' + 1})
	if h, _ := packet.Parse(b); h.Type == packet.TypeIPv4 {
		b[h.L3+8]--
	} else {
		b[h.L3+7]--
	}
	return []out{{port: other(in), b: b}}
}

// from is a router that does more to what comes from a.
func from(do func(string, []byte, int64) []out, change func(b []byte) []byte) func(string, []byte, int64) []out {
	return func(in string, b []byte, now int64) []out {
		o := do(in, b, now)
		if in == "a" {
			o[0].b = change(o[0].b)
		}
		return o
	}
}

// set writes bytes into a frame.
func set(at int, bytes ...byte) func([]byte) []byte {
	return func(b []byte) []byte {
		copy(b[at:], bytes)
		return b
	}
}

// insert puts bytes into a frame.
func insert(at int, bytes ...byte) func([]byte) []byte {
	return func(b []byte) []byte { return slices.Insert(b, at, bytes...) }
}

// both does one after the other.
func both(first, second func([]byte) []byte) func([]byte) []byte {
	return func(b []byte) []byte { return second(first(b)) }
}

// length writes the length of an IPv4 packet to where it stands, and in the UDP header behind.
func length(b []byte) []byte {
	binary.BigEndian.PutUint16(b[16:], uint16(len(b)-14))
	binary.BigEndian.PutUint16(b[38:], uint16(len(b)-34))
	return b
}

// within puts an IP packet into another, of a protocol, behind a header and before a trailer.
func within(proto byte, header, trailer []byte) func([]byte) []byte {
	return func(b []byte) []byte {
		n := 20 + len(header) + len(b) - 14 + len(trailer)
		outer := []byte{0x45, 0, byte(n >> 8), byte(n), 0, 0, 0, 0, 64, proto, 0, 0, 203, 0, 113, 1, 203, 0, 113, 2}
		return slices.Concat(b[:14], outer, header, b[14:], trailer)
	}
}

// gre is the header of GRE with IPv4 in it.
var gre = []byte{0, 0, 8, 0}

// icmp is an error of a type and code from 203.0.113.9 that quotes so many bytes of an IPv4 packet, to its sender's port.
func icmp(kind, code byte, mtu uint16, most int) func(string, []byte, int64) []out {
	return func(in string, b []byte, _ int64) []out {
		quote := b[14:]
		quote = quote[:min(most, len(quote))]
		e := slices.Concat(b[6:12], b[:6], []byte{8, 0, 0x45, 0, 0, byte(28 + len(quote)), 0, 0, 0, 0, 64, 1, 0, 0, 203, 0, 113, 9}, b[26:30],
			[]byte{kind, code, 0, 0, 0, 0, byte(mtu >> 8), byte(mtu)}, quote)
		return []out{{port: in, b: e}}
	}
}

// icmp6 is an error of a type from 2001:2::9 that quotes an IPv6 packet, to its sender's port.
func icmp6(kind byte, mtu uint16) func(string, []byte, int64) []out {
	return func(in string, b []byte, _ int64) []out {
		from := netip.MustParseAddr("2001:2::9").As16()
		e := slices.Concat(b[6:12], b[:6], []byte{0x86, 0xdd, 0x60, 0, 0, 0, 0, byte(8 + len(b) - 14), 58, 64}, from[:], b[22:38],
			[]byte{kind, 0, 0, 0, 0, 0, byte(mtu >> 8), byte(mtu)}, b[14:])
		return []out{{port: in, b: e}}
	}
}
