package pcap_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadtest/pcap"
)

// A part of a file: its header, a record, a block.
type part struct {
	b      []byte
	packet bool
}

// cuttable are files in parts.
func cuttable() map[string][]part {
	longer := func(r []byte, more ...byte) []byte { return join(r[:16], more, r[16:]) }
	return map[string][]part{
		"pcap":                   {{header(le, micros, 1), false}, {plain(le, s0, 0, "abc"), true}, {plain(le, s0, 0, ""), true}, {plain(le, s0, 0, "defgh"), true}},
		"pcap in ns, big endian": {{header(be, nanos, 0x24000001), false}, {plain(be, s0, 0, "abcFCS4"), true}, {plain(be, s0, 0, "FC"), true}},
		"modified pcap": {{header(le, 0xa1b2cd34, 1), false}, {longer(plain(le, s0, 0, "abc"), 1, 0, 0, 0, 0, 8, 4, 0), true},
			{longer(plain(le, s0, 1, "de"), 1, 0, 0, 0, 0, 8, 0, 0), true}},
		"pcap of an IXIA": {{join(header(le, 0x1c0001ab, 1), []byte{1, 2, 3, 4}), false}, {plain(le, s0, 0, "abc"), true}},
		"pcapng": {{section(be), false}, {face(be, 1, 0, option(be, 9, 9)), false}, {whole(be, 0, 1, "abc"), true}, {block(be, 5, []byte("x")), false},
			{obsolete(be, 0, 2, 9, "abcd"), true}, {section(le), false}, {face(le, 101, 9), false}, {simple(le, 99, "123456789"), true}},
	}
}

// Every prefix of a file is an error that says how far it is whole, or, cut between two records, a shorter capture. TakeWhole
// gives exactly the whole records.
func TestCutAnywhere(t *testing.T) {
	for name, parts := range cuttable() {
		t.Run(name, func(t *testing.T) {
			var file []byte
			for _, p := range parts {
				file = append(file, p.b...)
			}
			all, _, err := pull(t, bytes.NewReader(file), pcap.ReadOptions{})
			must(t, err)
			start, number, whole := 0, 0, 0 // of the part that byte n is in
			for n := range len(file) + 1 {
				if n == start+len(parts[number].b) {
					if parts[number].packet {
						whole++
					}
					start, number = n, min(number+1, len(parts)-1)
				}
				got, err := lawful(t, file[:n])
				if d := cmp.Diff(all[:whole], got, cmp.Transformer("", nilToEmpty)); d != "" {
					t.Fatalf("cut at %d: %s", n, d)
				}
				if n == start && n > 0 {
					if err != nil {
						t.Fatalf("cut at %d, between records: %v", n, err)
					}
					continue
				}
				if !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("cut at %d: %v, want unexpected EOF", n, err)
				}
				e := pcapError(t, err)
				if e.Packet != 0 && e.Packet != whole+1 || e.Packet == 0 && number > 0 || e.Offset != int64(start) {
					t.Fatalf("cut at %d: %v, want packet %d at byte %d", n, err, whole+1, start)
				}
				taken, cut, err2 := pull(t, bytes.NewReader(file[:n]), pcap.ReadOptions{TakeWhole: true})
				switch {
				case number == 0: // without a header there is nothing to take
					if err2 == nil || err2.Error() != err.Error() {
						t.Fatalf("cut at %d, TakeWhole: %v, want %v", n, err2, err)
					}
				case err2 != nil || !slices.Equal(taken, all[:whole]) || cut == nil || cut.Error() != err.Error():
					t.Fatalf("cut at %d, TakeWhole: %d records, %v, %v; want %d, %v", n, len(taken), cut, err2, whole, err)
				}
			}
		})
	}
}

func nilToEmpty(r []rec) []rec { return append([]rec{}, r...) }

// Every prefix of a packed file is an error, and gives the first of its records and no others.
func TestCutPacked(t *testing.T) {
	file := header(le, micros, 1)
	for i := range 300 {
		file = append(file, plain(le, s0, uint32(i), udp(60+i%40))...)
	}
	for name, pack := range map[string]func(testing.TB, []byte) []byte{"gzip": gz, "zstd": zst} {
		t.Run(name, func(t *testing.T) {
			packed := append(pack(t, file[:10_000]), pack(t, file[10_000:])...)
			all, _, err := pull(t, bytes.NewReader(packed), pcap.ReadOptions{})
			if err != nil || len(all) != 300 {
				t.Fatalf("%d records, %v", len(all), err)
			}
			most := 0
			for n := range len(packed) {
				got, cut, err := pull(t, bytes.NewReader(packed[:n]), pcap.ReadOptions{TakeWhole: true})
				if (err == nil) == (cut == nil) || !errors.Is(errors.Join(err, cut), io.ErrUnexpectedEOF) {
					t.Fatalf("cut at %d: %v, TakeWhole: %v; want one that is unexpected EOF", n, err, cut)
				}
				if len(got) < most || !slices.Equal(got, all[:len(got)]) {
					t.Fatalf("cut at %d: %d records, after %d; want the first ones", n, len(got), most)
				}
				most = len(got)
			}
			if most < 100 {
				t.Errorf("at most %d of 300 records taken, want 100 or more", most)
			}
		})
	}
}
