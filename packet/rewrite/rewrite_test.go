package rewrite_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadtest/packet"
	"loadtest/packet/rewrite"
	"loadtest/pcap"
)

// unhex reads bytes with spaces between them.
func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// store is one of these packets, each captured a second after the one before.
func store(link uint16, packets ...[]byte) *packet.Store {
	s := &packet.Store{Link: link}
	for i, b := range packets {
		s.Append(b, int64(i)*1e9, len(b))
	}
	return s
}

// text shows a store in full.
func text(s *packet.Store) string {
	var b strings.Builder
	fmt.Fprintf(&b, "link %d\n", s.Link)
	for i := range s.Len() {
		fmt.Fprintf(&b, "%d of %d bytes at %d: %x\n", s.Size(i), s.Wire(i), s.Frame(i).Nanos, s.Frame(i).Data)
	}
	return b.String()
}

func both() rewrite.MACs {
	return rewrite.MACs{Dst: [6]byte{0xdd, 1, 2, 3, 4, 5}, Src: [6]byte{0xcc, 1, 2, 3, 4, 5}, SetDst: true, SetSrc: true}
}

func TestApply(t *testing.T) {
	dst, src := both(), both()
	dst.SetSrc, src.SetDst = false, false
	const old, rest = "aaaaaaaaaaaa bbbbbbbbbbbb", "0800 45"
	for _, tt := range []struct {
		name string
		m    rewrite.MACs
		want string
	}{
		{"none", rewrite.MACs{}, old},
		{"destination", dst, "dd0102030405 bbbbbbbbbbbb"},
		{"source", src, "aaaaaaaaaaaa cc0102030405"},
		{"both", both(), "dd0102030405 cc0102030405"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for link := range uint16(2) {
				s := store(link, unhex(t, old+"0806"), unhex(t, old+rest))
				s.Append(unhex(t, old+"86dd"), 77, 1500)
				before := text(s)
				got, err := ethernet(s, tt.m)
				if err != nil {
					t.Fatal(err)
				}
				want := store(link, unhex(t, tt.want+"0806"), unhex(t, tt.want+rest))
				want.Append(unhex(t, tt.want+"86dd"), 77, 1500)
				if text(got) != text(want) {
					t.Errorf("%swant\n%s", text(got), text(want))
				}
				if text(s) != before {
					t.Errorf("the store itself changed to %s", text(s))
				}
			}
		})
	}
}

func TestEthernet(t *testing.T) {
	const macs = "dd0102030405 cc0102030405"
	s := &packet.Store{Link: packet.LinkSLL}
	s.Append(unhex(t, "0000 0001 0006 020000000001 0000 0800 450102"), 5, 19)
	s.Append(unhex(t, "0004 0001 0006 020000000001 0000 0806"), 3, 1016)
	want := &packet.Store{Link: packet.LinkEthernet}
	want.Append(unhex(t, macs+"0800 450102"), 5, 17)
	want.Append(unhex(t, macs+"0806"), 3, 1014)
	got, err := ethernet(s, both())
	if err != nil || text(got) != text(want) {
		t.Errorf("%v %swant\n%s", err, text(got), text(want))
	}

	already := store(packet.LinkEthernet, unhex(t, "aaaaaaaaaaaa bbbbbbbbbbbb 0800"))
	m := both()
	m.SetSrc = false
	if got, err := ethernet(already, m); err != nil || text(got) != text(store(1, unhex(t, "dd0102030405 bbbbbbbbbbbb 0800"))) {
		t.Errorf("of Ethernet: %v, %s", err, text(got))
	}
}

func TestErrors(t *testing.T) {
	half := both()
	half.SetSrc = false
	for _, tt := range []struct {
		name string
		do   func() (*packet.Store, error)
		want string
	}{
		{"one address", func() (*packet.Store, error) { return ethernet(store(packet.LinkRaw, []byte{0x45}), half) },
			"record 1: no Ethernet header (raw IP, 101): want a destination and a source MAC address for a new one"},
		{"short record", func() (*packet.Store, error) {
			return ethernet(store(packet.LinkRaw, []byte{0x45}, []byte{0x60}, nil), both())
		}, "record 3: 0 bytes are no IP packet"},
		{"no packets of a network", func() (*packet.Store, error) { return ethernet(store(253, []byte{1}), both()) },
			"record 1: link type 253 (netlink): want Ethernet, raw IP, loopback or Linux cooked"},
	} {
		if s, err := tt.do(); s != nil || err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, %v; want %s", tt.name, s, err, tt.want)
		}
	}
}

// golden reads a capture of another tool.
func golden(t *testing.T, name string) *packet.Store {
	t.Helper()
	folder := os.Getenv("LOADTEST_GOLDEN")
	if folder == "" {
		t.Skip("needs LOADTEST_GOLDEN")
	}
	s, err := pcap.ReadFile(filepath.Join(folder, "pcaps", name))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEthernetGolden(t *testing.T) {
	for _, tt := range []struct {
		file  string
		head  int // of its link type
		proto uint8
	}{{"tcp-handshake-nano-sll.pcap", 16, packet.ProtoTCP}, {"raw-ip.pcap", 0, packet.ProtoUDP}} {
		t.Run(tt.file, func(t *testing.T) {
			s := golden(t, tt.file)
			got, err := ethernet(s, both())
			if err != nil || got.Len() != s.Len() || got.Link != packet.LinkEthernet {
				t.Fatalf("%d packets of link type %d, %v", got.Len(), got.Link, err)
			}
			for i := range got.Len() {
				b := got.Frame(i).Data
				if !bytes.Equal(b[14:], s.Frame(i).Data[tt.head:]) || got.Frame(i).Nanos != s.Frame(i).Nanos {
					t.Errorf("packet %d is %x", i, b)
				}
				if h, ok := packet.Parse(b); !ok || h.Proto != tt.proto {
					t.Errorf("packet %d is of protocol %d (%v), want %d", i, h.Proto, ok, tt.proto)
				}
			}
		})
	}
}
