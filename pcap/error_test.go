package pcap_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"loadtest/pcap"
)

func TestReadErrors(t *testing.T) {
	ng := func(parts ...[]byte) []byte { return append(section(le), join(parts...)...) }
	eth := face(le, 1, 0)
	head := header(le, micros, 1)
	one := join(head, plain(le, s0, 0, "abc")) // the next record is at 24+19
	wrongEnd := block(le, 5, []byte("statistics"))
	wrongEnd[len(wrongEnd)-4]++
	for _, tt := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty file", nil, "empty file: want pcap or pcapng: unexpected EOF"},
		{"3 bytes", []byte{0xd4, 0xc3, 0xb2}, "3 bytes are no capture: want pcap or pcapng: unexpected EOF"},
		{"cut header", head[:10], "a pcap header has 24 bytes, 10 there: unexpected EOF"},
		{"version", headerOf(be, micros, 543, 0, 1), "pcap version 543.0: want 2.4, or an older 2.x"},
		{"newer version", headerOf(be, micros, 2, 5, 1), "pcap version 2.5: want 2.4, or an older 2.x"},
		{"link type", header(le, micros, 0x00010001), "link type 0x10001 has bits that mean nothing: want a LINKTYPE_ number below 65536"},
		{"cut record header", join(one, plain(le, s0, 0, "abc")[:7]), "packet 2 at byte 43: a record header has 16 bytes, 7 there: unexpected EOF"},
		{"cut packet", join(one, record(le, s0, 0, 1514, 1514, strings.Repeat("x", 20))), "packet 2 at byte 43: 1514 bytes promised, 20 there: unexpected EOF"},
		{"lying length", join(one, record(le, s0, 0, 1<<32-1, 3, "abc")), "packet 2 at byte 43: 4294967295 bytes promised: want at most 4194304"},
		{"lying wire length", join(one, record(le, s0, 0, 3, 1<<31, "abc")), "packet 2 at byte 43: 2147483648 bytes on the wire: want at most 2147483647"},

		{"cut section header", section(le)[:20], "packet 1 at byte 0: block type 0xa0d0d0a: 28 bytes promised, 20 there: unexpected EOF"},
		{"cut block header", ng(eth[:5]), "packet 1 at byte 28: a block has 12 bytes or more, 5 there: unexpected EOF"},
		{"cut packet block", ng(eth, whole(le, 0, at, "abc"), whole(le, 0, at, "abc")[:30]),
			"packet 2 at byte 84: block type 0x6: 36 bytes promised, 30 there: unexpected EOF"},
		{"cut other block", ng(eth, wrongEnd[:21]), "packet 1 at byte 48: block type 0x5: 24 bytes promised, 21 there: unexpected EOF"},
		{"byte order", join([]byte{0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 1, 2, 3, 4}),
			"packet 1 at byte 0: section header with byte order 01 02 03 04: want 1a 2b 3c 4d or 4d 3c 2b 1a"},
		{"pcapng version", sectionOf(be, 2, 0), "packet 1 at byte 0: pcapng version 2.0: want 1.0"},
		{"short section header", block(le, 0x0a0d0d0a, le.AppendUint32(nil, 0x1a2b3c4d)), "packet 1 at byte 0: section header of 16 bytes: want 28 or more"},
		{"odd block", ng(le.AppendUint32(le.AppendUint32(nil, 9), 13), make([]byte, 5)),
			"packet 1 at byte 28: block type 0x9 of 13 bytes: want a multiple of 4, at least 12"},
		{"block of 0 bytes", ng(make([]byte, 12)), "packet 1 at byte 28: block type 0x0 of 0 bytes: want a multiple of 4, at least 12"},
		{"lying block", ng(le.AppendUint32(le.AppendUint32(nil, 6), 0xfffffffc), make([]byte, 50)),
			"packet 1 at byte 28: block type 0x6 of 4294967292 bytes: want at most 5242880"},
		{"lying other block", ng(le.AppendUint32(le.AppendUint32(nil, 9), 0xfffffffc), make([]byte, 52)),
			"packet 1 at byte 28: block type 0x9: 4294967292 bytes promised, 60 there: unexpected EOF"},
		{"trailer", ng(wrongEnd), "packet 1 at byte 28: block type 0x5 of 24 bytes ends with length 25"},
		{"packet trailer", append(ng(eth, whole(le, 0, at, "abc")[:32]), 9, 0, 0, 0), "packet 1 at byte 48: block type 0x6 of 36 bytes ends with length 9"},
		{"short interface", ng(block(le, 1, make([]byte, 4))), "packet 1 at byte 28: interface description of 16 bytes: want 20 or more"},
		{"short packet block", ng(eth, block(le, 6, make([]byte, 16))), "packet 1 at byte 48: packet block of 28 bytes: want 32 or more"},
		{"short simple packet", ng(eth, block(le, 3, nil)), "packet 1 at byte 48: simple packet block of 12 bytes: want 16 or more"},
		{"unknown interface", ng(eth, whole(le, 1, at, "abc")), "packet 1 at byte 48: interface 1: the section has described 1, counted from 0"},
		{"interface of another section", ng(eth, section(le), whole(le, 0, at, "abc")), "packet 1 at byte 76: interface 0: the section has described 0, counted from 0"},
		{"simple packet without interface", ng(simple(le, 3, "abc")), "packet 1 at byte 28: simple packet block before any interface of its section"},
		{"packet longer than its block", ng(eth, enhanced(le, 0, at, 1514, 1514, "abc")), "packet 1 at byte 48: 1514 bytes promised, 4 in the block"},
		{"simple packet longer than its block", ng(eth, simple(le, 1514, "abc")), "packet 1 at byte 48: 1514 bytes promised, 4 in the block"},
		{"lying packet", ng(eth, enhanced(le, 0, at, 1<<31, 3, "abc")), "packet 1 at byte 48: 2147483648 bytes promised: want at most 4194304"},
		{"lying simple packet", ng(eth, simple(le, 1<<31, "abc")), "packet 1 at byte 48: 2147483648 bytes promised: want at most 4194304"},
		{"time", ng(eth, whole(le, 0, 1<<63, "abc")), "packet 1 at byte 48: time 9223372036854775808 in the interface's units is after the year 2262"},
		{"time with offset", ng(face(le, 1, 0, option(le, 14, le.AppendUint64(nil, 9e9)...)), whole(le, 0, at, "abc")),
			"packet 1 at byte 60: time 1709208000000000 in the interface's units is after the year 2262"},
		{"time offset", ng(face(le, 1, 0, option(le, 14, le.AppendUint64(nil, 1e10)...))),
			"packet 1 at byte 28: interface 0: time offset of 10000000000 s: want less than 292 years"},
		{"resolution", ng(eth, face(le, 1, 0, option(le, 9, 1, 2))), "packet 1 at byte 48: interface 1: option 9 of 2 bytes: want 1"},
		{"option", ng(face(le, 1, 0, []byte{2, 0, 200, 0, 'e', 't', 'h', '0'})), "packet 1 at byte 28: interface 0: option 2: 200 bytes promised, 4 in the block"},
		{"packet option", ng(eth, enhanced(le, 0, at, 3, 3, "abc", []byte{2, 0, 4, 0})), "packet 1 at byte 48: option 2: 4 bytes promised, 0 in the block"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readBoth(t, "mix.pcap", tt.file)
			if err == nil || err.Error() != "mix.pcap: "+tt.want {
				t.Errorf("\n got %v\nwant mix.pcap: %s", err, tt.want)
			}
			pcapError(t, err)
		})
	}
}

func TestForeignFiles(t *testing.T) {
	erf := []byte{0, 0, 0, 0, 0xc0, 0xb2, 0xe0, 0x65, 2, 4, 0, 82, 0, 0, 0, 64, 0, 0}
	for _, tt := range []struct{ name, file, want string }{
		{"cut gzip", "\x1f\x8b\x08\x00", "gzip: cut off: unexpected EOF"},
		{"cut zstd", "\x28\xb5\x2f\xfd", "zstd: cut off: unexpected EOF"},
		{"xz", "\xfd7zXZ\x00\x00", "a xz file, want pcap or pcapng: unpack it with unxz"},
		{"bzip2", "BZh9", "a bzip2 file, want pcap or pcapng: unpack it with bunzip2"},
		{"old modified", "\xcd\x34\xb2\xa1", "a modified pcap (a1b234cd) file, want pcap or pcapng: convert it with the program that wrote it"},
		{"snoop", "snoop\x00\x00\x00\x00\x00\x00\x02", "a snoop file, want pcap or pcapng: convert it with editcap -F pcapng"},
		{"btsnoop", "btsnoop\x00\x00\x00\x00\x01", "a btsnoop file, want pcap or pcapng: convert it with editcap -F pcapng"},
		{"NetXRay", "XCP\x00002.001", "a NetXRay or Sniffer capture file, want pcap or pcapng: convert it with editcap -F pcapng"},
		{"Network Monitor", "GMBU\x00\x02", "a Network Monitor capture file, want pcap or pcapng: convert it with editcap -F pcapng"},
		{"erf", string(erf), "looks like an ERF file, want pcap or pcapng: convert it with editcap -F pcapng"},
		{"text", "interfaces:\n  - eth0\n", `a text file ("interfaces:"), want pcap or pcapng`},
		{"cut text", "<!DOCTYPE html> \xe2\x82", `a text file ("<!DOCTYPE html> \xe2\x82"), want pcap or pcapng`},
		{"git lfs", "version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS file, want pcap or pcapng: fetch the file itself with git lfs pull"},
		{"unknown", "\x00\x01\x02\x03\x04", "begins with 00 01 02 03, want pcap (d4 c3 b2 a1, 4d 3c b2 a1 or their reverse) or pcapng (0a 0d 0d 0a)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readBoth(t, "f", []byte(tt.file))
			if err == nil || err.Error() != "f: "+tt.want {
				t.Errorf("\n got %v\nwant f: %s", err, tt.want)
			}
		})
	}
}

func TestReadFileErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.pcap")
	_, err := pcap.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), path+": open: ") {
		t.Errorf("ReadFile of nothing: %v, want %s: open: …", err, path)
	}
	pcapError(t, err)
	_, err = pcap.ReadFile(t.TempDir())
	if err == nil {
		t.Fatal("ReadFile of a folder: no error")
	}
	pcapError(t, err)
}

// What the reader underneath says is kept: it is not the file that is cut.
func TestReaderFails(t *testing.T) {
	broken := errors.New("disk on fire")
	file := join(header(le, micros, 1), plain(le, s0, 0, "abc"), plain(le, s0, 0, "def"))
	for _, n := range []int{0, 3, 20, 24, 30, 43, 50, 60} {
		s, err := pcap.Read("f", io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(broken)))
		if s != nil || !errors.Is(err, broken) || errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("after %d bytes: %v, %v, want the reader's error", n, s, err)
		}
	}
	_, err := pcap.Read("f", stalled{})
	if !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader that gives nothing: %v, want %v", err, io.ErrNoProgress)
	}
}

type stalled struct{}

func (stalled) Read([]byte) (int, error) { return 0, nil }
