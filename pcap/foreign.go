package pcap

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// foreign says what a file that is neither pcap nor pcapng looks like, by its first bytes, and what would be right. packed is what
// they were packed with, "" for nothing.
func foreign(b []byte, packed string) error {
	if packed != "" {
		return fmt.Errorf("in %s: %w", packed, foreign(b, ""))
	}
	convert, again := "convert it with editcap -F pcapng", "convert it with the program that wrote it"
	for _, f := range []struct{ magic, name, right string }{
		{"\x1f\x8b", "gzip", "unpack it with gunzip"},
		{"\x28\xb5\x2f\xfd", "zstd", "unpack it with unzstd"},
		{"\xfd7zXZ\x00", "xz", "unpack it with unxz"},
		{"BZh", "bzip2", "unpack it with bunzip2"},
		{"\x04\x22\x4d\x18", "lz4", "unpack it with unlz4"},
		{"PK\x03\x04", "zip", "unpack it with unzip"},
		{"7z\xbc\xaf\x27\x1c", "7z", "unpack it with 7z x"},
		{"LZIP", "lzip", "unpack it with lunzip"},
		{"\x1f\x9d", "compress (.Z)", "unpack it with uncompress"},
		{"\xff\x06\x00\x00sNaPpY", "snappy", "unpack it with snzip -d"},
		{"\xa1\xb2\x34\xcd", "modified pcap (a1b234cd)", again},
		{"\xcd\x34\xb2\xa1", "modified pcap (a1b234cd)", again},
		{"\xa1\x2b\x3c\x4d", "pcap of a Navtel system", again},
		{"\x4d\x3c\x2b\xa1", "pcap of a Navtel system", again},
		{"snoop\x00\x00\x00", "snoop", convert},
		{"btsnoop\x00", "btsnoop", convert},
		{"TRSNIFF data    \x1a", "Sniffer capture", convert},
		{"XCP\x00", "NetXRay or Sniffer capture", convert},
		{"VL\x00\x00", "NetXRay or Sniffer capture", convert},
		{"GMBU", "Network Monitor capture", convert},
		{"RTSS", "Network Monitor capture", convert},
		{"ObserverPktBuf", "Network Instruments Observer capture", convert},
		{"\x7fver", "Savvius Peek capture", convert},
		{"cpse", "Colasoft Capsa capture", convert},
		{"\xaa\xaa\xaa\xaa", "InfoVista 5View capture", convert},
		{"\x05VNF", "Visual Networks capture", convert},
		{"\x42\xd2\x00\x34\x12\x66\x22\x88", "RADCOM capture", convert},
		{"\x54\x52\x00\x64\x00", "HP-UX nettl trace", convert},
		{"\x00\x00\x02\x00\x12\x05\x10\x10", "Tektronix K12 capture", convert},
		{"iptrace ", "iptrace", convert},
		{"LPKSHHRH", "journal of systemd", "that has no packets"},
		{"version https://git-lfs", "pointer of Git LFS", "fetch the file itself with git lfs pull"},
	} {
		if bytes.HasPrefix(b, []byte(f.magic)) {
			return fmt.Errorf("a %s file, want pcap or pcapng: %s", f.name, f.right)
		}
	}
	switch {
	case isERF(b):
		return fmt.Errorf("looks like an ERF file, want pcap or pcapng: %s", convert)
	case isText(b):
		line, _, _ := bytes.Cut(b, []byte("\n"))
		return fmt.Errorf("a text file (%s), want pcap or pcapng", strconv.Quote(string(line[:min(len(line), 40)])))
	}
	return fmt.Errorf("begins with % x, want pcap (d4 c3 b2 a1, 4d 3c b2 a1 or their reverse) or pcapng (0a 0d 0d 0a)", b[:min(len(b), 4)])
}

// isERF guesses by the first record, as ERF has no magic: a time since 1990 (fraction, seconds; little endian), a known type,
// a record length that holds its own header.
func isERF(b []byte) bool {
	if len(b) < 16 {
		return false
	}
	seconds := int64(binary.LittleEndian.Uint32(b[4:]))
	typ, length := b[8]&0x7f, binary.BigEndian.Uint16(b[10:])
	y := time.Unix(seconds, 0).UTC().Year()
	lost := binary.BigEndian.Uint16(b[12:]) // packets before the first record: none
	return y >= 1990 && y < 2100 && typ >= 1 && typ <= 28 && length >= 16 && lost == 0
}

// isText reports whether all bytes are printable; the last character may be cut.
func isText(b []byte) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && n == 1:
			return len(b) < utf8.UTFMax && !utf8.FullRune(b)
		case r < ' ' && r != '\n' && r != '\r' && r != '\t', r == 0x7f:
			return false
		}
		b = b[n:]
	}
	return true
}
