package split_test

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"loadtest/internal/split"
	"loadtest/packet"
)

func add(f *split.Flows, b []byte) {
	h, ok := packet.Parse(b)
	f.Add(b, &h, ok)
}

// The table counts what a map does.
func TestFlowsAgainstMap(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	hosts := []string{"10.0.0.1", "10.0.0.2", "11.0.0.1", "fd00::1", "fd00::2", "::ffff"}
	ports := []string{"", "", ":1", ":2", ":65535"}
	type flow struct {
		a, b  string
		proto uint8
	}
	type marks struct{ there, back, syn, answer bool }
	var whole split.Counts
	for range 20 {
		table, model := split.NewFlows(0), map[flow]*marks{}
		for range 2000 {
			family := rnd.IntN(2) * 3
			x := p{proto: []uint8{packet.ProtoTCP, packet.ProtoUDP, packet.ProtoICMP, packet.ProtoESP}[rnd.IntN(4)], flags: []uint8{syn, synAck, ack}[rnd.IntN(3)]}
			side := func() string {
				host, port := hosts[family+rnd.IntN(3)], ports[rnd.IntN(len(ports))]
				if x.proto == packet.ProtoICMP || x.proto == packet.ProtoESP {
					port = ""
				}
				if family > 0 && port != "" {
					host = "[" + host + "]"
				}
				return host + port
			}
			x.from, x.to = side(), side()
			add(table, x.frame(t))
			a, b, back := x.from, x.to, false
			if a > b {
				a, b, back = b, a, true
			}
			m := model[flow{a, b, x.proto}]
			if m == nil {
				m = &marks{}
				model[flow{a, b, x.proto}] = m
			}
			m.there, m.back = m.there || !back, m.back || back
			m.syn, m.answer = m.syn || x.flags == syn, m.answer || x.flags == synAck
		}
		var want split.Counts
		one := func(n *int64, is bool) {
			if is {
				*n++
			}
		}
		for f, m := range model {
			_, a := end(t, f.a)
			_, b := end(t, f.b)
			ported := a != 0 || b != 0
			tcp := f.proto == packet.ProtoTCP && ported
			one(&want.TCP, tcp)
			one(&want.TwoSided, tcp && m.there && m.back)
			one(&want.Opened, tcp && m.syn)
			one(&want.Handshakes, tcp && m.there && m.back && m.syn && m.answer)
			one(&want.UDP, f.proto == packet.ProtoUDP && ported)
			one(&want.ICMP, f.proto == packet.ProtoICMP)
			one(&want.Other, f.proto != packet.ProtoICMP && !ported)
		}
		if got := table.Counts(); got != want {
			t.Fatalf("%+v, want %+v", got, want)
		}
		whole = want
	}
	if whole.TCP == 0 || whole.TwoSided == whole.TCP || whole.Handshakes == 0 || whole.Other == 0 {
		t.Errorf("a poor test: %+v", whole)
	}
}

func TestMostFlows(t *testing.T) {
	table := split.NewFlows(2)
	packets := []p{
		{from: "10.0.0.1:1", to: "10.0.0.2:2", proto: packet.ProtoTCP, flags: syn},
		{from: "10.0.0.1:3", to: "10.0.0.2:2", proto: packet.ProtoUDP},
		{from: "10.0.0.2:2", to: "10.0.0.1:1", proto: packet.ProtoTCP, flags: synAck},
	}
	for _, x := range packets {
		add(table, x.frame(t))
	}
	want := split.Counts{TCP: 1, TwoSided: 1, Opened: 1, Handshakes: 1, UDP: 1}
	if got := table.Counts(); got != want {
		t.Errorf("two flows: %+v, want %+v", got, want)
	}
	add(table, p{from: "10.0.0.1:4", to: "10.0.0.2:2", proto: packet.ProtoUDP}.frame(t))
	if want.AtLeast = true; table.Counts() != want {
		t.Errorf("three flows: %+v, want %+v", table.Counts(), want)
	}
}

func TestKinds(t *testing.T) {
	ip := p{from: "[fd00::1]:1", to: "[fd00::2]:2", proto: packet.ProtoUDP}.frame(t)
	for _, tt := range []struct {
		frame []byte
		want  string
	}{
		{ip[:13], "too short"},
		{append(make([]byte, 12), 0, 38, 0x42, 0x42, 3), "802.3 LLC"},
		{append(make([]byte, 12), 5, 0xff, 0xff), "802.3 LLC"},
		{append(make([]byte, 12), 8, 6), "ARP"},
		{append(make([]byte, 12), 8, 0, 0x45), "IPv4, cut or damaged"},
		{ip[:56], "IPv6, cut or damaged"},
		{append(make([]byte, 12), 0x88, 0xcc), "LLDP"},
		{append(make([]byte, 12), 0x81, 0), "VLAN, cut"},
		{append(make([]byte, 12), 0x88, 0xa8, 0, 1), "VLAN, cut"},
		{append(make([]byte, 12), 0x81, 0, 0, 1, 0x88, 0x8e), "802.1X"},
		{append(make([]byte, 12), 0x88, 0x08), "flow control"},
		{append(make([]byte, 12), 0x12, 0x34), "EtherType 0x1234"},
	} {
		h, _ := packet.Parse(tt.frame)
		if got := split.KindOf(tt.frame, &h).String(); got != tt.want {
			t.Errorf("% x: %s, want %s", tt.frame, got, tt.want)
		}
	}
}

// A flow takes 64 bytes at most.
func TestFlowsSize(t *testing.T) {
	used := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	b := p{from: "[fd00::1]:5000", to: "[fd00::2]:53", proto: packet.ProtoUDP}.frame(t)
	for _, flows := range []int{300_000, 600_000} { // around a doubling of the index, at 524288
		before := used()
		table := split.NewFlows(0)
		for i := range flows {
			b[24], b[25], b[26] = byte(i>>16), byte(i>>8), byte(i)
			add(table, b)
		}
		each := float64(used()-before) / float64(flows)
		if n := table.Counts().UDP; n != int64(flows) || each > 64 || each < 38 {
			t.Errorf("%d of %d flows take %.1f bytes each, want at most 64", n, flows, each)
		}
		runtime.KeepAlive(table)
	}
}
