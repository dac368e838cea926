package rewrite_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"loadtest/packet"
)

// Frames of the tests. Those of IP have right checksums.
const (
	macs    = "020000000001 020000000002"
	swapped = "020000000002 020000000001"
	ip6     = "fd000000000000000000000000000001 fd000000000000000000000000000002"
	ip6back = "fd000000000000000000000000000002 fd000000000000000000000000000001"
)

func TestSwap(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"UDP", macs + "0800 4500001d 00000000 4011f8cb 0a000001 0b000002 c0200007 0009 1ca0 41", swapped + "0800 4500001d 00000000 4011f8cb 0b000002 0a000001 0007c020 0009 1ca0 41"},
		{"TCP in two VLANs", macs + "8100 0007 8100 0008 0800 45000028 00000000 40060000 0a000001 0b000002 00500051 00000001 00000002 50100000 00000000",
			swapped + "8100 0007 8100 0008 0800 45000028 00000000 40060000 0b000002 0a000001 00510050 00000001 00000002 50100000 00000000"},
		{"ICMP", macs + "0800 4500001c 00000000 40010000 0a000001 0b000002 0800f7fd 00010001", swapped + "0800 4500001c 00000000 40010000 0b000002 0a000001 0800f7fd 00010001"},
		{"SCTP has a checksum over its ports", macs + "0800 45000020 00000000 40840000 0a000001 0b000002 00010002 00000000 00000000",
			swapped + "0800 45000020 00000000 40840000 0b000002 0a000001 00010002 00000000 00000000"},
		{"first fragment", macs + "0800 4500001c 00002000 40110000 0a000001 0b000002 00010002 00080000", swapped + "0800 4500001c 00002000 40110000 0b000002 0a000001 00010002 00080000"},
		{"last fragment", macs + "0800 4500001c 00000003 40110000 0a000001 0b000002 00010002 00080000", swapped + "0800 4500001c 00000003 40110000 0b000002 0a000001 00010002 00080000"},
		{"UDP over IPv6, options before it", macs + "86dd 60000000 00100040" + ip6 + "1100 000000000000 00010002 00080000", swapped + "86dd 60000000 00100040" + ip6back + "1100 000000000000 00020001 00080000"},
		{"IPv6 fragment", macs + "86dd 60000000 00102c40" + ip6 + "1100 0001 00000001 00010002 00080000", swapped + "86dd 60000000 00102c40" + ip6back + "1100 0001 00000001 00010002 00080000"},
		{"captured to the ports", macs + "0800 4500001c 00000000 40110000 0a000001 0b000002 0001", swapped + "0800 4500001c 00000000 40110000 0b000002 0a000001 0001"},
		{"no whole IP header", macs + "0800 4500001c 00000000 40110000 0a000001", swapped + "0800 4500001c 00000000 40110000 0a000001"},
		{"ARP reply", macs + "0806 0001 0800 06 04 0002 020000000002 0a000001 020000000001 0a000002", swapped + "0806 0001 0800 06 04 0002 020000000002 0a000001 020000000001 0a000002"},
		{"no frame", "010203", "010203"},
		{"to all, ARP", "ffffffffffff 020000000002 0806 0001 0800", ""},
		{"to a group, spanning tree", "0180c2000000 020000000002 0026 424203", ""},
		{"from a group", "020000000002 0180c2000000 0026 424203", ""},
		{"IPv4 group behind a host's MAC", macs + "0800 4500001c 00000000 40110000 0a000001 e0000001 00010002 00080000", ""},
		{"IPv4 to all behind a host's MAC", macs + "0800 4500001c 00000000 40110000 00000000 ffffffff 00010002 00080000", ""},
		{"IPv6 group behind a host's MAC", macs + "86dd 60000000 00083b40 fe800000000000000000000000000001 ff020000000000000000000000000001 0000000000000000", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			other := unhex(t, macs+"88b5 01")
			s := store(packet.LinkEthernet, unhex(t, tt.in), other)
			before := text(s)
			got, skipped := turned(s)
			want := &packet.Store{Link: packet.LinkEthernet}
			if tt.want != "" {
				b := unhex(t, tt.want)
				want.Append(b, 0, len(b))
			}
			want.Append(unhex(t, swapped+"88b5 01"), 1e9, len(other))
			if text(got) != text(want) || skipped != 2-want.Len() {
				t.Errorf("%d skipped, %swant %d,\n%s", skipped, text(got), 2-want.Len(), text(want))
			}
			if text(s) != before {
				t.Errorf("the store itself changed to %s", text(s))
			}
		})
	}
}

func TestSwapKeepsSnapped(t *testing.T) {
	s := &packet.Store{Link: packet.LinkEthernet}
	s.Append(unhex(t, "ffffffffffff 020000000002 0806"), 1, 14)
	s.Append(unhex(t, macs+"88b5"), 2, 1500)
	got, _ := turned(s)
	if got.Len() != 1 || got.Wire(0) != 1500 || got.Frame(0).Nanos != 2 {
		t.Errorf("%s", text(got))
	}
}

// TestSwapTshark has tshark read what was swapped: no checksum is worse than before, and source and destination have changed places.
func TestSwapTshark(t *testing.T) {
	fields := func(s *packet.Store) (checks, ends []string) {
		for _, cell := range tshark(t, s, "ip.checksum.status tcp.checksum.status udp.checksum.status eth.src ip.src udp.srcport tcp.srcport eth.dst ip.dst udp.dstport tcp.dstport") {
			checks = append(checks, strings.Join(cell[:3], ","))
			ends = append(ends, strings.Join(cell[3:], ","))
		}
		return checks, ends
	}
	for _, name := range []string{"http-get.pcap", "dns.pcap"} {
		s := golden(t, name)
		swapped, skipped := turned(s)
		if skipped != 0 {
			t.Errorf("%s: %d skipped", name, skipped)
		}
		checks, ends := fields(s)
		checks2, ends2 := fields(swapped)
		good := 0
		for i := range checks {
			if checks[i] != checks2[i] {
				t.Errorf("%s packet %d: checksums %s, were %s", name, i+1, checks2[i], checks[i])
			}
			if !strings.Contains(checks[i], "0") {
				good++
			}
			cell := strings.Split(ends[i], ",")
			if want := strings.Join(append(cell[4:8:8], cell[:4]...), ","); ends2[i] != want {
				t.Errorf("%s packet %d: %s, want %s", name, i+1, ends2[i], want)
			}
		}
		if good == 0 {
			t.Errorf("%s: no packet has right checksums to begin with", name)
		}
	}
}

// sums adds up a frame's 16-bit words from its network header on: no checksum of IP, UDP or TCP changes if no word does but by its place.
func sums(b []byte) (n uint32) {
	h, _ := packet.Parse(b)
	for b = b[min(h.L3, len(b)):]; len(b) > 1; b = b[2:] {
		n += uint32(binary.BigEndian.Uint16(b))
	}
	return n
}

// What was swapped twice is what it was; the headers lie where they lay, and no checksum changes.
func FuzzSwap(f *testing.F) {
	f.Add(unhex(f, macs+"0800 4500001d 00000000 4011f8cb 0a000001 0b000002 c0200007 0009 1ca0 41"))
	f.Add(unhex(f, macs+"86dd 60000000 00100040"+ip6+"1100 000000000000 00010002 00080000"))
	f.Add(unhex(f, macs+"8100 0007 0800 45000028 00000000 40060000 0a000001 0b000002 00500051 00000001 00000002 50100000 00000000"))
	f.Fuzz(func(t *testing.T, b []byte) {
		one, skipped := turned(store(packet.LinkEthernet, b))
		if skipped == 1 {
			return
		}
		a := one.Frame(0).Data
		two, skipped := turned(one)
		if skipped != 0 || !bytes.Equal(two.Frame(0).Data, b) {
			t.Fatalf("%x swapped is %x, and again %s", b, a, text(two))
		}
		h, ok := packet.Parse(b)
		h2, ok2 := packet.Parse(a)
		if h != h2 || ok != ok2 || ok && sums(a) != sums(b) {
			t.Fatalf("%x swapped is %x: %+v, was %+v; sum %x, was %x", b, a, h2, h, sums(a), sums(b))
		}
	})
}
