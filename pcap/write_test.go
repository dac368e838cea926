package pcap_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadtest/packet"
	"loadtest/pcap"
)

// written is the header that a Writer writes, by hand.
func written(magic, snap, link uint32) []byte {
	b := le.AppendUint32(nil, magic)
	b = append(b, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	return le.AppendUint32(le.AppendUint32(b, snap), link)
}

func TestWrite(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	for _, tt := range []struct {
		name string
		link uint16
		in   []pkt
		want []byte
	}{
		{"nothing", 0, nil, written(micros, 65535, 1)},
		{"link type", 276, nil, written(micros, 65535, 276)},
		{"packets", 1, []pkt{{"abc", nano0 + 7999, 3}, {"", 0, 0}}, join(written(micros, 65535, 1), plain(le, s0, 7, "abc"), plain(le, 0, 0, ""))},
		{"captured short", 1, []pkt{{"abc", nano0, 1500}}, join(written(micros, 65535, 1), record(le, s0, 0, 3, 1500, "abc"))},
		{"long", 1, []pkt{{long, nano0, 80_000}}, join(written(micros, 70_000, 1), record(le, s0, 0, 70_000, 80_000, long))},
		{"latest time", 1, []pkt{{"a", 1<<32*1e9 - 1, 1}}, join(written(micros, 65535, 1), plain(le, 1<<32-1, 999_999, "a"))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got bytes.Buffer
			must(t, pcap.Write(&got, storeOf(tt.link, tt.in)))
			if d := cmp.Diff(tt.want, got.Bytes()); d != "" {
				t.Errorf("Write (-want +got): %s", d)
			}
		})
	}
}

func storeOf(link uint16, in []pkt) *packet.Store {
	s := &packet.Store{Link: link}
	for _, p := range in {
		s.Append([]byte(p.Data), p.Nanos, p.Wire)
	}
	return s
}

func TestWriteErrors(t *testing.T) {
	year := "a pcap holds the years 1970 to 2106"
	for _, tt := range []struct {
		name string
		in   []pkt
		want string
	}{
		{"before 1970", []pkt{{"a", 0, 1}, {"b", -1, 1}}, "packet 2: time of -1 ns since 1970: " + year},
		{"after 2106", []pkt{{"a", 1 << 32 * 1e9, 1}}, "packet 1: time of 4294967296000000000 ns since 1970: " + year},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := pcap.Write(new(bytes.Buffer), storeOf(1, tt.in))
			if err == nil || err.Error() != tt.want {
				t.Errorf("\n got %v\nwant %s", err, tt.want)
			}
			pcapError(t, err)
		})
	}
}

func TestWriter(t *testing.T) {
	var got bytes.Buffer
	w, err := pcap.NewWriter(&got, pcap.Options{Link: 101, Snap: 9216, Nanos: true})
	must(t, err)
	must(t, w.WriteFrame(packet.Frame{Data: []byte("abc"), Nanos: nano0 + 7}, 0))
	err = w.WriteFrame(packet.Frame{Data: make([]byte, 9217)}, 0)
	if want := "packet 2: 9217 bytes: want at most the snap length, 9216"; err == nil || err.Error() != want {
		t.Errorf("too long: %v, want %s", err, want)
	}
	err = w.WriteFrame(packet.Frame{Data: []byte("a")}, 1<<31)
	if want := "packet 2: 2147483648 bytes on the wire: want at most 2147483647"; err == nil || err.Error() != want {
		t.Errorf("too long on the wire: %v, want %s", err, want)
	}
	must(t, w.WriteFrame(packet.Frame{Data: []byte("de"), Nanos: nano0 + 8}, 9)) // goes on after a refusal
	if got.Len() != 0 {
		t.Errorf("%d bytes written before Flush, want them buffered", got.Len())
	}
	must(t, w.Flush())
	want := join(written(nanos, 9216, 101), plain(le, s0, 7, "abc"), record(le, s0, 8, 2, 9, "de"))
	if d := cmp.Diff(want, got.Bytes()); d != "" {
		t.Errorf("Writer (-want +got): %s", d)
	}
}

func TestNewWriterRefuses(t *testing.T) {
	for snap, want := range map[int]string{
		-1:      "pcap snap length -1: want 1 to 4194304",
		1 << 28: "pcap snap length 268435456: want 1 to 4194304",
	} {
		if _, err := pcap.NewWriter(new(bytes.Buffer), pcap.Options{Snap: snap}); err == nil || err.Error() != want {
			t.Errorf("NewWriter with snap length %d: %v, want %s", snap, err, want)
		}
	}
}

// full takes n bytes.
type full struct{ n int }

var errFull = errors.New("no space left")

func (f *full) Write(b []byte) (int, error) {
	if len(b) > f.n {
		return 0, errFull
	}
	f.n -= len(b)
	return len(b), nil
}

func TestWriteToFullDisk(t *testing.T) {
	var many []pkt
	for range 1000 {
		many = append(many, pkt{strings.Repeat("x", 1500), nano0, 1500})
	}
	for _, n := range []int{0, 300_000, 1_000_000} {
		if err := pcap.Write(&full{n}, storeOf(1, many)); !errors.Is(err, errFull) {
			t.Errorf("Write to a disk of %d bytes: %v, want %v", n, err, errFull)
		}
	}
	if err := pcap.Write(&full{0}, storeOf(1, many[:1])); !errors.Is(err, errFull) {
		t.Errorf("Write of what fits the buffer: %v, want %v", err, errFull)
	}
}
