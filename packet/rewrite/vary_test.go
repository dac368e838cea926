package rewrite_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"
	"unsafe"

	"loadtest/packet"
	"loadtest/packet/rewrite"
)

// A pass is the packet that gopacket makes with the pass's value.
func TestVary(t *testing.T) {
	for _, tt := range []struct {
		vary   string
		server bool // sent it
		in     recipe
		pass   uint64
		want   recipe
	}{
		{"src-ip:1000", false, recipe{proto: "udp"}, 1, recipe{proto: "udp", src: "198.18.0.2"}},
		{"src-ip:1000", false, recipe{proto: "tcp"}, 1255, recipe{proto: "tcp", src: "198.18.1.0"}},
		{"src-ip:1000", true, recipe{proto: "tcp"}, 999, recipe{proto: "tcp", dst: "198.19.3.232"}},
		{"dst-ip:3", false, recipe{proto: "icmp", icmp: 8}, 5, recipe{proto: "icmp", icmp: 8, dst: "198.19.0.3"}},
		{"dst-ip:3", true, recipe{proto: "raw"}, 5, recipe{proto: "raw", src: "198.18.0.3"}},
		{"src-ip:3", false, recipe{proto: "udp", src: "255.255.255.254"}, 2, recipe{proto: "udp", src: "0.0.0.0"}},
		{"src-ip:1000", false, recipe{proto: "tcp", v6: true, hops: true, tags: []uint16{7}}, 256, recipe{proto: "tcp", v6: true, hops: true, tags: []uint16{7}, src: "2001:db8::101"}},
		{"dst-ip:1000", false, recipe{proto: "icmp6", v6: true, icmp: 128}, 7, recipe{proto: "icmp6", v6: true, icmp: 128, dst: "2001:db8:1::8"}},
		{"src-port:10", false, recipe{proto: "udp"}, 12, recipe{proto: "udp", sport: 1026, dport: 80}},
		{"src-port:10", true, recipe{proto: "udp"}, 3, recipe{proto: "udp", sport: 1024, dport: 83}},
		{"dst-port:65535", false, recipe{proto: "tcp"}, 65534, recipe{proto: "tcp", sport: 1024, dport: 79}},
		{"dst-port:9", false, recipe{proto: "tcp", sport: 5, dport: 65535}, 2, recipe{proto: "tcp", sport: 5, dport: 2}},
	} {
		t.Run(fmt.Sprint(tt.vary, tt.in.proto, tt.pass), func(t *testing.T) {
			tt.in.payload, tt.want.payload = counted(31), counted(31)
			v, b, want := parsed(t, rewrite.ParseVary, tt.vary), tt.in.frame(t), tt.want.frame(t)
			p, ok := v.Place(b, tt.server)
			for range 2 {
				v.Put(b, p, tt.pass)
				if !ok || !bytes.Equal(b, want) {
					t.Errorf("%v, %x, want\n%x", ok, b, want)
				}
			}
			if v.Put(b, p, 0); !bytes.Equal(b, tt.in.frame(t)) {
				t.Errorf("back: %x, want\n%x", b, tt.in.frame(t))
			}
		})
	}
}

func TestVaryMAC(t *testing.T) {
	b := unhex(t, "0200000000fe 020000000002 88b5")
	for vary, want := range map[string]string{"src-mac:5": "0200000000fe 020000000005 88b5", "dst-mac:5": "020000000101 020000000002 88b5"} {
		got, v := bytes.Clone(b), parsed(t, rewrite.ParseVary, vary)
		p, ok := v.Place(got, false)
		if v.Put(got, p, 8); !ok || !bytes.Equal(got, unhex(t, want)) {
			t.Errorf("%s: %v, %x", vary, ok, got)
		}
	}
}

func TestVaryLeaves(t *testing.T) {
	udp := recipe{proto: "udp", payload: counted(30)}.frame(t)
	later, quote := bytes.Clone(udp), recipe{proto: "icmp", icmp: 3, payload: udp[14:]}.frame(t)
	later[21] = 3
	for _, tt := range []struct {
		name, vary string
		b          []byte
	}{
		{"no IP", "src-ip:2", unhex(t, macs+"88b5")},
		{"no frame", "src-mac:2", []byte{1, 2}},
		{"a group's MAC", "dst-mac:2", unhex(t, "01005e000001 020000000002 0800")},
		{"a group", "dst-ip:2", recipe{proto: "udp", dst: "224.0.0.1"}.frame(t)},
		{"no ports", "src-port:2", recipe{proto: "icmp", icmp: 8}.frame(t)},
		{"port 0", "dst-port:2", recipe{proto: "udp", sport: 7}.frame(t)},
		{"ports of a later fragment", "src-port:2", later},
		{"an ICMP error", "src-ip:2", quote},
		{"neighbour discovery", "src-ip:2", recipe{proto: "icmp6", v6: true, icmp: 135, payload: make([]byte, 20)}.frame(t)},
		{"captured to the ports", "src-port:2", udp[:36]},
	} {
		if _, ok := parsed(t, rewrite.ParseVary, tt.vary).Place(tt.b, false); ok {
			t.Errorf("%s has a place", tt.name)
		}
	}
	v := parsed(t, rewrite.ParseVary, "src-ip:2")
	p, ok := v.Place(later, false) // its datagram's checksum is in the first fragment
	was := bytes.Clone(later)
	if v.Put(later, p, 1); !ok || later[29] != 2 || !bytes.Equal(later[30:], was[30:]) {
		t.Errorf("a later fragment: %v, %x", ok, later)
	}
	if n := unsafe.Sizeof(p); n > 12 {
		t.Errorf("a place takes %d bytes, want 12", n)
	}
}

// A tag is where it was, and any may be put there.
func TestVaryTagged(t *testing.T) {
	b := recipe{proto: "udp", payload: make([]byte, 18)}.frame(t)
	at := packet.TagOffset(b, packet.TagAuto)
	packet.ClearTag(b, at)
	v := parsed(t, rewrite.ParseVary, "src-port:9")
	p, _ := v.Place(b, false)
	for pass := range uint64(20) {
		tag := packet.Tag{Magic: 3, Seq: uint32(pass)}
		tag.Put(b[at:])
		v.Put(b, p, pass)
		want := recipe{proto: "udp", sport: 1024 + uint16(pass%9), dport: 80, payload: b[at : at+packet.TagLen]}.frame(t)
		if got, whole := packet.ReadTag(b[at:]); !whole || got != tag || !bytes.Equal(b, want) {
			t.Fatalf("pass %d: %x, want\n%x", pass, b, want)
		}
	}
}

// Whatever passes came before, a frame is that of the pass: the field counted on, checksums as right or wrong as they were, all
// else untouched; and pass 0 is the frame itself. Several fields do not see each other.
func FuzzVary(f *testing.F) {
	f.Add(recipe{proto: "udp"}.frame(f), uint8(0), uint32(1000), uint64(3), uint64(4000), false)
	f.Add(recipe{proto: "tcp", v6: true, hops: true}.frame(f), uint8(3), uint32(7), uint64(9), uint64(1), true)
	f.Add(recipe{proto: "icmp6", v6: true, icmp: 128}.frame(f), uint8(1), uint32(3000), uint64(1<<63), uint64(2), true)
	names := []string{"src-ip", "dst-ip", "src-port", "dst-port", "src-mac", "dst-mac"}
	f.Fuzz(func(t *testing.T, b []byte, field uint8, n uint32, one, two uint64, server bool) {
		n = n%65534 + 2
		v := parsed(t, rewrite.ParseVary, fmt.Sprintf("%s:%d", names[field%6], n))
		w := parsed(t, rewrite.ParseVary, fmt.Sprintf("%s:%d", names[(field+1+field/6%5)%6], n/2+2))
		p, ok := v.Place(b, server)
		if !ok {
			return
		}
		used, fresh := bytes.Clone(b), bytes.Clone(b)
		v.Put(used, p, one)
		v.Put(used, p, two)
		v.Put(fresh, p, two)
		if !bytes.Equal(used, fresh) {
			t.Fatalf("%x: pass %d after %d is %x, fresh %x", b, two, one, used, fresh)
		}
		if right(b) != right(used) {
			t.Fatalf("%x: checksums were right: %v; pass %d: %x", b, right(b), two, used)
		}
		changed := 0
		for i := 0; i < len(b); i++ {
			if b[i] != used[i] {
				changed++
			}
		}
		if changed > 8 || two%uint64(n) > 0 && changed == 0 {
			t.Fatalf("%x: pass %d changed %d bytes: %x", b, two, changed, used)
		}
		if q, ok := w.Place(b, server); ok {
			w.Put(used, q, one)
			w.Put(fresh, q, one+1)
			v.Put(fresh, p, one)
			w.Put(fresh, q, one)
			v.Put(used, p, one)
			if !bytes.Equal(used, fresh) {
				t.Fatalf("%x: %s and %s: %x, in other order %x", b, v, w, used, fresh)
			}
			w.Put(used, q, 0)
		}
		v.Put(used, p, 0)
		if !bytes.Equal(used, b) {
			t.Fatalf("%x: pass 0 is %x", b, used)
		}
	})
}

func BenchmarkVary(b *testing.B) {
	for _, vary := range []string{"src-ip:1000", "src-port:1000"} {
		b.Run(vary, func(b *testing.B) {
			frame, v := recipe{proto: "udp", payload: counted(400)}.frame(b), parsed(b, rewrite.ParseVary, vary)
			p, _ := v.Place(frame, false)
			b.ReportAllocs()
			for pass := uint64(0); b.Loop(); pass++ {
				v.Put(frame, p, pass)
			}
		})
	}
}

// right says whether all checksums of a frame are right; false too where that cannot be told.
func right(b []byte) bool {
	h, ok := packet.Parse(b)
	if !ok || h.End > len(b) || h.Fragment || h.Type != packet.TypeIPv4 && h.Type != packet.TypeIPv6 {
		return false
	}
	sum := func(parts ...[]byte) (s uint64) {
		for _, part := range parts {
			for i, c := range part {
				s += uint64(c) << (8 * (1 - i%2))
			}
		}
		return s
	}
	ip, l4 := b[h.L3:], b[h.L4:h.End]
	addresses := ip[8:]
	if h.Type == packet.TypeIPv4 {
		if sum(ip[:h.L4-h.L3])%0xffff != 0 {
			return false
		}
		addresses = ip[12:20]
	} else {
		addresses = ip[8:40]
		for next, at := ip[6], 40; at < h.L4-h.L3; next, at = ip[at], at+8+8*int(ip[at+1]) {
			if next == 43 { // the checksum is over another destination
				return false
			}
		}
	}
	pseudo := sum(addresses) + uint64(h.Proto)
	switch {
	case h.Proto == packet.ProtoTCP, h.Proto == packet.ProtoICMPv6 && h.Type == packet.TypeIPv6:
		return (sum(l4)+pseudo+uint64(len(l4)))%0xffff == 0
	case h.Proto == packet.ProtoUDP:
		n := int(binary.BigEndian.Uint16(l4[4:]))
		if l4[6] == 0 && l4[7] == 0 {
			return h.Type == packet.TypeIPv4
		}
		return n >= 8 && n <= len(l4) && (sum(l4[:n])+pseudo+uint64(n))%0xffff == 0
	case h.Proto == packet.ProtoICMP && h.Type == packet.TypeIPv4:
		return sum(l4)%0xffff == 0
	}
	return true
}
