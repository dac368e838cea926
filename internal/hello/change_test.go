package hello

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"

	"loadtest/internal/match"
	"loadtest/nic"
	"loadtest/packet"
)

// udp is a frame of IPv4.
func udp(src, dst string) []byte {
	s, d := netip.MustParseAddrPort(src), netip.MustParseAddrPort(dst)
	b := make([]byte, 60)
	copy(b[12:], []byte{8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17})
	copy(b[26:], s.Addr().AsSlice())
	copy(b[30:], d.Addr().AsSlice())
	binary.BigEndian.PutUint16(b[34:], s.Port())
	binary.BigEndian.PutUint16(b[36:], d.Port())
	b[39] = 26
	return b
}

// TestExpect: what is expected of a flow that was probed, and of one that was not.
func TestExpect(t *testing.T) {
	type way [2]string // source, destination
	to := "10.1.0.1:9"
	for _, tt := range []struct {
		name      string
		probed    [][2]way // as sent, as it came back
		sent, was way
	}{
		{"nothing back", nil, way{"10.0.0.1:7", to}, way{"10.0.0.1:7", to}},
		{"nothing changed", [][2]way{{{"10.0.0.1:7", to}, {"10.0.0.1:7", to}}}, way{"10.0.0.2:7", to}, way{"10.0.0.2:7", to}},
		{"a probed flow", [][2]way{{{"10.0.0.1:7", to}, {"192.0.2.1:1024", "10.2.0.1:80"}}}, way{"10.0.0.1:7", to}, way{"192.0.2.1:1024", "10.2.0.1:80"}},
		{"another port of a translated source", [][2]way{{{"10.0.0.1:7", to}, {"192.0.2.1:7", to}}}, way{"10.0.0.1:8", to}, way{"192.0.2.1:8", to}},
		{"another source, one was probed", [][2]way{{{"10.0.0.1:7", to}, {"192.0.2.1:7", to}}}, way{"10.0.0.2:7", to}, way{"10.0.0.2:7", to}},
		{"another source, two became one", [][2]way{{{"10.0.0.1:7", to}, {"192.0.2.1:7", to}}, {{"10.0.0.2:7", to}, {"192.0.2.1:7", to}}},
			way{"10.0.0.3:7", to}, way{"192.0.2.1:7", to}},
		{"another source, two became two", [][2]way{{{"10.0.0.1:7", to}, {"192.0.2.1:7", to}}, {{"10.0.0.2:7", to}, {"192.0.2.2:7", to}}},
			way{"10.0.0.3:7", to}, way{"10.0.0.3:7", to}},
		{"another port, where ports change", [][2]way{{{"10.0.0.1:7", to}, {"192.0.2.1:1024", to}}}, way{"10.0.0.1:8", to}, way{"10.0.0.1:8", to}},
		{"another port, where one address becomes several", [][2]way{{{"10.0.0.1:7", to}, {"192.0.2.1:7", to}}, {{"10.0.0.1:8", to}, {"192.0.2.2:8", to}}},
			way{"10.0.0.1:9", to}, way{"10.0.0.1:9", to}},
		{"another port of a translated destination", [][2]way{{{"10.0.0.1:7", to}, {"10.0.0.1:7", "10.2.0.1:9"}}},
			way{"10.0.0.9:1", "10.1.0.1:80"}, way{"10.0.0.9:1", "10.2.0.1:80"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c Change
			for _, p := range tt.probed {
				f := udp(p[0][0], p[0][1])
				probe := newProbe(f, packet.Flow(f), packet.TagAuto)
				c.add(stepOf(&probe, udp(p[1][0], p[1][1])))
			}
			if got, want := c.Expect(udp(tt.sent[0], tt.sent[1])), packet.Flow(udp(tt.was[0], tt.was[1])); got != want {
				t.Errorf("%v is not expected as %v", tt.sent, tt.was)
			}
		})
	}
	arp := append(make([]byte, 12), 8, 6, 0, 1)
	if got := (&Change{exact: map[tuple]tuple{{}: {}}}).Expect(arp); got != packet.Flow(arp) {
		t.Errorf("ARP is expected with flow %x, not its own", got)
	}
}

// TestWrapping: an encapsulation that only one of two frames has is named, and what is inside of it compared with the other.
func TestWrapping(t *testing.T) {
	plain := udp("10.0.0.1:7", "10.1.0.1:9")
	hop := slices.Clone(plain)
	hop[22]--
	in := func(proto byte, header ...byte) func([]byte) []byte {
		return func(b []byte) []byte {
			ip := []byte{0x45, 0, 0, byte(20 + len(header) + len(b) - 14), 0, 0, 0, 0, 64, proto, 0, 0, 203, 0, 113, 1, 203, 0, 113, 2}
			return slices.Concat(b[:14], ip, header, b[14:])
		}
	}
	gre, ipip := in(47, 0, 0, 8, 0), in(4)
	far := gre(plain)
	far[22]--
	for _, tt := range []struct {
		name     string
		from, to []byte
		want     string
	}{
		{"into GRE", plain, gre(hop), "one hop (TTL 64→63), inside GRE"},
		{"out of GRE", gre(plain), hop, "one hop (TTL 64→63), taken out of GRE"},
		{"out of the outer", ipip(gre(plain)), far, "one hop (TTL 64→63), taken out of IP in IP"},
		{"another", gre(plain), ipip(plain), "bridged: GRE → IP in IP"},
		{"another, one more", gre(plain), ipip(ipip(hop)), "one hop (TTL 64→63), GRE → IP in IP/IP in IP"},
		{"as it was", gre(plain), far, "one hop (TTL 64→63), addresses unchanged"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProbe(tt.from, packet.Flow(tt.from), packet.TagAuto)
			var c Change
			c.add(stepOf(&p, tt.to))
			if got := c.String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// A wire may say anything: a book has an end.
func TestBook(t *testing.T) {
	var b book[int]
	for i := range 1000 {
		if first := b.add(i, 1); first != (i < mostEntries) {
			t.Fatalf("kind %d: first %v", i, first)
		}
	}
	if b.add(7, 2); len(b) != mostEntries || b[7].packets != 1 || b.add(7, 2) || b[7].packets != 2 || b[8].packets != 1 {
		t.Errorf("%d kinds, %+v", len(b), b[7:9])
	}
}

// FuzzTuple: the flow of a packet's tuple is the packet's, whatever it is; and taking a frame for one that came in and comparing it
// with itself shows no change.
func FuzzTuple(f *testing.F) {
	f.Add(udp("10.0.0.1:7", "10.1.0.1:9"))
	six := make([]byte, 80)
	copy(six[12:], []byte{0x86, 0xdd, 0x60, 0, 0, 0, 0, 26, 6})
	six[66] = 0x50
	f.Add(six)
	f.Add(append(make([]byte, 12), 0x81, 0, 0, 9, 8, 6, 0, 1))
	f.Add(append(make([]byte, 12), 0x91, 0, 0, 9, 8))
	f.Add(append(make([]byte, 12), 8, 0, 0x45, 0, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		a := arrive(b, "", 0)
		if ends, is := tupleOf(a); a.ip() && (!is || ends.flow() != packet.Flow(b)) {
			t.Fatalf("%v (%v) has flow %x, the frame %x", ends, is, ends.flow(), packet.Flow(b))
		}
		if len(b) < packet.EtherLen {
			return
		}
		p := newProbe(b, a.flow, packet.TagNever)
		var c Change
		c.add(stepOf(&p, b))
		if got := c.String(); got != "bridged: nothing changed" {
			t.Fatalf("a frame and itself: %s", got)
		}
		if c.Expect(b) != a.flow {
			t.Fatalf("expected with another flow")
		}
	})
}

// FuzzFind: where they are expected, exactly those frames are found plain that the receiver of a trial takes for received, and those
// whose addresses were translated. Elsewhere only a tag is so sure. Those of another run are nobody's. What is not ours is heard.
func FuzzFind(f *testing.F) {
	f.Add(udp("10.0.0.1:7", "10.1.0.1:9"), -18, true, uint8(0))
	f.Add(udp("10.0.0.2:7", "10.1.0.1:9"), 0, false, uint8(0))
	f.Add(udp("10.0.0.9:7", "10.1.0.1:9"), 0, false, uint8(0))
	f.Add(append(udp("10.0.0.9:7", "10.1.0.1:9"), make([]byte, 40)...), -20, true, uint8(0))
	f.Add(udp("10.0.0.1:7", "10.1.0.1:9"), -18, true, uint8(9))
	quote := slices.Concat(make([]byte, 12), []byte{8, 0, 0x45, 0, 0, 74, 0, 0, 0, 0, 64, 1, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 3, 1, 0, 0, 0, 0, 0, 0},
		udp("10.0.0.1:7", "10.1.0.1:9")[14:])
	f.Add(quote, -18, true, uint8(0))
	broken := slices.Clone(quote)
	broken[42] = 0x41 // 4 bytes of header
	f.Add(broken, 0, false, uint8(0))
	f.Fuzz(func(t *testing.T, b []byte, at int, put bool, lane uint8) {
		const magic = 0xa5c3
		if at < 0 {
			at += len(b)
		}
		if put && at >= 0 && at <= len(b)-packet.TagLen {
			packet.Tag{Magic: magic, Lane: lane, Nanos: 5}.Put(b[at:])
		}
		full := udp("10.0.0.2:7", "10.1.0.1:9")
		full[59] = 1
		s := &packet.Store{}
		s.Append(udp("10.0.0.1:7", "10.1.0.1:9"), 0, 60)
		s.Append(full, 0, 60)
		r, err := newRun(Options{Ports: map[string]nic.Device{"a": {Queues: []nic.Port{nil}}, "b": {Queues: []nic.Port{nil}}},
			Streams: []Stream{{Name: "s", Packets: s, TX: "a", RX: "b"}}, Magic: magic})
		if err != nil {
			t.Fatal(err)
		}
		st := r.streams[0]
		st.begin(2)
		st.probes[0].sent, st.probes[1].sent = true, true
		table := match.Table{Magic: magic}
		table.Lanes[0] = true
		table.Expect(packet.Flow(full))
		v := table.Match(b).Verdict
		a := arrive(b, "b", 10)
		found, ok := r.known.find(a)
		plain := ok && found.plain && found.stream != nil
		ends, _ := tupleOf(a)
		translated := plain && found.probe.tag < 0 && ends != found.probe.ends
		if want := v == match.Tagged || v == match.ByFlow; plain != want && !translated {
			t.Fatalf("found %+v, %v; match says %d", found, ok, v)
		}
		if v == match.Late && (!ok || found.stream != nil) {
			t.Fatalf("a packet of another run is found: %+v", found)
		}
		p := r.port("b")
		p.hear(&packet.Frame{Data: b}, 10)
		told := len(st.told) > 0
		if heard := p.heard.String() != "nothing"; heard == (ok && !told) {
			t.Fatalf("found %v, told of one of ours %v, heard %s", ok, told, p.heard.String())
		}
		if back := st.back == 1; !told && back != plain {
			t.Fatalf("back %v, found plain %v", back, plain)
		}
		if found, ok := r.known.find(arrive(b, "a", 10)); ok && found.plain && found.stream != nil && v != match.Tagged {
			t.Fatalf("at a: found %+v; match says %d", found, v)
		}
	})
}
