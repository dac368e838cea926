package dut_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// tunnelled is a pair of gateways with a router between them; outer goes into the first public link.
func tunnelled(outer string) string {
	return fmt.Sprintf(`
ports:
  - {name: a, mac: 02:00:00:00:00:77}
  - {name: b, mac: 02:00:00:00:00:88}
links:
  - {name: left, between: [a, g1.in], mtu: 9000}
  - {name: public1, between: [g1.out, r.left], rate: 1G, %s}
  - {name: public2, between: [r.right, g2.out], mtu: 9000}
  - {name: right, between: [g2.in, b], mtu: 9000}
nodes:
  - name: g1
    kind: gateway
    interfaces:
      - {name: in, mac: 02:00:00:00:00:01, addresses: [10.1.0.1]}
      - {name: out, addresses: [192.0.2.1]}
    tunnels: [{name: t, interface: out, local: 192.0.2.1, remote: 198.51.100.1, udp: true}]
    routes: [{to: 10.1.0.0/16, interface: in}, {to: 10.2.0.0/16, tunnel: t}]
  - name: r
    kind: router
    interfaces: [{name: left}, {name: right}]
    routes: [{to: 192.0.2.0/24, interface: left}, {to: 198.51.100.0/24, interface: right}]
  - name: g2
    kind: gateway
    interfaces:
      - {name: in, addresses: [10.2.0.1]}
      - {name: out, addresses: [198.51.100.1]}
    tunnels: [{name: t, interface: out, local: 198.51.100.1, remote: 192.0.2.1, udp: true}]
    routes: [{to: 10.2.0.0/16, interface: in}, {to: 10.1.0.0/16, tunnel: t}]
`, outer)
}

func TestTunnel(t *testing.T) {
	df := edit(ipv4(1514, "10.1.0.42", "10.2.0.9"), 20, 0x40)
	for _, tt := range []struct {
		name, outer string
		frame       []byte
		at          int64 // arrival at b, sent at 1; 0: none
		drops       string
		mtu         uint16 // told by ICMP
	}{
		// 46 → 20+8+8+8+48+16 = 108 of IP, 122 of frame
		{"whole", "mtu: 9000", ipv4(60, "10.1.0.42", "10.2.0.9"), 1 + (122+24)*8, "", 0},
		// 1500 → 1564: fragments of 20+976 and 20+568 with an MTU of 1000
		{"fragments", "mtu: 1000, too-long: fragment", df, 1 + (1010+24+602+24)*8, "", 0},
		{"fragment lost", "mtu: 1000, too-long: fragment, queue: 0", df, 0, "public1/g1.out/fragment lost: 1", 0},
		// the longest inner packet: 1000-20-8-8-8-16 = 940, less the trailer's 2
		{"too big", "mtu: 1000, too-long: too-big", df, 0, "public1/g1.out/longer than the MTU: 1", 938},
		{"drop", "mtu: 1000", df, 0, "public1/g1.out/longer than the MTU: 1", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := parse(t, tunnelled(tt.outer))
			port := open(t, n, "a")
			a, b := &receiver{port: port, times: []int64{}}, &receiver{port: open(t, n, "b"), times: []int64{}}
			run(n, second, &sender{port: port, frames: [][]byte{tt.frame}, due: timed(1), count: 1, burst: 1}, a, b)
			want := []int64{}
			if tt.at > 0 {
				want = append(want, tt.at)
			}
			if !slices.Equal(b.times, want) || drops(n) != tt.drops {
				t.Errorf("arrivals %d, drops %q, want %d, %q", b.times, drops(n), want, tt.drops)
			}
			if len(b.frames) == 1 && (len(b.frames[0]) != len(tt.frame) || b.frames[0][22] != 62) {
				t.Errorf("comes out as %x, want the packet with TTL 62", b.frames[0])
			}
			if tt.mtu > 0 && (len(a.frames) != 1 || binary.BigEndian.Uint16(a.frames[0][40:]) != tt.mtu) {
				t.Errorf("ICMP %x, want one with MTU %d", a.frames, tt.mtu)
			}
		})
	}
}

// What is too long behind the tunnel is answered through the tunnel.
func TestTunnelTooBigBehind(t *testing.T) {
	n := parse(t, strings.Replace(tunnelled("mtu: 9000"), "[g2.in, b], mtu: 9000", "[g2.in, b], mtu: 1000, too-long: too-big", 1))
	port := open(t, n, "a")
	a := &receiver{port: port, times: []int64{}}
	run(n, second, &sender{port: port, frames: [][]byte{ipv4(1514, "10.1.0.42", "10.2.0.9")}, due: timed(1), count: 1, burst: 1}, a)
	if len(a.frames) != 1 || a.frames[0][34] != 3 || binary.BigEndian.Uint16(a.frames[0][40:]) != 1000 || a.frames[0][22] != 63 {
		t.Errorf("got %x, want one ICMP error with MTU 1000, drops %q", a.frames, drops(n))
	}
}
