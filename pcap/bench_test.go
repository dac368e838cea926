package pcap_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"loadtest/packet"
	"loadtest/pcap"
)

// BenchmarkReadFile reads a file into a store, and says how many times as fast as gopacket does the same (×gopacket), and what part
// of the speed of os.ReadFile that is (×os). They take turns, so that what else the machine does hits each of them; the best of
// all turns count.
func BenchmarkReadFile(b *testing.B) {
	for _, file := range []struct {
		name    string
		packets int
		size    int
		ng      bool
	}{
		{"pcap/60B", 1 << 20, 60, false},
		{"pcap/350B", 1 << 18, 350, false},
		{"pcap/1500B", 1 << 16, 1500, false},
		{"pcapng/60B", 1 << 20, 60, true},
		{"pcapng/350B", 1 << 18, 350, true},
		{"pcapng/1500B", 1 << 16, 1500, true},
	} {
		path := filepath.Join(b.TempDir(), "bench")
		writeMany(b, path, file.packets, file.size, file.ng)
		b.Run(file.name, func(b *testing.B) {
			var ours, gopacket, system time.Duration
			for b.Loop() {
				for range 4 {
					ours = quickest(ours, func() { readOurs(b, path) })
					system = quickest(system, func() {
						_, err := os.ReadFile(path)
						must(b, err)
					})
				}
				gopacket = quickest(gopacket, func() { readGopacket(b, path) })
			}
			b.ReportMetric(float64(gopacket)/float64(ours), "×gopacket")
			b.ReportMetric(float64(system)/float64(ours), "×os")
			b.ReportMetric(float64(file.packets)/ours.Seconds()/1e6, "Mpps")
			b.ReportMetric(0, "ns/op") // of all together: says nothing
		})
	}
}

// quickest is the shorter one of a time and the time that f takes, on a heap without garbage.
func quickest(best time.Duration, f func()) time.Duration {
	runtime.GC()
	start := time.Now()
	f()
	d := time.Since(start)
	if best > 0 {
		d = min(d, best)
	}
	return d
}

// BenchmarkWriteFrame holds the line of 0 allocations for a port that writes what would be sent.
func BenchmarkWriteFrame(b *testing.B) {
	w, err := pcap.NewWriter(io.Discard, pcap.Options{Nanos: true})
	must(b, err)
	f := packet.Frame{Data: make([]byte, 64), Nanos: 1}
	b.ReportAllocs()
	for b.Loop() {
		f.Nanos++
		must(b, w.WriteFrame(f, 0))
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpps")
}

func TestWriteFrameDoesNotAllocate(t *testing.T) {
	w, err := pcap.NewWriter(io.Discard, pcap.Options{})
	must(t, err)
	f := packet.Frame{Data: make([]byte, 64), Nanos: 1}
	if n := testing.AllocsPerRun(10000, func() { _ = w.WriteFrame(f, 0) }); n != 0 {
		t.Fatalf("WriteFrame allocates %v times, want 0", n)
	}
}

// What a file costs while it is read, not only after: the packets, 16 bytes for each, and the buffer.
func TestReadFileMemory(t *testing.T) {
	const packets = 1 << 17
	for _, tt := range []struct {
		name string
		size int
		ng   bool
	}{{"pcap", 64, false}, {"pcapng", 64, true}, {"pcap large", 700, false}} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "many")
			writeMany(t, path, packets, tt.size, tt.ng)
			var s *packet.Store
			got := allocated(func() {
				var err error
				s, err = pcap.ReadFile(path)
				must(t, err)
			})
			if want := uint64(1.05*float64(s.Bytes()+16*packets)) + 400_000; got > want {
				t.Errorf("ReadFile allocates %d bytes, want at most %d", got, want)
			}
		})
	}
}

// writeMany writes a capture of equal packets with gopacket.
func writeMany(t testing.TB, path string, packets, size int, ng bool) {
	t.Helper()
	var out bytes.Buffer
	data := bytes.Repeat([]byte{0xa5}, size)
	info := gopacket.CaptureInfo{Timestamp: t0, CaptureLength: size, Length: size}
	if ng {
		w, err := pcapgo.NewNgWriter(&out, layers.LinkTypeEthernet)
		must(t, err)
		for range packets {
			must(t, w.WritePacket(info, data))
		}
		must(t, w.Flush())
	} else {
		w := pcapgo.NewWriter(&out)
		must(t, w.WriteFileHeader(65535, layers.LinkTypeEthernet))
		for range packets {
			must(t, w.WritePacket(info, data))
		}
	}
	must(t, os.WriteFile(path, out.Bytes(), 0o644))
}

func readOurs(t testing.TB, path string) int {
	s, err := pcap.ReadFile(path)
	must(t, err)
	return s.Len()
}
