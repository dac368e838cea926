package replay_test

import (
	"testing"
	"time"

	"loadtest/internal/clock"
	"loadtest/nic"
	"loadtest/nic/mem"
	"loadtest/packet"
	"loadtest/replay"
	"loadtest/trial"
)

func store(n, size int) *packet.Store {
	s := &packet.Store{}
	for i := range n {
		b := make([]byte, size)
		copy(b, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, byte((size - 14) >> 8), byte(size - 14)})
		b[22], b[23] = 64, 17
		copy(b[26:], []byte{198, 18, 0, 1, 198, 19, byte(i >> 8), byte(i), 0, 7, 0, 9, byte((size - 34) >> 8), byte(size - 34)})
		s.Append(b, 0, size)
	}
	return s
}

// BenchmarkReplay is the whole path on one thread: pace, tag, send, receive, match, tally. The copies are those of the memory wire.
func BenchmarkReplay(b *testing.B) {
	for _, bm := range []struct {
		name string
		size int
		tag  packet.TagMode
	}{{"60B tagged", 60, packet.TagAuto}, {"60B by flow", 60, packet.TagNever}, {"1514B tagged", 1514, packet.TagAuto}} {
		b.Run(bm.name, func(b *testing.B) {
			x, y := mem.Pair(1024)
			r, err := replay.New(replay.Options{Clock: clock.NewVirtual(), Ports: map[string]nic.Device{"x": x, "y": y}, Tag: bm.tag,
				Streams: []replay.Stream{{Name: "x", Source: "made", Packets: store(1000, bm.size), TX: "x", RX: "y"}}})
			if err != nil {
				b.Fatal(err)
			}
			spec := trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 1e7}}, Duration: time.Duration(b.N) * 100}
			b.ReportAllocs()
			b.ResetTimer()
			res, err := r.Run(b.Context(), spec, nil)
			if s := res.Streams[0]; err != nil || s.Lost() != 0 || s.Sent != int64(b.N) {
				b.Fatalf("sent %d, lost %d of %d: %v", s.Sent, s.Lost(), b.N, err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpps")
		})
	}
}

// A trial of a million packets makes no more allocations than one of a thousand: none per packet.
func TestNoAllocationPerPacket(t *testing.T) {
	x, y := mem.Pair(1024)
	r, err := replay.New(replay.Options{Clock: clock.NewVirtual(), Ports: map[string]nic.Device{"x": x, "y": y},
		Streams: []replay.Stream{{Name: "x", Source: "made", Packets: store(100, 60), TX: "x", RX: "y"}}})
	if err != nil {
		t.Fatal(err)
	}
	allocs := func(n int) float64 {
		return testing.AllocsPerRun(3, func() {
			spec := trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 1e7}}, Duration: time.Duration(n) * 100}
			if _, err := r.Run(t.Context(), spec, nil); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocs(1000), allocs(1000000); many > few+2 {
		t.Errorf("%v allocations for 1000 packets, %v for 1000000", few, many)
	}
}
