package pcap_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
	"strings"
	"testing"
	"testing/iotest"

	"loadtest/pcap"
)

// skippable is a frame of zstd that holds nothing.
func skippable(content string) []byte {
	return append(le.AppendUint32([]byte{0x53, 0x2a, 0x4d, 0x18}, uint32(len(content))), content...)
}

// zstWindow is a frame of plain blocks that asks for a window of so many bytes, a power of 2, as zstd --long does (RFC 8878, 3.1.1).
func zstWindow(window int, b []byte) []byte {
	out := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, byte(bits.Len(uint(window))-11) << 3}
	for {
		n := min(len(b), 128<<10)
		head := uint32(n) << 3
		if n == len(b) {
			head |= 1 // the last one
		}
		out = append(append(out, byte(head), byte(head>>8), byte(head>>16)), b[:n]...)
		if b = b[n:]; len(b) == 0 {
			return out
		}
	}
}

func TestPacked(t *testing.T) {
	file := join(header(le, micros, 1), plain(le, s0, 7, "abc"), plain(le, s0, 8, "de"))
	ng := join(section(be), face(be, 1, 0), whole(be, 0, at+7, "abc"), whole(be, 0, at+8, "de"))
	want := []pkt{{"abc", nano0 + 7000, 3}, {"de", nano0 + 8000, 2}}
	for _, tt := range []struct {
		name string
		file []byte
		as   string
	}{
		{"gzip", gz(t, file), "gzip"},
		{"gzip of pcapng", gz(t, ng), "gzip"},
		{"several members", join(gz(t, file[:30]), gz(t, nil), gz(t, file[30:])), "gzip"},
		{"zstd", zst(t, file), "zstd"},
		{"zstd of pcapng", zst(t, ng), "zstd"},
		{"several frames", join(zst(t, file[:30]), zst(t, nil), zst(t, file[30:])), "zstd"},
		{"frames to skip", join(skippable("about"), zst(t, file[:30]), skippable(""), zst(t, file[30:]), skippable("end")), "zstd"},
		{"the largest window", zstWindow(64<<20, file), "zstd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check(t, tt.file, 1, want)
			r, err := pcap.NewReader("f", bytes.NewReader(tt.file), pcap.ReadOptions{})
			must(t, err)
			defer r.Close()
			if got := r.Info().Compression; got != tt.as {
				t.Errorf("compression %q, want %q", got, tt.as)
			}
		})
	}
}

func TestPackedErrors(t *testing.T) {
	file := join(header(le, micros, 1), plain(le, s0, 7, "abc"), plain(le, s0, 8, strings.Repeat("de", 500)))
	cut := func(b []byte, n int) []byte { return b[:len(b)-n] }
	flip := func(b []byte, at int) []byte { b = bytes.Clone(b); b[(at+len(b))%len(b)] ^= 0x55; return b }
	for _, tt := range []struct {
		name string
		file []byte
		want string
	}{
		{"gzip header cut", gz(t, file)[:7], "gzip: cut off: unexpected EOF"},
		{"gzip cut", cut(gz(t, file), 9), "packet 3 at byte 1059 unpacked: a record header has 16 bytes, 0 there: gzip: cut off: unexpected EOF"},
		{"gzip checksum cut", cut(gz(t, file), 3), "packet 3 at byte 1059 unpacked: a record header has 16 bytes, 0 there: gzip: cut off: unexpected EOF"},
		{"gzip checksum", flip(gz(t, file), -6), "packet 3 at byte 1059 unpacked: a record header has 16 bytes, 0 there: gzip: invalid checksum"},
		{"garbage behind gzip", join(gz(t, file), []byte("garbage, and more of it")),
			"packet 3 at byte 1059 unpacked: a record header has 16 bytes, 0 there: gzip: invalid header"},
		{"capture cut in gzip", gz(t, file[:60]), "packet 2 at byte 43 unpacked: 1000 bytes promised, 1 there: unexpected EOF"},
		{"zstd header cut", zst(t, file)[:5], "zstd: cut off: unexpected EOF"},
		{"zstd checksum", flip(zst(t, file), -1), "zstd: CRC check failed"},
		{"garbage behind zstd", join(zst(t, file), []byte("garbage")),
			"packet 3 at byte 1059 unpacked: a record header has 16 bytes, 0 there: zstd: invalid input: magic number mismatch"},
		{"window too large", zstWindow(128<<20, file), "zstd with a window above 64 MiB: unpack it with unzstd --long=31"},
		{"dictionary", join([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x23, 9, 9, 9, 9, 1}, []byte{9, 0, 0, 1}), "zstd with a dictionary: unpack it with unzstd -D"},
		{"nothing in gzip", gz(t, nil), "empty file: want pcap or pcapng: unexpected EOF"},
		{"gzip in gzip", gz(t, gz(t, file)), "in gzip: a gzip file, want pcap or pcapng: unpack it with gunzip"},
		{"gzip in zstd", zst(t, gz(t, file)), "in zstd: a gzip file, want pcap or pcapng: unpack it with gunzip"},
		{"zstd in gzip", gz(t, zst(t, file)), "in gzip: a zstd file, want pcap or pcapng: unpack it with unzstd"},
		{"text in gzip", gz(t, []byte("hello\n")), `in gzip: a text file ("hello"), want pcap or pcapng`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readBoth(t, "mix.gz", tt.file)
			if err == nil || err.Error() != "mix.gz: "+tt.want {
				t.Errorf("\n got %v\nwant mix.gz: %s", err, tt.want)
			}
			pcapError(t, err)
		})
	}
}

// What the reader underneath says is kept.
func TestPackedReaderFails(t *testing.T) {
	broken := errors.New("disk on fire")
	file := header(le, micros, 1)
	for i := range 1000 {
		file = append(file, plain(le, s0, uint32(i), udp(60+i%40))...)
	}
	for name, packed := range map[string][]byte{"gzip": gz(t, file), "zstd": zst(t, file)} {
		for _, n := range []int{4, 12, len(packed) / 2, len(packed) - 2} {
			s, err := pcap.Read("f", io.MultiReader(bytes.NewReader(packed[:n]), iotest.ErrReader(broken)))
			if s != nil || !errors.Is(err, broken) || errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s, after %d of %d bytes: %v, %v, want the reader's error", name, n, len(packed), s, err)
			}
		}
	}
}

// The window that a frame asks for is not what is allocated twice.
func TestPackedMemory(t *testing.T) {
	file := header(le, micros, 1)
	big := plain(le, s0, 0, strings.Repeat("x", 1<<22))
	for name, packed := range map[string][]byte{
		"the largest window":         zstWindow(64<<20, join(file, big, big)),
		"a gigabyte of nothing":      gz(t, join(section(le), bytes.Repeat(block(le, 9, make([]byte, 1<<20)), 64))),
		"interfaces without an end":  gz(t, join(section(le), bytes.Repeat(face(le, 1, 0), 1<<20))),
		"names without an end":       gz(t, join(section(le), bytes.Repeat(face(le, 1, 0, option(le, 2, make([]byte, 60_000)...)), 1<<10))),
		"sections without an end":    gz(t, bytes.Repeat(join(section(le), face(le, 1, 0)), 1<<18)),
		"a frame that promises much": binary.LittleEndian.AppendUint64([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0}, 1<<40),
	} {
		t.Run(name, func(t *testing.T) {
			kept := 0
			got := allocated(func() {
				if s, err := pcap.Read("f", bytes.NewReader(packed)); err == nil {
					kept = int(s.Bytes())
				}
			})
			t.Logf("%d bytes unpacked take %d MB beside %d of packets", len(packed), got>>20, kept)
			if got > 100_000_000+3*uint64(kept) { // a store grows by copies where nobody knows how large it gets
				t.Errorf("%d bytes allocated, want at most 100 MB", got)
			}
		})
	}
}
