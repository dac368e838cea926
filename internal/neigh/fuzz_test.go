package neigh_test

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/google/gopacket/layers"

	"loadtest/internal/neigh"
	"loadtest/packet"
)

// FuzzHear: whatever is heard, there is at most one answer. It is a frame as gopacket makes it (show), from an address that the
// host answers for, in the VLAN of the question, and goes to who asked; to all only if the asker has no address yet. With mend, the
// checksums of what is heard are made right.
func FuzzHear(f *testing.F) {
	o := tester(f, "198.18.0.2/16,gw=198.18.0.1", "2001:db8::2/64,gw=fe80::1", "198.18.0.3/16,vlan=7,mac=02:00:00:00:00:0a", "2001:db8::3/64,vlan=7,mac=02:00:00:00:00:0a")
	o.Serves = func(ip netip.Addr) bool { return ip.AsSlice()[3]&1 == 1 }
	multi := [6]byte{0x33, 0x33, 0xff, 0, 0, 2}
	for _, b := range [][]byte{
		frame(f, all, device, nil, arp(1, device, addr("198.18.0.1"), nobody, addr("198.18.0.2"))),
		frame(f, port, device, nil, arp(2, device, addr("198.18.0.1"), port, addr("198.18.0.2"))),
		frame(f, all, device, []uint16{7}, arp(1, device, nowhere, nobody, addr("198.18.0.3"))),
		frame(f, multi, device, nil, join(v6("fe80::1", "ff02::1:ff00:2", 255), solicit("2001:db8::2", device))...),
		frame(f, multi, device, nil, join(v6("::", "ff02::1:ff00:2", 255), solicit("2001:db8::2", nobody))...),
		frame(f, port, device, nil, join(v6("fe80::1", "2001:db8::2", 255), advertise("fe80::1", 0x60, device))...),
		frame(f, port, device, nil, join(v4("198.18.0.1", "198.18.0.2", 1), icmp(8, "hello"))...),
		frame(f, [6]byte{2, 0, 0, 0, 0, 10}, device, []uint16{7}, join(v6("fe80::1", "2001:db8::3", 64), echo6(128, "hello"))...),
		frame(f, port, device, nil, v4("198.18.0.1", "198.18.0.2", 17), &layers.UDP{SrcPort: 1, DstPort: 2}),
		frame(f, all, port, nil, arp(1, port, addr("198.18.0.2"), nobody, addr("198.18.0.2"))),
	} {
		f.Add(b, true)
		f.Add(b, false)
	}
	f.Fuzz(func(t *testing.T, b []byte, mended bool) {
		if mended {
			b = mend(b)
		}
		before := bytes.Clone(b)
		h := neigh.NewHost(o)
		h.Hear(b, 1)
		if !bytes.Equal(b, before) {
			t.Errorf("Hear changed the frame %x to %x", before, b)
		}
		s := &sink{room: -1}
		if err := h.Flush(s); err != nil || len(s.frames) > 1 {
			t.Fatalf("%d answers, %v", len(s.frames), err)
		}
		if len(s.frames) == 0 {
			return
		}
		answer := s.frames[0]
		text := show(t, answer)
		wantVLAN, in := body(b)
		if vlan, out := body(answer); vlan != wantVLAN || !h.Answers(speaker(out)) || !bytes.Equal(answer[:6], asker(b, in)) {
			t.Errorf("%x\nis answered by %s: VLAN %d, want %d; to %x, want %x; from %v", b, text, vlan, wantVLAN, answer[:6], asker(b, in), speaker(out))
		}
		if want := map[uint16][6]byte{0: port, 7: {2, 0, 0, 0, 0, 10}}[wantVLAN]; [6]byte(answer[6:]) != want {
			t.Errorf("%s\nhas not the MAC address of its VLAN", text)
		}
	})
}

// body is the VLAN of a frame, and what it carries beginning with the EtherType.
func body(b []byte) (vlan uint16, rest []byte) {
	if binary.BigEndian.Uint16(b[12:]) == 0x8100 {
		return binary.BigEndian.Uint16(b[14:]) & 0xfff, b[16:]
	}
	return 0, b[12:]
}

// speaker is the address that an answer is from.
func speaker(b []byte) netip.Addr {
	switch b = b[2:]; b[0] >> 4 {
	case 4:
		return netip.AddrFrom4([4]byte(b[12:]))
	case 6:
		return netip.AddrFrom16([16]byte(b[8:]))
	}
	return netip.AddrFrom4([4]byte(b[14:])) // ARP
}

// asker is where the answer to a frame is due.
func asker(frame, b []byte) []byte {
	switch b = b[2:]; {
	case b[0]>>4 == 0: // ARP
		return b[8:14]
	case b[0]>>4 == 6 && b[40] == 135 && netip.AddrFrom16([16]byte(b[8:])).IsUnspecified():
		return []byte("\x33\x33\x00\x00\x00\x01")
	case b[0]>>4 == 6 && b[40] == 135:
		for o := b[64 : 40+int(binary.BigEndian.Uint16(b[4:]))]; len(o) > 0; o = o[int(o[1])*8:] {
			if o[0] == 1 {
				return o[2:8]
			}
		}
	}
	return frame[6:12]
}

// mend makes the checksums of IPv4, ICMP and ICMPv6 right.
func mend(b []byte) []byte {
	h, ok := packet.Parse(b)
	if !ok || h.Fragment || h.End > len(b) || h.Proto != packet.ProtoICMP && h.Proto != packet.ProtoICMPv6 {
		return b
	}
	b = bytes.Clone(b)
	sum := func(at int, parts ...[]byte) {
		b[at], b[at+1] = 0, 0
		s := uint32(0)
		for _, p := range parts {
			for i, c := range p {
				s += uint32(c) << (8 * (1 - i%2))
			}
		}
		for s > 0xffff {
			s = s>>16 + s&0xffff
		}
		binary.BigEndian.PutUint16(b[at:], ^uint16(s))
	}
	if h.Type == packet.TypeIPv4 {
		sum(h.L3+10, b[h.L3:h.L4])
		sum(h.L4+2, b[h.L4:h.End])
	} else {
		n := h.End - h.L4
		sum(h.L4+2, b[h.L3+8:h.L3+40], []byte{byte(n >> 8), byte(n), 0, 58}, b[h.L4:h.End])
	}
	return b
}

// kinds are frames with and without an answer, by name.
func kinds(t testing.TB) map[string][]byte {
	multi := [6]byte{0x33, 0x33, 0xff, 0, 0, 2}
	return map[string][]byte{
		"UDP":          frame(t, port, device, nil, v4("198.18.0.1", "198.18.0.2", 17), &layers.UDP{SrcPort: 1, DstPort: 2}),
		"ARP":          frame(t, all, device, nil, arp(1, device, addr("198.18.0.1"), nobody, addr("198.18.9.9"))),
		"NS":           frame(t, multi, device, nil, join(v6("fe80::1", "ff02::1:ff00:2", 255), solicit("2001:db8::2", device))...),
		"ping":         frame(t, port, device, nil, join(v4("198.18.0.1", "198.18.0.2", 1), icmp(8, "hello"))...),
		"ping of IPv6": frame(t, port, device, nil, join(v6("fe80::1", "2001:db8::2", 64), echo6(128, "hello"))...),
		"NA":           frame(t, port, device, nil, join(v6("fe80::1", "2001:db8::2", 255), advertise("fe80::1", 0x60, device))...),
		"claim":        frame(t, all, stray, nil, arp(1, stray, addr("198.18.0.2"), nobody, addr("198.18.0.2"))),
	}
}

// deaf is a port that takes everything and keeps nothing.
type deaf struct{}

func (deaf) Send(frames []packet.Frame) (int, error) { return len(frames), nil }
func (deaf) Recv([]packet.Frame) (int, error)        { return 0, nil }
func (deaf) Close() error                            { return nil }

func TestAllocatesNothing(t *testing.T) {
	o := tester(t, "198.18.0.2/16,gw=198.18.0.1", "2001:db8::2/64,gw=fe80::1")
	o.Serves = served
	for name, b := range kinds(t) {
		h := neigh.NewHost(o)
		if n := testing.AllocsPerRun(200, func() {
			h.Resolve()
			h.Announce()
			h.Step(1)
			h.Hear(b, 1)
			if err := h.Flush(deaf{}); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkHear(b *testing.B) {
	o := tester(b, "198.18.0.2/16,gw=198.18.0.1", "2001:db8::2/64,gw=fe80::1")
	for name, f := range kinds(b) {
		b.Run(name, func(b *testing.B) {
			h := neigh.NewHost(o)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				h.Hear(f, 1)
				h.Step(1)
				if n++; h.Pending() {
					_ = h.Flush(deaf{})
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mpps")
		})
	}
}
