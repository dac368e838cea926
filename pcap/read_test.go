package pcap_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadtest/packet"
	"loadtest/pcap"
)

// stream hides all but Read, as a pipe does.
type stream struct{ io.Reader }

// readBoth reads a capture as a file, in two passes, and as a stream, in one: both must agree.
func readBoth(t testing.TB, name string, b []byte) (*packet.Store, error) {
	t.Helper()
	file, err := pcap.Read(name, bytes.NewReader(b))
	piped, err2 := pcap.Read(name, stream{bytes.NewReader(b)})
	if (file == nil) == (err == nil) || (piped == nil) == (err2 == nil) {
		t.Fatalf("want a store or an error, never both or neither: %v %v, %v %v", file, err, piped, err2)
	}
	if err != nil {
		if err2 == nil || err.Error() != err2.Error() {
			t.Fatalf("file: %v, stream: %v", err, err2)
		}
		return nil, err
	}
	if err2 != nil || file.Link != piped.Link {
		t.Fatalf("file: link type %d, stream: %v", file.Link, err2)
	}
	if d := cmp.Diff(packets(file), packets(piped)); d != "" {
		t.Fatalf("file and stream differ: %s", d)
	}
	return file, nil
}

const (
	s0    = 1709208000 // t0 without its fraction
	at    = s0 * 1e6   // the same in µs
	nano0 = s0 * 1e9   // and in ns
)

func TestReadPcap(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, tt := range []struct {
		name string
		file []byte
		link uint16
		want []pkt
	}{
		{"µs little endian", join(header(le, micros, 1), plain(le, s0, 7, "abc"), plain(le, s0, 8, "de")), 1,
			[]pkt{{"abc", nano0 + 7000, 3}, {"de", nano0 + 8000, 2}}},
		{"µs big endian", join(header(be, micros, 1), plain(be, s0, 7, "abc")), 1, []pkt{{"abc", nano0 + 7000, 3}}},
		{"ns little endian", join(header(le, nanos, 1), plain(le, s0, 7, "abc")), 1, []pkt{{"abc", nano0 + 7, 3}}},
		{"ns big endian", join(header(be, nanos, 1), plain(be, s0, 7, "abc")), 1, []pkt{{"abc", nano0 + 7, 3}}},
		{"BSD loopback", join(header(le, micros, 0), plain(le, s0, 7, "abc")), 108, []pkt{{"abc", nano0 + 7000, 3}}},
		{"no packets", header(le, micros, 1), 1, nil},
		{"link type above 255", header(be, micros, 276), 276, nil},
		{"packet of 0 bytes", join(header(le, micros, 1), plain(le, s0, 0, "")), 1, []pkt{{"", nano0, 0}}},
		{"captured short", join(header(le, micros, 1), record(le, s0, 0, 3, 1500, "abc")), 1, []pkt{{"abc", nano0, 1500}}},
		{"longer than the snap length", join(header(le, micros, 1), plain(le, s0, 0, long)), 1, []pkt{{long, nano0, 100}}},
		{"captured more than the wire had", join(header(le, micros, 1), record(le, s0, 0, 3, 1, "abc")), 1, []pkt{{"abc", nano0, 1}}},
		{"fraction above a second", join(header(le, micros, 1), plain(le, s0, 2_500_000, "a")), 1, []pkt{{"a", nano0 + 2.5e9, 1}}},
		{"latest time", join(header(le, nanos, 1), plain(le, 1<<32-1, 1<<32-1, "a")), 1, []pkt{{"a", (1<<32-1)*1e9 + 1<<32 - 1, 1}}},
		{"FCS", join(header(le, micros, 0x24000001), plain(le, s0, 0, "abcFCS4")), 1, []pkt{{"abc", nano0, 3}}},
		{"FCS half captured", join(header(le, micros, 0x24000001), record(le, s0, 0, 5, 7, "abcFC")), 1, []pkt{{"abc", nano0, 3}}},
		{"FCS not captured", join(header(le, micros, 0x24000001), record(le, s0, 0, 2, 7, "ab")), 1, []pkt{{"ab", nano0, 3}}},
		{"FCS is all there is", join(header(le, micros, 0x24000001), plain(le, s0, 0, "FC")), 1, []pkt{{"", nano0, 0}}},
		{"FCS of 2 bytes, big endian", join(header(be, micros, 0x14000069), plain(be, s0, 0, "abcF2")), 105, []pkt{{"abc", nano0, 3}}},
		{"FCS length without its flag", join(header(le, micros, 0x20000001), plain(le, s0, 0, "abcFCS4")), 1, []pkt{{"abcFCS4", nano0, 7}}},
		{"version 2.2: lengths swapped", join(headerOf(le, micros, 2, 2, 1), record(le, s0, 0, 9, 3, "abc")), 1, []pkt{{"abc", nano0, 9}}},
		{"version 2.3: lengths swapped", join(headerOf(le, micros, 2, 3, 1), record(le, s0, 0, 9, 3, "abc")), 1, []pkt{{"abc", nano0, 9}}},
		{"version 2.3: lengths in order", join(headerOf(le, micros, 2, 3, 1), record(le, s0, 0, 3, 9, "abc")), 1, []pkt{{"abc", nano0, 9}}},
	} {
		t.Run(tt.name, func(t *testing.T) { check(t, tt.file, tt.link, tt.want) })
	}
}

func TestReadPcapng(t *testing.T) {
	end := option(le, 0)
	offset := func(seconds int64) []byte { return option(le, 14, le.AppendUint64(nil, uint64(seconds))...) }
	ng := func(parts ...[]byte) []byte { return append(section(le), join(parts...)...) }
	timed := func(t uint64, options ...[]byte) []byte { return ng(face(le, 1, 0, options...), whole(le, 0, t, "a")) }
	for _, tt := range []struct {
		name string
		file []byte
		link uint16
		want []pkt
	}{
		{"little endian", ng(face(le, 1, 0), whole(le, 0, at+7, "abc"), whole(le, 0, at+8, "defg")), 1,
			[]pkt{{"abc", nano0 + 7000, 3}, {"defg", nano0 + 8000, 4}}},
		{"big endian", join(section(be), face(be, 113, 0), whole(be, 0, at+7, "abc")), 113, []pkt{{"abc", nano0 + 7000, 3}}},
		{"a section of each order", join(section(le), face(le, 1, 0), whole(le, 0, at, "a"),
			section(be), face(be, 1, 0, option(be, 9, 9)), whole(be, 0, nano0+1, "b")), 1, []pkt{{"a", nano0, 1}, {"b", nano0 + 1, 1}}},
		{"no interface", section(le), 1, nil},
		{"no packets", ng(face(le, 101, 0)), 101, nil},
		{"version 1.2", join(sectionOf(le, 1, 2), face(le, 1, 0)), 1, nil},
		{"options of the section", join(section(le, option(le, 4, []byte("a program")...), end), face(le, 1, 0)), 1, nil},
		{"two interfaces", ng(face(le, 1, 0), face(le, 1, 0, option(le, 9, 3)), whole(le, 1, s0*1e3, "b"), whole(le, 0, at, "a")), 1,
			[]pkt{{"b", nano0, 1}, {"a", nano0, 1}}},
		{"an unused interface of another link type", ng(face(le, 113, 0), face(le, 1, 0), whole(le, 1, at, "a")), 1, []pkt{{"a", nano0, 1}}},
		{"captured short", ng(face(le, 1, 3), enhanced(le, 0, at, 3, 1500, "abc")), 1, []pkt{{"abc", nano0, 1500}}},
		{"longer than the snap length", ng(face(le, 1, 3), whole(le, 0, at, "abcdef")), 1, []pkt{{"abcdef", nano0, 6}}},
		{"captured more than the wire had", ng(face(le, 1, 0), enhanced(le, 0, at, 3, 1, "abc")), 1, []pkt{{"abc", nano0, 1}}},
		{"obsolete packet", ng(face(le, 1, 0), obsolete(le, 0, at+1, 9, "abc")), 1, []pkt{{"abc", nano0 + 1000, 9}}},
		{"obsolete packet, big endian", join(section(be), face(be, 1, 0), obsolete(be, 0, at+1, 3, "abc")), 1, []pkt{{"abc", nano0 + 1000, 3}}},
		{"simple packet", ng(face(le, 1, 0), simple(le, 3, "abc")), 1, []pkt{{"abc", 0, 3}}},
		{"simple packet, captured short", ng(face(le, 1, 3), simple(le, 1500, "abc")), 1, []pkt{{"abc", 0, 1500}}},
		{"other blocks", ng(block(le, 4, nil), face(le, 1, 0), block(le, 0xbad, []byte("custom")), whole(le, 0, at, "a"),
			block(le, 5, make([]byte, 300<<10)), block(le, 0x80000001, nil)), 1, []pkt{{"a", nano0, 1}}},

		{"resolution s", timed(s0, option(le, 9, 0)), 1, []pkt{{"a", nano0, 1}}},
		{"resolution ps", timed(s0*1e12/1e3, option(le, 9, 12)), 1, []pkt{{"a", nano0 / 1e3, 1}}},
		{"resolution 10^-28 s", timed(1<<64-1, option(le, 9, 28)), 1, []pkt{{"a", 1, 1}}},
		{"resolution 10^-29 s", timed(1<<64-1, option(le, 9, 29)), 1, []pkt{{"a", 0, 1}}},
		{"resolution 2^-10 s", timed(s0<<10+512, option(le, 9, 0x80|10)), 1, []pkt{{"a", nano0 + 5e8, 1}}},
		{"resolution 2^-32 s", timed(s0<<32+1<<30, option(le, 9, 0x80|32)), 1, []pkt{{"a", nano0 + 25e7, 1}}},
		{"resolution 2^-64 s", timed(1<<63, option(le, 9, 0x80|64)), 1, []pkt{{"a", 5e8, 1}}},
		{"resolution 2^-127 s", timed(1<<64-1, option(le, 9, 0xff)), 1, []pkt{{"a", 0, 1}}},
		{"offset", timed(7, offset(s0)), 1, []pkt{{"a", nano0 + 7000, 1}}},
		{"offset, big endian", join(section(be), face(be, 1, 0, option(be, 14, be.AppendUint64(nil, s0)...)), whole(be, 0, 7, "a")), 1,
			[]pkt{{"a", nano0 + 7000, 1}}},
		{"offset before 1970", timed(7, offset(-2)), 1, []pkt{{"a", -2e9 + 7000, 1}}},
		{"options after the last", timed(at, end, option(le, 9, 0)), 1, []pkt{{"a", nano0, 1}}},

		{"FCS of 32 bits", ng(face(le, 1, 0, option(le, 13, 32)), whole(le, 0, at, "abcFCS4")), 1, []pkt{{"abc", nano0, 3}}},
		{"FCS of 4 bytes", ng(face(le, 1, 0, option(le, 13, 4)), whole(le, 0, at, "abcFCS4")), 1, []pkt{{"abc", nano0, 3}}},
		{"FCS by the packet's flags", ng(face(le, 1, 0),
			enhanced(le, 0, at, 7, 7, "abcFCS4", option(le, 1, 'c'), option(le, 2, 4<<5, 0, 0, 0), end)), 1, []pkt{{"abc", nano0, 3}}},
		{"FCS not in the packet's flags", ng(face(le, 1, 0, option(le, 13, 32)),
			enhanced(le, 0, at, 7, 7, "abcFCS4", option(le, 2, 1, 0, 0, 0))), 1, []pkt{{"abc", nano0, 3}}},
	} {
		t.Run(tt.name, func(t *testing.T) { check(t, tt.file, tt.link, tt.want) })
	}
}

func check(t *testing.T, file []byte, link uint16, want []pkt) {
	t.Helper()
	s, err := readBoth(t, "f", file)
	must(t, err)
	if s.Link != link {
		t.Errorf("link type %d, want %d", s.Link, link)
	}
	if d := cmp.Diff(want, packets(s)); d != "" {
		t.Errorf("packets (-want +got): %s", d)
	}
}

// Packets far longer than the buffer are read whole.
func TestReadLongPacket(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 100_000)
	for name, file := range map[string][]byte{
		"pcap":   join(header(be, micros, 1), plain(be, s0, 0, "a"), plain(be, s0, 0, long), plain(be, s0, 0, "b")),
		"pcapng": join(section(be), face(be, 1, 0), whole(be, 0, at, "a"), whole(be, 0, at, long), whole(be, 0, at, "b")),
	} {
		t.Run(name, func(t *testing.T) {
			check(t, file, 1, []pkt{{"a", nano0, 1}, {long, nano0, len(long)}, {"b", nano0, 1}})
		})
	}
}

// A capture may begin in the middle of what is read; nothing before it is looked at.
func TestReadFromTheMiddle(t *testing.T) {
	r := bytes.NewReader(join([]byte("before"), header(le, micros, 1), plain(le, s0, 0, "abc")))
	_, err := r.Seek(int64(len("before")), io.SeekStart)
	must(t, err)
	s, err := pcap.Read("f", r)
	must(t, err)
	if d := cmp.Diff([]pkt{{"abc", nano0, 3}}, packets(s)); d != "" {
		t.Error(d)
	}
}
