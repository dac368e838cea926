package dut_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"loadtest/dut"
)

// routed is a router between ports a (10.1/16, fd01::/16) and b (10.2/16, fd02::/16); more goes into the node, link into the
// link to b.
func routed(more, link string) string {
	return fmt.Sprintf(`
ports:
  - {name: a, mac: 02:00:00:00:00:77}
  - {name: b, mac: 02:00:00:00:00:88}
links:
  - {name: left, between: [a, r.left], mtu: 9000}
  - {name: right, between: [r.right, b]%s}
nodes:
  - name: r
    kind: router
    interfaces:
      - {name: left, mac: 02:00:00:00:00:01, addresses: [10.1.0.1, "fd01::1"]}
      - {name: right, mac: 02:00:00:00:00:02, addresses: [10.2.0.1, "fd02::1"]}
    routes:
      - {to: 10.1.0.0/16, interface: left}
      - {to: 10.2.0.0/16, interface: right, next-hop-mac: 02:00:00:00:00:99}
      - {to: 10.2.7.0/24, interface: right}
      - {to: "fd01::/16", interface: left}
      - {to: "fd02::/16", interface: right}
%s`, link, more)
}

// through sends one frame at a and gives what arrives at a and at b, decoded and with their checksums verified.
func through(t *testing.T, n *dut.Network, frame []byte) (a, b [][]byte) {
	t.Helper()
	port := open(t, n, "a")
	rxa, rxb := &receiver{port: port, times: []int64{}}, &receiver{port: open(t, n, "b"), times: []int64{}}
	run(n, second, &sender{port: port, frames: [][]byte{frame}, due: timed(1), count: 1, burst: 1}, rxa, rxb)
	for _, f := range slices.Concat(rxa.frames, rxb.frames) {
		if f[12] == 8 && checksum(f[14:14+int(f[14]&15)*4]) != 0 {
			t.Errorf("bad header checksum in %x", f)
		}
	}
	if got := n.Totals(); got.InFlight != 0 || got.Sent+got.ICMP+got.Fragments != got.Delivered+got.Dropped {
		t.Errorf("books: %+v", got)
	}
	return rxa.frames, rxb.frames
}

// edit is a frame with a byte changed and the IPv4 header checksum made right again.
func edit(frame []byte, i int, v byte) []byte {
	f := slices.Clone(frame)
	f[i] = v
	f[24], f[25] = 0, 0
	binary.BigEndian.PutUint16(f[24:], checksum(f[14:34]))
	return f
}

func ipv6(size int, dst string, next byte) []byte {
	b := make([]byte, size)
	copy(b, "\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x77\x86\xdd\x60")
	binary.BigEndian.PutUint16(b[18:], uint16(size-54))
	b[20], b[21] = next, 64
	copy(b[22:], "\xfd\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x42")
	copy(b[38:], dst)
	b[53] = 9
	return b
}

func TestRouter(t *testing.T) {
	good := ipv4(60, "10.1.0.42", "10.2.0.9")
	broken := slices.Clone(good)
	broken[24] ^= 1
	for _, tt := range []struct {
		name  string
		frame []byte
		drops string // of node r, where it came in by left; "": it passes
		mac   byte   // last of the destination, where it passes
		size  int
	}{
		{"passes", good, "", 0x99, 60},
		{"longest prefix", ipv4(60, "10.1.0.42", "10.2.7.1"), "", 0x88, 60},
		{"link padding goes", append(ipv4(62, "10.1.0.42", "10.2.0.9"), 1, 2, 3), "", 0x99, 62},
		{"IPv6", ipv6(70, "\xfd\x02", 59), "", 0x88, 70},
		{"IPv6 of another kind", ipv6(70, "\xfd\x03", 59), "no route", 0, 0},
		{"no route", ipv4(60, "10.1.0.42", "10.3.0.9"), "no route", 0, 0},
		{"for the router", ipv4(60, "10.1.0.42", "10.2.0.1"), "for the node itself", 0, 0},
		{"back", ipv4(60, "10.1.0.42", "10.1.0.9"), "would go back where it came from", 0, 0},
		{"TTL 1", edit(good, 22, 1), "TTL expired", 0, 0},
		{"TTL 2", edit(good, 22, 2), "", 0x99, 60},
		{"checksum", broken, "bad header checksum", 0, 0},
		{"version", edit(good, 14, 0x55), "malformed", 0, 0},
		{"header length", edit(good, 14, 0x44), "malformed", 0, 0},
		{"length", edit(good, 17, 60), "malformed", 0, 0},
		{"short", good[:30], "malformed", 0, 0},
		{"short IPv6", ipv6(70, "\xfd\x02", 59)[:50], "malformed", 0, 0},
		{"cut IPv6", ipv6(70, "\xfd\x02", 59)[:69], "malformed", 0, 0},
		{"other MAC", append([]byte{2, 0, 0, 0, 0, 5}, good[6:]...), "other MAC address", 0, 0},
		{"ARP", edit(good, 13, 6), "not IP", 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := parse(t, routed("", ""))
			_, got := through(t, n, tt.frame)
			want := ""
			if tt.drops != "" {
				want = "r/r.left/" + tt.drops + ": 1"
			}
			if d := drops(n); d != want {
				t.Fatalf("drops %q, want %q", d, want)
			}
			if tt.drops == "" && (len(got) != 1 || len(got[0]) != tt.size || got[0][5] != tt.mac || got[0][11] != 2) {
				t.Errorf("got %x, want one frame of %d bytes to …%x from …2", got, tt.size, tt.mac)
			}
		})
	}
}

// ICMP errors are what gopacket reads, quote the packet as it came, and go back to where it came from.
func TestRouterICMP(t *testing.T) {
	long, df := ipv4(1514, "10.1.0.42", "10.2.0.9"), edit(ipv4(1514, "10.1.0.42", "10.2.0.9"), 20, 0x40)
	ping := edit(ipv4(1514, "10.1.0.42", "10.2.0.9"), 23, 1) // ICMP type 0
	for _, tt := range []struct {
		name, more, link string
		frame            []byte
		want             string // type, code and MTU; "": no ICMP
	}{
		{"too big", "", ", mtu: 1000, too-long: too-big", long, "DestinationUnreachable(FragmentationNeeded) 1000"},
		{"DF", "", ", mtu: 1000, too-long: fragment", df, "DestinationUnreachable(FragmentationNeeded) 1000"},
		{"drop", "", ", mtu: 1000", long, ""},
		{"TTL", "    icmp: true\n", "", edit(long, 22, 1), "TimeExceeded(TTLExceeded) 0"},
		{"TTL, silent", "", "", edit(long, 22, 1), ""},
		{"about a ping", "", ", mtu: 1000, too-long: too-big", ping, "DestinationUnreachable(FragmentationNeeded) 1000"},
		{"about an error", "", ", mtu: 1000, too-long: too-big", edit(edit(ping, 34, 3), 34, 3), ""},
		{"about a later fragment", "", ", mtu: 1000, too-long: too-big", edit(long, 21, 7), ""},
		{"IPv6", "", ", mtu: 1300, too-long: too-big", ipv6(1514, "\xfd\x02", 59), "PacketTooBig 1300"},
		{"IPv6 is never cut", "", ", mtu: 1300, too-long: fragment", ipv6(1514, "\xfd\x02", 59), "PacketTooBig 1300"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := parse(t, routed(tt.more, tt.link))
			a, b := through(t, n, tt.frame)
			if len(b) != 0 {
				t.Errorf("%d frames went on, want none", len(b))
			}
			if tt.want == "" {
				if len(a) != 0 {
					t.Errorf("got %x, want no ICMP", a)
				}
				return
			}
			if len(a) != 1 {
				t.Fatalf("%d frames came back, want one: %s", len(a), drops(n))
			}
			p := gopacket.NewPacket(a[0], layers.LayerTypeEthernet, gopacket.Default)
			var got string
			var quote []byte
			if l, ok := p.Layer(layers.LayerTypeICMPv4).(*layers.ICMPv4); ok {
				got, quote = fmt.Sprintf("%v %d", l.TypeCode, l.Seq), l.Payload
				if checksum(a[0][34:]) != 0 {
					t.Error("bad ICMP checksum")
				}
			} else if l, ok := p.Layer(layers.LayerTypeICMPv6).(*layers.ICMPv6); ok {
				got, quote = fmt.Sprintf("%v %d", l.TypeCode, binary.BigEndian.Uint32(l.Payload)), l.Payload[4:]
				pseudo := slices.Concat(a[0][22:54], []byte{0, 0, a[0][18], a[0][19], 0, 0, 0, 58}, a[0][54:])
				if checksum(pseudo) != 0 {
					t.Error("bad ICMPv6 checksum")
				}
			}
			if got != tt.want || !strings.HasPrefix(string(tt.frame[14:]), string(quote)) || len(quote) < 28 {
				t.Errorf("got %q with a quote of %d bytes, want %q and the head of the packet", got, len(quote), tt.want)
			}
			if string(a[0][:12]) != "\x02\x00\x00\x00\x00\x77\x02\x00\x00\x00\x00\x01" {
				t.Errorf("from and to %x, want the sender's MAC and the router's", a[0][:12])
			}
		})
	}
}

// Fragments put together are the packet, and each fits.
func TestRouterFragments(t *testing.T) {
	n := parse(t, routed("", ", mtu: 1000, too-long: fragment, rate: 1G"))
	frame := ipv4(3014, "10.1.0.42", "10.2.0.9")
	for i := 34; i < len(frame); i++ {
		frame[i] = byte(i * 7)
	}
	_, got := through(t, n, frame)
	var whole []byte
	for i, f := range got {
		field := binary.BigEndian.Uint16(f[20:])
		if len(f) > 1014 || int(field&0x1fff)*8 != len(whole) || (field&0x2000 != 0) != (i < len(got)-1) || f[22] != 63 {
			t.Errorf("fragment %d of %d bytes with offset field %#x, after %d bytes", i, len(f), field, len(whole))
		}
		whole = append(whole, f[34:14+int(binary.BigEndian.Uint16(f[16:]))]...)
	}
	if len(got) != 4 || string(whole) != string(frame[34:]) { // 976 bytes each
		t.Errorf("%d fragments, %d bytes, want 4 and the packet's %d", len(got), len(whole), len(frame)-34)
	}
}
