package pcap_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadtest/packet"
	"loadtest/pcap"
)

func TestInfo(t *testing.T) {
	ether := func(snap int, unit string) []pcap.Interface {
		return []pcap.Interface{{Link: 1, Snap: snap, Unit: unit}}
	}
	for _, tt := range []struct {
		name string
		file []byte
		want pcap.Info
	}{
		{"pcap", header(le, micros, 1), pcap.Info{Format: "pcap", Version: "2.4", Order: "little endian", Interfaces: ether(64, "1 µs")}},
		{"ns, big endian", header(be, nanos, 1), pcap.Info{Format: "pcap", Version: "2.4", Order: "big endian", Interfaces: ether(64, "1 ns")}},
		{"FCS, another version", headerOf(le, micros, 2, 1, 0x24000065), pcap.Info{Format: "pcap", Version: "2.1", Order: "little endian",
			Interfaces: []pcap.Interface{{Link: 101, Snap: 64, Unit: "1 µs", FCS: 4}}}},
		{"modified", header(le, 0xa1b2cd34, 1), pcap.Info{Format: "modified pcap", Version: "2.4", Order: "little endian", Interfaces: ether(64, "1 µs")}},
		{"AIX", headerOf(be, micros, 2, 2, 6), pcap.Info{Format: "pcap of AIX", Version: "2.2", Order: "big endian", Interfaces: ether(64, "1 ns")}},
		{"IXIA", join(header(be, 0x1c0001ac, 1), make([]byte, 4)), pcap.Info{Format: "pcap of an IXIA", Version: "2.4", Order: "big endian", Interfaces: ether(64, "1 ns")}},
		{"gzip", gz(t, header(le, micros, 1)), pcap.Info{Format: "pcap", Version: "2.4", Order: "little endian", Compression: "gzip", Interfaces: ether(64, "1 µs")}},
		{"pcapng", join(section(le), face(le, 1, 96), face(le, 101, 0, option(le, 2, []byte("eth0")...), option(le, 9, 0x80|20), option(le, 13, 32))),
			pcap.Info{Format: "pcapng", Version: "1.0", Order: "little endian", Sections: 1,
				Interfaces: []pcap.Interface{{Link: 1, Snap: 96, Unit: "1 µs"}, {Name: "eth0", Link: 101, Unit: "2^-20 s", FCS: 4}}}},
		{"sections", join(section(le), face(le, 1, 0), section(be), face(be, 113, 0, option(be, 2, []byte("any")...), option(be, 9, 2)), section(be)),
			pcap.Info{Format: "pcapng", Version: "1.0", Order: "mixed", Sections: 3,
				Interfaces: []pcap.Interface{{Link: 1, Unit: "1 µs"}, {Name: "any", Link: 113, Unit: "10 ms"}}}},
		{"fine resolutions", join(section(be), face(be, 1, 0, option(be, 9, 12)), face(be, 1, 0, option(be, 9, 0)), face(be, 1, 0, option(be, 9, 8))),
			pcap.Info{Format: "pcapng", Version: "1.0", Order: "big endian", Sections: 1,
				Interfaces: []pcap.Interface{{Link: 1, Unit: "10^-12 s"}, {Link: 1, Unit: "1 s"}, {Link: 1, Unit: "10 ns"}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := pcap.NewReader("f", bytes.NewReader(tt.file), pcap.ReadOptions{})
			must(t, err)
			defer r.Close()
			if err := r.Next(new(packet.Record)); err != io.EOF {
				t.Errorf("Next: %v, want EOF", err)
			}
			if d := cmp.Diff(tt.want, r.Info()); d != "" {
				t.Errorf("Info (-want +got): %s", d)
			}
		})
	}
}

// A file is a source that can be read again and again, and by two at once.
func TestFile(t *testing.T) {
	path := filepath.Join(testdata, "link-types.pcapng")
	src := pcap.File(path, pcap.ReadOptions{})
	one, err := src.Open()
	must(t, err)
	two, err := src.Open()
	must(t, err)
	for i, link := range []uint16{1, 101, 113} {
		var a, b packet.Record
		must(t, one.Next(&a))
		must(t, two.Next(&b))
		if a.Link != link || a.Number != int64(i)+1 || !bytes.Equal(a.Data, b.Data) {
			t.Errorf("record %d: %+v and %+v, want link type %d", i+1, a, b, link)
		}
	}
	must(t, one.Close())
	must(t, two.Close())
	if r, err := pcap.File(path+".none", pcap.ReadOptions{}).Open(); r != nil || err == nil {
		t.Errorf("a file that is not there: %v, %v", r, err)
	}
}

// With TakeWhole a file that was cut is its whole records; one that is damaged is not.
func TestTakeWhole(t *testing.T) {
	o := pcap.ReadOptions{TakeWhole: true}
	path := filepath.Join(testdata, "cut.pcap")
	s, err := pcap.ReadFile(path, o)
	must(t, err)
	if s.Len() != 2 {
		t.Errorf("%d packets, want 2", s.Len())
	}
	r, err := pcap.Open(path, o)
	must(t, err)
	defer r.Close()
	if r.Cut() != nil {
		t.Errorf("cut before the end: %v", r.Cut())
	}
	s, err = r.Store()
	must(t, err)
	want := path + ": packet 3 at byte 244: 250 bytes promised, 230 there: unexpected EOF"
	if s.Len() != 2 || r.Cut() == nil || r.Cut().Error() != want {
		t.Errorf("%d packets, cut: %v; want 2, %s", s.Len(), r.Cut(), want)
	}
	damaged := join(header(le, micros, 1), plain(le, s0, 0, "abc"), record(le, s0, 0, 1<<30, 3, "abc"))
	if s, err := pcap.Read("f", bytes.NewReader(damaged), o); s != nil || err == nil || !strings.Contains(err.Error(), "packet 2 at byte 43") {
		t.Errorf("a damaged file: %v, %v", s, err)
	}
}

// What is left of a capture can be stored after some of it was read.
func TestStoreOfTheRest(t *testing.T) {
	r, err := pcap.Open(filepath.Join(testdata, "usec-le.pcap"), pcap.ReadOptions{})
	must(t, err)
	defer r.Close()
	must(t, r.Next(new(packet.Record)))
	s, err := r.Store()
	must(t, err)
	if s.Len() != 2 || s.Size(0) != 128 || s.Link != 1 {
		t.Errorf("%d packets, want 2", s.Len())
	}
}

// A file of one kind of records at its beginning and another behind fits the room that the beginning seems to ask for, or gets more.
func TestStoreOfAFileThatChanges(t *testing.T) {
	for name, head := range map[string][]byte{"pcap": header(le, micros, 1), "pcapng": join(section(le), face(le, 1, 0))} {
		for _, first := range []int{0, 1400} {
			file := bytes.Clone(head)
			for i := range 2000 {
				n := first
				if i > 300 {
					n = 1400 - first
				}
				if name == "pcap" {
					file = append(file, plain(le, s0, 0, strings.Repeat("x", n))...)
				} else {
					file = append(file, whole(le, 0, at, strings.Repeat("x", n))...)
				}
			}
			path := filepath.Join(t.TempDir(), "f")
			must(t, os.WriteFile(path, file, 0o644))
			s, err := pcap.ReadFile(path)
			must(t, err)
			if s.Len() != 2000 || s.Size(300) != first || s.Size(301) != 1400-first {
				t.Errorf("%s: %d packets of %d and %d bytes", name, s.Len(), s.Size(300), s.Size(301))
			}
		}
	}
}

// Which form the headers of a pcap have is told by its first records, and never by a file that is only cut.
func TestVariants(t *testing.T) {
	longer := func(data string, more ...byte) []byte { r := plain(le, s0, 7, data); return join(r[:16], more, r[16:]) }
	linux := []byte{2, 0, 0, 0, 0, 8, 4, 0}
	nokia := []byte{2, 0xb6, 0xbf, 0x9f}
	zeros := strings.Repeat("\x00", 60)
	for _, tt := range []struct {
		name, want string
		file       []byte
	}{
		{"usual", "pcap", join(header(le, micros, 1), plain(le, s0, 7, zeros), plain(le, s0, 7, zeros))},
		{"usual, cut behind 8 bytes of a header", "pcap", join(header(le, micros, 1), plain(le, s0, 7, zeros), make([]byte, 8))},
		{"usual, with a strange fraction", "pcap", join(header(le, micros, 1), plain(le, s0, 1e6, zeros), plain(le, s0, 7, zeros), plain(le, s0, 7, zeros))},
		{"Red Hat", "modified pcap (Red Hat 6.1)", join(header(le, micros, 1), longer(zeros, linux...), longer(zeros, linux...), longer(zeros, linux...))},
		{"Nokia", "pcap of a Nokia system", join(header(le, micros, 1), longer(udp(60), nokia...), longer(udp(60), nokia...))},
		{"modified", "modified pcap", join(header(le, 0xa1b2cd34, 1), longer(zeros, linux...), longer(zeros, linux...))},
		{"SuSE", "modified pcap (SuSE 6.3)", join(header(le, 0xa1b2cd34, 1), longer(udp(60), append(linux, 9, 9, 9, 9)...), longer(udp(60), append(linux, 9, 9, 9, 9)...))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := pcap.NewReader("f", bytes.NewReader(tt.file), pcap.ReadOptions{})
			must(t, err)
			defer r.Close()
			if got := r.Info().Format; got != tt.want {
				t.Errorf("format %q, want %q", got, tt.want)
			}
			var p packet.Record
			must(t, r.Next(&p))
			if len(p.Data) != 60 {
				t.Errorf("%d bytes, want 60", len(p.Data))
			}
		})
	}
}
