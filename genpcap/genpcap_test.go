package genpcap_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadtest/genpcap"
	"loadtest/packet"
	"loadtest/pcap"
	"loadtest/testbed"
)

var update = flag.Bool("update", false, "rewrite the expected outputs")

func parse(t *testing.T, text string) *testbed.Testbed {
	t.Helper()
	b, err := testbed.Parse(t.Name(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func packets(t *testing.T, text string, seed uint64) *packet.Store {
	t.Helper()
	s, err := genpcap.Packets(parse(t, text), seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// read is the text of a file.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPackets compares the first packets, as text: length, headers.
func TestPackets(t *testing.T) {
	inputs, err := filepath.Glob("../testdata/gentest/*.conf")
	if err != nil || len(inputs) == 0 {
		t.Fatal("no testdata/gentest/*.conf", err)
	}
	for _, in := range inputs {
		path := strings.TrimSuffix(in, ".conf") + ".packets"
		t.Run(filepath.Base(path), func(t *testing.T) {
			s := packets(t, read(t, in), 1)
			got := fmt.Sprintf("%d packets, %d bytes\n", s.Len(), s.Bytes())
			for i := range min(s.Len(), 48) {
				data := s.Frame(i).Data
				got += fmt.Sprintf("%d: %d bytes %x\n", i, len(data), data[:min(len(data), 54)])
			}
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(read(t, path), got); diff != "" {
				t.Errorf("%s: -want +got\n%s", path, diff)
			}
		})
	}
}

// checksum is the one's complement sum of RFC 1071, which over a header with its own checksum is 0xffff.
func checksum(b []byte) uint16 {
	var sum uint32
	for i := 0; i < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return uint16(sum)
}

// masked is a frame without what is left to chance, after a check of that.
func masked(t *testing.T, i int, frame []byte) []byte {
	t.Helper()
	b := bytes.Clone(frame)
	host := 0
	if b[12] == 0x86 {
		host = int(binary.BigEndian.Uint16(b[52:]))
		clear(b[52:54])
		if host < 1 || host > 0xfffe {
			t.Fatalf("packet %d: host %d: want 1..65534", i, host)
		}
		return b
	}
	if sum := checksum(b[14:34]); sum != 0xffff {
		t.Fatalf("packet %d: the header sums up to %#x: want 0xffff", i, sum)
	}
	host = int(b[33])
	clear(b[24:26])
	b[33] = 0
	if host < 1 || host > 254 {
		t.Fatalf("packet %d: host %d: want 1..254", i, host)
	}
	return b
}

// TestGolden compares with what Vita's own generator wrote.
func TestGolden(t *testing.T) {
	folder := os.Getenv("LOADTEST_GOLDEN")
	if folder == "" {
		t.Skip("LOADTEST_GOLDEN is not set")
	}
	inputs, err := filepath.Glob(filepath.Join(folder, "vita", "*", "gentest.conf"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, in := range inputs {
		name := filepath.Base(filepath.Dir(in))
		if strings.HasPrefix(name, "bad-") || strings.HasPrefix(name, "lax-") {
			continue
		}
		compared++
		t.Run(name, func(t *testing.T) {
			got := packets(t, read(t, in), 1)
			if strings.HasSuffix(name, "-empty") {
				// Vita's generator rounds down to no round at all here; one round is wanted.
				if want := 84 * 12; got.Len() != want {
					t.Errorf("%d packets: want %d", got.Len(), want)
				}
				return
			}
			path, cut := filepath.Join(filepath.Dir(in), "traffic.pcap"), false
			if _, err := os.Stat(path); err != nil {
				path, cut = filepath.Join(filepath.Dir(in), "traffic-first30.pcap"), true
			}
			want, err := pcap.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if cut && got.Len() != 999 || !cut && got.Len() != want.Len() {
				t.Fatalf("%d packets: want %d", got.Len(), want.Len())
			}
			for i := range want.Len() {
				if !bytes.Equal(masked(t, i, want.Frame(i).Data), masked(t, i, got.Frame(i).Data)) {
					t.Fatalf("packet %d:\ngot  %x\nwant %x", i, got.Frame(i).Data, want.Frame(i).Data)
				}
				if want.Frame(i).Nanos != got.Frame(i).Nanos || want.Wire(i) != got.Wire(i) {
					t.Fatalf("packet %d: time %d, length %d: want %d, %d", i, got.Frame(i).Nanos, got.Wire(i), want.Frame(i).Nanos, want.Wire(i))
				}
			}
		})
	}
	if compared < 33 {
		t.Errorf("%d cases compared: want 33 or more", compared)
	}
}

func TestNumberOfPackets(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
	}{
		{"", 996},
		{"packet-size 60;", 1000},
		{"packet-size 60; nroutes 3;", 999},
		{"packet-size 60; nroutes 255;", 765},
		{"nroutes 4;", 960},
		{"nroutes 40;", 960},
		{"nroutes 83;", 996},
		{"nroutes 84;", 84 * 12},
		{"nroutes 255;", 255 * 12},
	} {
		s := packets(t, tt.text, 1)
		if s.Len() != tt.want {
			t.Errorf("%q: %d packets: want %d", tt.text, s.Len(), tt.want)
		}
		if s.Link != 1 {
			t.Errorf("%q: link type %d: want 1", tt.text, s.Link)
		}
	}
}

func TestSeed(t *testing.T) {
	hosts := func(seed uint64) string {
		s, h := packets(t, "packet-size 60;", seed), ""
		for i := range s.Len() {
			h += string(s.Frame(i).Data[33:34])
		}
		return h
	}
	if hosts(7) != hosts(7) {
		t.Error("the same seed made other packets")
	}
	if hosts(7) == hosts(8) {
		t.Error("another seed made the same packets")
	}
	seen := make(map[byte]int)
	for _, h := range []byte(hosts(7)) {
		seen[h]++
	}
	if len(seen) < 230 { // 1000 draws of 254 leave about 5 out
		t.Errorf("%d hosts: want nearly all of 254", len(seen))
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*testbed.Testbed)
		err    string
	}{
		{"no size", func(b *testbed.Testbed) { b.Sizes = nil }, "0 sizes and 1 routes: want one size or more and 1..255 routes"},
		{"no route", func(b *testbed.Testbed) { b.Routes = 0 }, "12 sizes and 0 routes: want"},
		{"short", func(b *testbed.Testbed) { b.Sizes = []int{33} }, "packets of 33 bytes: want 34..10240"},
		{"long", func(b *testbed.Testbed) { b.Sizes = []int{10241} }, "packets of 10241 bytes: want 34..10240"},
		{"prefix", func(b *testbed.Testbed) { b.RoutePrefix = "fd01" }, "packet 0: route prefix fd01: it makes the address fd01.1."},
		{"no source", func(b *testbed.Testbed) { b.Private.Nexthop = netip.Addr{} }, "packet 0: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := parse(t, "")
			tt.change(b)
			s, err := genpcap.Packets(b, 1)
			if err == nil || !strings.HasPrefix(err.Error(), tt.err) {
				t.Errorf("error %v: want %s", err, tt.err)
			}
			if s != nil {
				t.Error("packets beside the error")
			}
		})
	}
}

func BenchmarkPackets(b *testing.B) {
	bed, err := testbed.Parse("bench", []byte("nroutes 40;"))
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		s, err := genpcap.Packets(bed, 1)
		if err != nil {
			b.Fatal(err)
		}
		n += s.Len()
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mpps")
}

func ExamplePackets() {
	b, err := testbed.Parse("gentest.conf", []byte("nroutes 4; packet-size 60;"))
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := genpcap.Packets(b, 1)
	fmt.Println(s.Len(), "packets of", s.Size(0), "bytes,", err)
	// Output: 1000 packets of 60 bytes, <nil>
}
