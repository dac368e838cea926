package preflight_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadtest/internal/preflight"
	"loadtest/internal/split"
	"loadtest/internal/survey"
	"loadtest/internal/timeline"
	"loadtest/packet"
	"loadtest/pcap"
)

// read surveys sources on one line, as a verb does.
func read(t *testing.T, o timeline.Options, sources ...packet.Source) preflight.Read {
	t.Helper()
	line := timeline.New(sources, o)
	rd, err := line.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	r := preflight.Read{Name: "prod", File: func(i uint16) string { return fmt.Sprintf("%c.pcap", 'a'+i) }, Survey: survey.New(), Rule: "auto"}
	var rec packet.Record
	for err = rd.Next(&rec); err == nil; err = rd.Next(&rec) {
		r.Survey.Add(&rec)
	}
	r.Survey.Done()
	r.Told = line.Told()
	if r.Sides, err = split.Decide(line, split.Options{}); err != nil {
		t.Log(err) // not of every link type
		r.Sides = nil
	}
	return r
}

// stored are frames, a millisecond apart.
func stored(link uint16, frames ...[]byte) *packet.Store {
	s := &packet.Store{Link: link}
	for i, b := range frames {
		s.Append(b, 1e18+int64(i)*1e6, len(b))
	}
	return s
}

func TestOf(t *testing.T) {
	to := func(mac string, b []byte) []byte { return append([]byte(mac), b[len(mac):]...) }
	a := stored(packet.LinkEthernet, frame(60, 8, 6), tcp(64, 40), tcp(2030, 0), to("\xff\xff\xff\xff\xff\xff", frame(100, 8, 6)))
	b := stored(packet.LinkEthernet, to("\x01\x80\xc2\x00\x00\x0e", frame(200, 0x88, 0xcc)), frame(34, 8, 0), make([]byte, 9))
	b.Append(frame(96, 8, 6), 1e18, 1096) // earlier than the one before it, too
	c := preflight.Of(read(t, timeline.Options{}, a, b))
	place := func(s preflight.Seen) string { return fmt.Sprintf("%d: %v, %d", s.Packets, s.First, s.Longest) }
	for _, tt := range []struct {
		name      string
		got, want any
	}{
		{"packets", c.Packets, int64(8)},
		{"bytes", c.Bytes, int64(60 + 64 + 2030 + 100 + 200 + 34 + 9 + 96)},
		{"links", c.Links, []preflight.Link{{Type: 1, Name: "Ethernet", Packets: 8}}},
		{"kinds", c.Kinds, []preflight.Count{{"TCP", 1}, {"UDP", 0}, {"ICMP", 0}, {"other IP", 0}, {"damaged IP", 2}, {"ARP", 3}, {"LLDP", 1}, {"too short", 1}, {"unreadable", 0}}},
		{"buckets", c.Sizes.Buckets, []preflight.Bucket{{0, 60, 3}, {61, 123, 2}, {124, 251, 1}, {252, 507, 0}, {508, 1019, 0}, {1020, 1514, 1}, {1515, 2030, 1}}},
		{"groups", place(c.Groups), "2: a.pcap record 4, 200"},
		{"control", place(c.Control), "1: b.pcap record 1, 200"},
		{"short", place(c.Short), "1: b.pcap record 3, 9"},
		{"IP length 0", place(c.NoIPLen), "1: a.pcap record 3, 2030"},
		{"damaged", place(c.Damaged), "1: b.pcap record 2, 34"},
		{"snapped", place(c.Snapped), "1: b.pcap record 4, 1096"},
		{"back", place(c.Times.Back), "1: b.pcap record 4, 0"},
		{"first", *c.Times.First, int64(1e18)},
		{"longest gap", *c.Times.Longest, int64(1e6)},
		{"sides", c.Sides.Client + c.Sides.Server, int64(8)},
	} {
		if d := cmp.Diff(tt.want, tt.got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

func TestOfBroadcastFirst(t *testing.T) {
	group := func(first byte) []byte {
		return append([]byte(strings.Repeat(string([]byte{first}), 6)), frame(60, 8, 6)[6:]...)
	}
	for _, tt := range []struct {
		name   string
		frames [][]byte
		want   string
	}{
		{"only all", [][]byte{frame(60, 8, 6), group(0xff)}, "1, a.pcap record 2"},
		{"only groups", [][]byte{group(1), group(1)}, "2, a.pcap record 1"},
		{"all first", [][]byte{group(0xff), group(1)}, "2, a.pcap record 1"},
		{"a group first", [][]byte{frame(60, 8, 6), group(1), group(0xff)}, "2, a.pcap record 2"},
	} {
		c := preflight.Of(read(t, timeline.Options{}, stored(packet.LinkEthernet, tt.frames...)))
		if got := fmt.Sprintf("%d, %v", c.Groups.Packets, c.Groups.First); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Lengths with a capture's own header are no frames': no mean of them is told.
func TestOfForeign(t *testing.T) {
	ip := func(n int) []byte { return append([]byte{0x45}, make([]byte, n-1)...) }
	c := preflight.Of(read(t, timeline.Options{}, stored(packet.LinkRaw, ip(40), ip(1500))))
	if c.Sizes.Mean != nil || c.Sizes.Min != 54 || c.Sizes.Max != 1514 {
		t.Errorf("sizes %+v, want 54 to 1514 without a mean", c.Sizes)
	}
}

func TestOfFormat(t *testing.T) {
	face := func(link uint16, unit string, fcs int) pcap.Interface {
		return pcap.Interface{Link: link, Unit: unit, FCS: fcs}
	}
	for _, tt := range []struct {
		name  string
		infos []pcap.Info
		want  string
		fcs   int
	}{
		{"nothing said", nil, "", 0},
		{"pcap", []pcap.Info{{Format: "pcap", Version: "2.4", Order: "big endian", Interfaces: []pcap.Interface{face(1, "1 ns", 4)}}}, "pcap 2.4 big endian, times in 1 ns", 4},
		{"pcapng", []pcap.Info{{Format: "pcapng", Version: "1.0", Order: "mixed", Compression: "zstd", Sections: 2,
			Interfaces: []pcap.Interface{face(1, "1 µs", 0), face(1, "1 ns", 4), face(101, "1 µs", 0)}}},
			"pcapng 1.0 mixed, zstd, 2 sections, 3 interfaces, times in 1 µs, times in 1 ns", 4},
		{"two alike", []pcap.Info{{Format: "pcap", Version: "2.4", Order: "little endian"}, {Format: "pcap", Version: "2.4", Order: "little endian", Compression: "gzip"}},
			"pcap 2.4 little endian, gzip", 0},
	} {
		r := read(t, timeline.Options{}, stored(packet.LinkEthernet, frame(60, 8, 6)))
		r.Infos = tt.infos
		c := preflight.Of(r)
		if got := strings.Join(c.Format, ", "); got != tt.want || c.FCS != tt.fcs {
			t.Errorf("%s: %s, FCS %d; want %s, %d", tt.name, got, c.FCS, tt.want, tt.fcs)
		}
	}
}

// A gap that was cut is told as long as it was captured.
func TestOfMaxGap(t *testing.T) {
	s := new(packet.Store)
	for _, nanos := range []int64{1e18, 1e18 + 60e9, 1e18 + 61e9} {
		s.Append(frame(60, 8, 6), nanos, 60)
	}
	c := preflight.Of(read(t, timeline.Options{MaxGap: 2e9}, s))
	found := preflight.Judge(c, preflight.Port{}, preflight.Tally{}, preflight.Options{Loops: 1, MaxGap: 2e9})
	at := slices.IndexFunc(found, func(f preflight.Finding) bool { return f.Kind == "long_gap" })
	if want := "a.pcap record 2 comes 1m after the packet before it: cut to 2s"; c.Times.Span != 3e9 || at < 0 || found[at].Text != want {
		t.Errorf("span %d, found %+v; want 3 s and %s", c.Times.Span, found, want)
	}
}
