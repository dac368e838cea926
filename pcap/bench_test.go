package pcap_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"loadtest/packet"
	"loadtest/pcap"
)

// BenchmarkReadFile reads a file into a store, beside gopacket's reader doing the same, and (drop) gopacket's reader that keeps
// nothing: much of what keeping costs is fresh memory, which is zeroed.
func BenchmarkReadFile(b *testing.B) {
	for _, file := range []struct {
		name    string
		packets int
		size    int
		ng      bool
	}{
		{"pcap/64B", 1 << 19, 64, false},
		{"pcap/1500B", 1 << 16, 1500, false},
		{"pcapng/64B", 1 << 19, 64, true},
		{"pcapng/1500B", 1 << 16, 1500, true},
	} {
		path := filepath.Join(b.TempDir(), "bench")
		writeMany(b, path, file.packets, file.size, file.ng)
		for _, reader := range []struct {
			name string
			read func(testing.TB, string) int
		}{{"loadtest", readOurs}, {"gopacket", storeGopacket}, {"gopacket-drop", dropGopacket}} {
			b.Run(file.name+"/"+reader.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if n := reader.read(b, path); n != file.packets {
						b.Fatalf("%d packets, want %d", n, file.packets)
					}
				}
				b.ReportMetric(float64(file.packets)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpps")
			})
		}
	}
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

// What a file costs while it is read, not only after: the packets, 16 bytes for each, a tenth and the buffer.
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
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s, err := pcap.ReadFile(path)
			runtime.ReadMemStats(&after)
			must(t, err)
			got := after.TotalAlloc - before.TotalAlloc
			if want := uint64(1.1*float64(s.Bytes()+16*packets)) + 300_000; got > want {
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

func storeGopacket(t testing.TB, path string) int { return readGopacket(t, path).Len() }

func dropGopacket(t testing.TB, path string) int {
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	from, _, err := openGopacket(f)
	must(t, err)
	for n := 0; ; n++ {
		if _, _, err := from.ReadPacketData(); err == io.EOF {
			return n
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
