package xdp

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"loadtest/internal/lab"
	"loadtest/internal/match"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/trial"
	"loadtest/units"
)

// detached is a classifier at no interface.
func detached(t *testing.T, lanes int) *classifier {
	t.Helper()
	lab.Need(t, "root", "xdp")
	c := &classifier{open: true}
	if err := c.make(lanes); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.close() })
	return c
}

// sees is what the program says of a frame.
func sees(t *testing.T, c *classifier, b []byte) uint32 {
	t.Helper()
	v, err := c.program.Run(&ebpf.RunOptions{Data: b})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// frame is an Ethernet frame with a tag at the end of its IP packet, and some bytes of padding behind.
func frame(r *rand.Rand, tag packet.Tag) []byte {
	b := make([]byte, 12, 500)
	for range r.IntN(mostVLANs + 1) {
		b = append(b, 0x81, 0, 0, 7)
		if r.IntN(2) == 0 {
			copy(b[len(b)-4:], []byte{0x88, 0xa8})
		}
	}
	payload := packet.TagLen + r.IntN(40)
	header := 8
	proto := []byte{packet.ProtoUDP, packet.ProtoTCP, packet.ProtoICMP, packet.ProtoESP}[r.IntN(4)]
	if proto == packet.ProtoTCP {
		header = 20 + 4*r.IntN(3)
	}
	total := header + payload
	if r.IntN(2) == 0 {
		ihl := 20 + 4*r.IntN(4)
		b = append(b, 8, 0, byte(0x40|ihl/4), 0, byte((ihl+total)>>8), byte(ihl+total), 0, 0, 0x40, 0, 64, proto, 0, 0)
		b = append(b, make([]byte, ihl-12)...)
	} else {
		if proto == packet.ProtoICMP {
			proto = packet.ProtoICMPv6
		}
		next, extensions := proto, []byte(nil)
		for range r.IntN(mostExtensions + 1) {
			extension := make([]byte, 8*(1+r.IntN(3)))
			extension[0], extension[1] = next, byte(len(extension)/8-1)
			next, extensions = []byte{0, 43, 60}[r.IntN(3)], append(extension, extensions...)
		}
		b = append(b, 0x86, 0xdd, 0x60, 0, 0, 0, byte((len(extensions)+total)>>8), byte(len(extensions)+total), next, 64)
		b = append(append(b, make([]byte, 32)...), extensions...)
	}
	l4 := len(b)
	b = append(b, make([]byte, total)...)
	switch proto {
	case packet.ProtoTCP:
		b[l4+12] = byte(header / 4 << 4)
	case packet.ProtoICMP, packet.ProtoICMPv6:
		b[l4] = byte(r.IntN(256))
	}
	tag.Put(b[len(b)-packet.TagLen:])
	return append(b, make([]byte, r.IntN(20))...)
}

// beyond says whether a frame has more VLAN tags or extension headers than the program reads.
func beyond(b []byte) bool {
	h, ok := packet.Parse(b)
	if !ok || h.Type != packet.TypeIPv6 || h.Fragment {
		return h.L3 > packet.EtherLen+4*mostVLANs
	}
	n := 0
	for at := h.L3 + 40; at < h.L4; n++ {
		at += 8 * (1 + int(b[at+1]))
	}
	return n > mostExtensions || h.L3 > packet.EtherLen+4*mostVLANs
}

// The program takes exactly the frames that Go takes for ours of this trial and its pre-roll, whatever was done to them.
func TestClassifierTakesWhatGoTakes(t *testing.T) {
	c := detached(t, 8)
	r := rand.New(rand.NewPCG(1, 2))
	table := match.Table{Magic: 0xbeef, Trial: 7, Preroll: 6}
	table.Lanes[2], table.Lanes[5] = true, true
	if err := c.begin(nic.Await{Magic: 0xbeef, Trial: 7, Preroll: 6, Lanes: []uint8{2, 5}}); err != nil {
		t.Fatal(err)
	}
	took, skipped := 0, 0
	for i := range 60000 {
		tag := packet.Tag{Magic: 0xbeef, Lane: []uint8{2, 5, 3, 9}[r.IntN(4)], Trial: uint8(5 + r.IntN(4)), Seq: uint32(i), Nanos: r.Int64()}
		if r.IntN(20) == 0 {
			tag.Magic++
		}
		b := frame(r, tag)
		for range r.IntN(3) { // spoil it
			switch at := r.IntN(len(b)); r.IntN(3) {
			case 0:
				b[min(12+r.IntN(100), len(b)-1)] ^= 1 << r.IntN(8)
			case 1:
				b[at] = byte(r.Uint32())
			case 2:
				b = b[:max(14, at)]
			}
		}
		if len(b) < 14 {
			continue
		}
		if beyond(b) {
			skipped++
			continue
		}
		hit := table.Match(b)
		want := uint32(xdpPass)
		if hit.Verdict == match.Tagged || hit.Verdict == match.Preroll {
			want = xdpDrop
			took++
		}
		if got := sees(t, c, b); got != want {
			t.Fatalf("frame %d: program says %d, Go %d (verdict %d):\n% x", i, got, want, hit.Verdict, b)
		}
	}
	if took < 5000 || skipped > 600 {
		t.Errorf("%d of 60000 frames were ours, %d left out", took, skipped)
	}
}

// simple is a frame with a tag, of so many bytes.
func simple(size int, tag packet.Tag) []byte {
	b := make([]byte, size)
	b[12], b[14], b[22], b[23] = 8, 0x45, 64, packet.ProtoUDP
	binary.BigEndian.PutUint16(b[16:], uint16(size-14))
	tag.Put(b[size-packet.TagLen:])
	return b
}

// The window gives match.Window's answers, trial after trial, with gaps, copies, swaps, jumps and what is too old.
func TestClassifierCountsAsGoCounts(t *testing.T) {
	c := detached(t, 1)
	r := rand.New(rand.NewPCG(3, 4))
	for number := uint8(1); number <= 4; number++ {
		if err := c.begin(nic.Await{Magic: 1, Trial: number, Lanes: []uint8{3}}); err != nil { // the memory grows for it
			t.Fatal(err)
		}
		var w match.Window
		w.Reset()
		w.Limit = 1 << 40
		var bytes, bits int64
		seq := int64(0)
		for i := range 30000 {
			at := seq
			switch r.IntN(12) {
			case 0:
				at = max(0, seq-int64(r.IntN(100)))
			case 1:
				at = max(0, seq-int64(r.IntN(1<<21)))
			case 2:
				seq += int64(r.IntN(200))
			case 3:
				if i%97 == 0 {
					seq += int64(r.IntN(1 << 21))
				}
			}
			if at == seq {
				seq++
			}
			size := 60 + r.IntN(100)
			if w.See(uint32(at)) == match.New {
				bytes += int64(size)
				bits += units.WireBits(size)
			}
			if v := sees(t, c, simple(size, packet.Tag{Magic: 1, Lane: 3, Trial: number, Seq: uint32(at), Nanos: 1000})); v != xdpDrop {
				t.Fatalf("packet %d: verdict %d", i, v)
			}
		}
		got := c.read(3)
		want := nic.Arrivals{Received: w.Received, Duplicated: w.Duplicated, Reordered: w.Reordered, TooOld: w.TooOld, Bytes: bytes, WireBits: bits, Top: got.Top, Last: got.Last}
		if got != want || got.Top != seq && got.Top > seq || got.Last == 0 {
			t.Fatalf("trial %d:\n got %+v\nwant %+v; top %d", number, got, want, seq)
		}
		var h trial.Histogram
		c.latency(3, &h)
		if h.Count != got.Received || h.Min <= 0 || h.Max < h.Min {
			t.Errorf("latency of %d packets, %d..%d; want %d", h.Count, h.Min, h.Max, got.Received)
		}
	}
}

// The second half is a window on the clock; a pre-roll counts only as the last arrival.
func TestClassifierHalfAndPreroll(t *testing.T) {
	c := detached(t, 1)
	now := monotonic()
	for _, tt := range []struct {
		name       string
		from, to   int64
		trial      uint8
		half, recv int64
	}{{"within", now, now + 1e12, 9, 1, 1}, {"before", now + 1e12, now + 2e12, 9, 0, 1}, {"after", 0, now, 9, 0, 1}, {"pre-roll", now, now + 1e12, 8, 0, 0}} {
		if err := c.begin(nic.Await{Magic: 1, Trial: 9, Preroll: 8, Lanes: []uint8{0}, Half: tt.from, HalfEnd: tt.to}); err != nil {
			t.Fatal(err)
		}
		sees(t, c, simple(90, packet.Tag{Magic: 1, Trial: tt.trial, Nanos: now}))
		a := c.read(0)
		if a.Half.Packets != tt.half || a.Half.Bytes != 90*tt.half || a.Half.WireBits != units.WireBits(90)*tt.half || a.Received != tt.recv || a.Last < now {
			t.Errorf("%s: %+v", tt.name, a)
		}
	}
	if err := c.begin(nic.Await{}); err != nil {
		t.Fatal(err)
	}
	if v := sees(t, c, simple(90, packet.Tag{Magic: 1, Trial: 9})); v != xdpPass {
		t.Errorf("between trials the verdict is %d, want pass", v)
	}
}

// The cells are those of trial.Histogram, to the last bit.
func TestCells(t *testing.T) {
	lab.Need(t, "root", "xdp")
	p := &code{}
	p.load(asm.R2, asm.R1, 0, asm.Word)
	p.load(asm.R3, asm.R1, 4, asm.Word)
	p.mov(asm.R4, asm.R2)
	p.imm(asm.Add, asm.R4, 14)
	p.ifReg(asm.JGT, asm.R4, asm.R3, "out")
	p.load(asm.R5, asm.R2, 0, asm.DWord)
	p.cell(asm.R5, asm.R3, asm.R4)
	p.mov(asm.R0, asm.R5)
	p.add(asm.Return())
	p.label("out")
	p.ret(-1)
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.XDP, License: "GPL", Instructions: p.Instructions})
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	values := []int64{math.MinInt64, -1, 0, 1, 127, 128, 129, 1<<39 - 1, 1 << 39, 1<<40 - 1, 1 << 40, math.MaxInt64}
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		values = append(values, r.Int64()>>r.IntN(63))
	}
	b := make([]byte, 14)
	for _, v := range values {
		binary.NativeEndian.PutUint64(b, uint64(v))
		cell, err := program.Run(&ebpf.RunOptions{Data: b})
		if err != nil || cell >= trial.HistogramCells {
			t.Fatalf("%d: cell %d, error %v", v, cell, err)
		}
		var want, got trial.Histogram
		want.Record(v, 1)
		n := make([]uint64, trial.HistogramCells)
		n[cell] = 1
		got.AddCells(n, want.Min, want.Max, want.Sum)
		if !slices.Equal(got.Bars(), want.Bars()) || got.Above(max(v, 0)) != 0 || v > 0 && v < 1<<40 && got.Above(v-v/32-1) != 1 {
			t.Fatalf("%d is counted in cell %d: %v, want %v", v, cell, got.Bars(), want.Bars())
		}
	}
}
