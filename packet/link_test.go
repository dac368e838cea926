package packet_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"loadtest/packet"
)

// cooked is a Linux cooked record: its header with this protocol, then data.
func cooked(link, protocol uint16, data string) []byte {
	b := make([]byte, 16)
	at := 14
	if link == packet.LinkSLL2 {
		b, at = make([]byte, 20), 0
	}
	binary.BigEndian.PutUint16(b[at:], protocol)
	return append(b, data...)
}

// ethernet is packet i of a store as an Ethernet frame.
func ethernet(s *packet.Store, i int, buf []byte) ([]byte, error) {
	r := packet.Record{Data: s.Frame(i).Data, Wire: s.Wire(i), Link: s.LinkOf(i), Number: int64(i) + 1}
	return r.Ethernet(buf)
}

func TestEthernet(t *testing.T) {
	for _, tt := range []struct {
		name   string
		link   uint16
		record []byte
		typ    uint16
		data   string
	}{
		{"raw IPv4", 101, []byte("Efgh"), 0x0800, "Efgh"},
		{"raw IPv6", 101, []byte("fgh"), 0x86dd, "fgh"},
		{"raw as BSD numbers it", 12, []byte("E"), 0x0800, "E"},
		{"raw as OpenBSD numbers it", 14, []byte("f"), 0x86dd, "f"},
		{"IPv4", 228, []byte("Efgh"), 0x0800, "Efgh"},
		{"IPv6", 229, []byte("fgh"), 0x86dd, "fgh"},
		{"loopback, IPv4", 108, []byte("\x00\x00\x00\x02E"), 0x0800, "E"},
		{"loopback of FreeBSD, IPv6", 108, []byte("\x00\x00\x00\x1cf"), 0x86dd, "f"},
		{"loopback, little endian", 108, []byte("\x1e\x00\x00\x00f"), 0x86dd, "f"},
		{"cooked ARP", 113, cooked(113, 0x0806, "ab"), 0x0806, "ab"},
		{"cooked VLAN tag", 113, cooked(113, 0x8100, "ab"), 0x8100, "ab"},
		{"cooked, no payload", 113, cooked(113, 0x0800, ""), 0x0800, ""},
		{"cooked LLC", 113, cooked(113, 4, "BB\x03"), 3, "BB\x03"},
		{"cooked 802.3 without LLC", 276, cooked(276, 1, "\xff\xff"), 2, "\xff\xff"},
		{"cooked v2", 276, cooked(276, 0x86dd, "f"), 0x86dd, "f"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &packet.Store{Link: tt.link}
			s.Append([]byte("another"), 0, 7)
			s.Append(tt.record, 0, len(tt.record))
			got, err := ethernet(s, 1, []byte("leftover of the frame before"))
			want := append(binary.BigEndian.AppendUint16(make([]byte, 12), tt.typ), tt.data...)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("Ethernet = %x, %v; want %x", got, err, want)
			}
		})
	}
}

func TestEthernetOfEthernet(t *testing.T) {
	for _, link := range []uint16{0, 1} {
		s := filled(3)
		s.Link = link
		got, err := ethernet(s, 0, nil)
		if err != nil || &got[0] != &s.Frame(0).Data[0] {
			t.Errorf("link %d: %x, %v; want the packet itself, not a copy", link, got, err)
		}
	}
}

func TestEthernetErrors(t *testing.T) {
	long := cooked(113, 4, strings.Repeat("B", 1501))
	for _, tt := range []struct {
		name   string
		link   uint16
		record []byte
		want   string
	}{
		{"no header that is known", 253, []byte("abc"), "record 1: link type 253 (netlink): want Ethernet, raw IP, loopback or Linux cooked"},
		{"not even a name", 200, []byte("abc"), "record 1: link type 200 (unknown): want Ethernet, raw IP, loopback or Linux cooked"},
		{"empty", 101, nil, "record 1: 0 bytes are no IP packet"},
		{"version", 229, []byte{0x50}, "record 1: IP version 5: want 4 or 6"},
		{"short loopback", 108, []byte{0, 0, 0}, "record 1: 3 bytes: a header of loopback has 4"},
		{"loopback without IP", 108, []byte{0, 0, 0, 2}, "record 1: 0 bytes are no IP packet"},
		{"family", 108, []byte{0, 0, 0, 7, 0x45}, "record 1: address family 7: want IPv4 (2) or IPv6 (10, 24, 28, 30)"},
		{"short cooked", 113, make([]byte, 15), "record 1: 15 bytes: a header of Linux cooked has 16"},
		{"short cooked v2", 276, make([]byte, 19), "record 1: 19 bytes: a header of Linux cooked v2 has 20"},
		{"CAN", 113, cooked(113, 12, ""), "record 1: protocol 0x000c is no EtherType"},
		{"long 802.3", 113, long, "record 1: 1501 bytes in an 802.3 frame: want at most 1500"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &packet.Store{Link: tt.link}
			s.Append(tt.record, 0, len(tt.record))
			if b, err := ethernet(s, 0, nil); err == nil || err.Error() != tt.want {
				t.Errorf("Ethernet = %x, %v; want %s", b, err, tt.want)
			}
		})
	}
}

// An 802.3 length is that of the wire, whatever was captured.
func TestEthernetSnapped(t *testing.T) {
	s := &packet.Store{Link: packet.LinkSLL}
	s.Append(cooked(113, 4, "BB\x03"), 0, 16+300)
	if b, err := ethernet(s, 0, nil); err != nil || binary.BigEndian.Uint16(b[12:]) != 300 {
		t.Errorf("%x, %v; want a length of 300", b, err)
	}
}

func TestLinkName(t *testing.T) {
	var names []string
	for _, link := range []uint16{0, 1, 12, 14, 101, 108, 113, 228, 229, 276, 253, 147} {
		names = append(names, packet.LinkName(link))
	}
	want := "Ethernet, Ethernet, raw IP, raw IP, raw IP, loopback, Linux cooked, IPv4, IPv6, Linux cooked v2, netlink, unknown"
	if got := strings.Join(names, ", "); got != want {
		t.Errorf("LinkName:\n%s, want\n%s", got, want)
	}
}

// Either a frame with the whole rest of the record behind its header, or an error that names the record.
func FuzzEthernet(f *testing.F) {
	f.Add(uint16(101), []byte("E123"))
	f.Add(uint16(108), []byte("\x00\x00\x00\x02E123"))
	f.Add(uint16(113), cooked(113, 0x0800, "E123"))
	f.Add(uint16(276), cooked(276, 4, "BB\x03"))
	f.Fuzz(func(t *testing.T, link uint16, record []byte) {
		s := &packet.Store{Link: link}
		s.Append(record, 0, len(record))
		b, err := ethernet(s, 0, nil)
		switch {
		case err != nil:
			if !strings.HasPrefix(err.Error(), "record 1: ") {
				t.Fatalf("error without its record: %v", err)
			}
		case link > 1 && (len(b) < packet.EtherLen || !bytes.HasSuffix(record, b[packet.EtherLen:])):
			t.Fatalf("%x of %x", b, record)
		}
	})
}
