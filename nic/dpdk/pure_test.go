//go:build dpdk && cgo && linux

package dpdk

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"loadtest/internal/match"
	"loadtest/internal/pace"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/trial"
)

// bases are frames of all kinds that a tag may be in, or seems to be.
func bases(t testing.TB) (all [][]byte) {
	data := gopacket.Payload(make([]byte, 40))
	eth := func(typ layers.EthernetType) *layers.Ethernet {
		return &layers.Ethernet{SrcMAC: []byte{2, 0, 0, 0, 0, 1}, DstMAC: []byte{2, 0, 0, 0, 0, 2}, EthernetType: typ}
	}
	four := func(p layers.IPProtocol) *layers.IPv4 {
		return &layers.IPv4{Version: 4, TTL: 9, Protocol: p, SrcIP: []byte{10, 0, 0, 1}, DstIP: []byte{10, 0, 0, 2}}
	}
	six := func(p layers.IPProtocol) *layers.IPv6 {
		return &layers.IPv6{Version: 6, HopLimit: 9, NextHeader: p, SrcIP: make([]byte, 16), DstIP: make([]byte, 16)}
	}
	options := four(17)
	options.Options = []layers.IPv4Option{{OptionType: 1}, {OptionType: 1}, {OptionType: 1}, {OptionType: 0}}
	last := four(17)
	last.FragOffset = 5
	const v4, v6 = layers.EthernetTypeIPv4, layers.EthernetTypeIPv6
	tag := func(next layers.EthernetType) *layers.Dot1Q { return &layers.Dot1Q{VLANIdentifier: 7, Type: next} }
	for _, l := range [][]gopacket.SerializableLayer{
		{eth(v4), four(17), &layers.UDP{}, data},
		{eth(v4), options, &layers.UDP{}, data},
		{eth(v4), four(6), &layers.TCP{DataOffset: 5}, data},
		{eth(v4), four(1), &layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(8, 0)}, data},
		{eth(v4), four(1), &layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(3, 1)}, data},
		{eth(v4), four(50), data},
		{eth(v4), last, data},
		{eth(layers.EthernetTypeDot1Q), tag(v4), four(17), &layers.UDP{}, data},
		{eth(layers.EthernetTypeQinQ), tag(layers.EthernetTypeDot1Q), tag(v6), six(17), &layers.UDP{}, data},
		{eth(v6), six(6), &layers.TCP{DataOffset: 5}, data},
		{eth(v6), six(58), &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(1, 0)}, data},
		{eth(v6), six(58), &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(128, 0)}, data},
		{eth(v6), six(0), gopacket.Payload([]byte{60, 0, 1, 4, 0, 0, 0, 0, 17, 1, 1, 4, 0, 0, 0, 0, 1, 4, 0, 0, 0, 0, 0, 0}), &layers.UDP{}, data},
		{eth(v6), six(44), gopacket.Payload([]byte{17, 0, 0, 0, 0, 0, 0, 1}), &layers.UDP{}, data},
		{eth(layers.EthernetTypeARP), data},
	} {
		b := gopacket.NewSerializeBuffer()
		if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true}, l...); err != nil {
			t.Fatal(err)
		}
		all = append(all, append([]byte(nil), b.Bytes()...))
	}
	return all
}

var awaited = nic.Await{Magic: 0xa5c3, Trial: 5, Preroll: 4, Lanes: []uint8{0, 2, 255}}

func tableOf(a nic.Await) *match.Table {
	t := &match.Table{Magic: a.Magic, Trial: a.Trial, Preroll: a.Preroll}
	for _, id := range a.Lanes {
		t.Lanes[id] = true
	}
	return t
}

// placed is where package match looks for a tag.
func placed(b []byte) int {
	h, ok := packet.Parse(b)
	if ok && (h.Type == packet.TypeIPv4 || h.Type == packet.TypeIPv6) && !h.Fragment && h.End-packet.TagLen >= h.L4 && h.End <= len(b) && !h.Quotes(b) {
		return h.End - packet.TagLen
	}
	return -1
}

// same compares what C and Go say of a frame.
func same(t *testing.T, k knower, table *match.Table, b []byte) (ours bool) {
	t.Helper()
	if got, want := tagAt(b), placed(b); got != want {
		t.Fatalf("C looks for a tag at %d, Go at %d, in\n% x", got, want, b)
	}
	v := table.Match(b).Verdict
	ours = v == match.Tagged || v == match.Preroll
	if got := k.ours(b); got != ours {
		t.Fatalf("ours for C: %v; verdict of Go: %d, of\n% x", got, v, b)
	}
	return ours
}

func TestClassifyAsMatch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	k, ok := newKnower(awaited)
	if !ok {
		t.Fatal("no memory")
	}
	defer k.close()
	table, all, known, ours := tableOf(awaited), bases(t), 0, 0
	const frames = 400000
	for range frames {
		b := append([]byte(nil), all[r.IntN(len(all))]...)
		if r.IntN(4) == 0 {
			b = append(b, make([]byte, r.IntN(20))...)
		}
		for range r.IntN(3) {
			b[r.IntN(min(len(b), 60))] = byte(r.Uint32() >> r.IntN(24))
		}
		if at := placed(b); at >= 0 {
			known++
			tag := packet.Tag{Magic: awaited.Magic, Lane: []uint8{0, 1, 2, 255}[r.IntN(4)], Trial: uint8(3 + r.IntN(4)), Seq: r.Uint32(), Nanos: r.Int64() - r.Int64()}
			if r.IntN(10) == 0 {
				tag.Magic++
			}
			if tag.Put(b[at:]); r.IntN(10) == 0 {
				b[at+r.IntN(packet.TagLen)] ^= 1
			}
		}
		if r.IntN(8) == 0 {
			b = b[:r.IntN(len(b)+1)]
		}
		if same(t, k, table, b) {
			ours++
		}
	}
	if known < frames/4 || ours < frames/20 {
		t.Errorf("%d of %d frames had room for a tag and %d were ours: too few to compare", known, frames, ours)
	}
}

func FuzzClassify(f *testing.F) {
	for i, b := range bases(f) {
		f.Add(b, -packet.TagLen-i%2)
	}
	f.Fuzz(func(t *testing.T, b []byte, at int) {
		k, ok := newKnower(awaited)
		if !ok {
			t.Skip("no memory")
		}
		defer k.close()
		if at < 0 {
			at += len(b)
		}
		if at >= 0 && at <= len(b)-packet.TagLen {
			packet.Tag{Magic: awaited.Magic, Lane: 2, Trial: awaited.Trial, Seq: 7}.Put(b[at:])
		}
		same(t, k, tableOf(awaited), b)
	})
}

func TestTag(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200000 {
		tag := packet.Tag{Magic: uint16(r.Uint32()), Lane: uint8(r.Uint32()), Trial: uint8(r.Uint32()), Seq: r.Uint32() >> r.IntN(32), Nanos: r.Int64() >> r.IntN(63)}
		if r.IntN(8) == 0 {
			tag = packet.Tag{Magic: math.MaxUint16, Lane: math.MaxUint8, Trial: math.MaxUint8, Seq: math.MaxUint32, Nanos: -1 - int64(r.IntN(3))}
		}
		var got, want [packet.TagLen]byte
		putTag(got[:], tag)
		if tag.Put(want[:]); got != want {
			t.Fatalf("%+v is % x, want % x", tag, got, want)
		}
	}
}

func TestWindowAsMatch(t *testing.T) {
	w := newWindow()
	defer w.free()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 5))
		var m match.Window
		m.Reset()
		m.Limit = math.MaxInt64
		w.reset()
		var top int64
		step, reach := 1+r.Int64N(4), int64(1)<<r.IntN(22)
		for i := range int64(20000) {
			seq := i*step + r.Int64N(reach) - reach/2
			switch r.IntN(3000) {
			case 0:
				seq += r.Int64N(1 << 22)
			case 1:
				seq = r.Int64N(1<<33) - 1<<31
			}
			low := uint32(seq)
			if got, want := w.see(low), m.See(low); got != want {
				t.Fatalf("seed %d, packet %d, sequence %d: C says %d, Go %d", seed, i, low, got, want)
			} else if got == match.New {
				top = max(top, top+int64(int32(low-uint32(top)))+1)
			}
		}
		if got, want := w.books(), [5]int64{m.Received, m.Duplicated, m.Reordered, m.TooOld, top}; got != want {
			t.Errorf("seed %d: received, duplicated, reordered, too old, top: C %d, Go %d", seed, got, want)
		}
	}
}

func TestHistogram(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	for n := range 200 {
		var want trial.Histogram
		ns := make([]int64, n)
		for i := range ns {
			ns[i] = r.Int64()>>r.IntN(63) - int64(r.IntN(2))
			want.Record(ns[i], 1)
		}
		if got := cells(ns); !reflect.DeepEqual(got, want) {
			t.Fatalf("%d values: C counts %d, %d..%d, sum %g in %v; Go %d, %d..%d, sum %g in %v", n, got.Count, got.Min, got.Max, got.Sum, got.Bars(),
				want.Count, want.Min, want.Max, want.Sum, want.Bars())
		}
	}
}

// C's deadlines are those of package pace, to the ns.
func TestScheduleAsPacer(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for range 3000 {
		unit, most := trial.WireBits, int64(8*9100)
		load := float64(1 + r.Int64N(1<<r.IntN(45)))
		cost := func() (uint64, pace.Cost) {
			bits := 672 + 8*r.Int64N(9000)
			return uint64(bits), pace.Bits(bits)
		}
		switch r.IntN(3) {
		case 0:
			unit, most = trial.Packets, 1
			cost = func() (uint64, pace.Cost) { return 1, pace.OnePacket }
		case 1:
			unit, most = trial.Factor, 1<<35
			cost = func() (uint64, pace.Cost) {
				gap := r.Int64N(1 << 35)
				return uint64(gap), pace.Wait(gap)
			}
		}
		num, den, ok := pace.Fraction(unit, load, most)
		if !ok {
			continue
		}
		s, p := newSchedule(num, den), pace.New([]trial.Point{{Load: load}}, pace.Never, 1)
		for i := range 300 {
			if s.due() != p.Due() {
				t.Fatalf("unit %d, load %g = %d/%d: packet %d is due at %d, want %d", unit, load, num, den, i, s.due(), p.Due())
			}
			a, b := cost()
			s.next(a)
			p.Next(b)
		}
	}
}

// A deadline that no clock reaches is Never, and does not wrap.
func TestScheduleEnds(t *testing.T) {
	s := newSchedule(1<<62, 1)
	s.next(1)
	s.next(1)
	s.next(1)
	if s.due() != nic.Never {
		t.Errorf("due at %d, want never", s.due())
	}
}
