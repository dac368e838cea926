package hello_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadtest/internal/hello"
	"loadtest/nic/dial"
	"loadtest/packet"
)

func run(t *testing.T, o hello.Options) hello.Result {
	t.Helper()
	r, err := hello.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// there is a stream of packets from a to b.
func there(t *testing.T, n int, vary func(int) pkt) hello.Stream {
	return hello.Stream{Name: "a→b", Source: "gen", Packets: store(t, n, vary), TX: "a", RX: "b"}
}

func TestSimulated(t *testing.T) {
	for _, tt := range []struct {
		name     string
		ports    [2]string
		src, dst string
		n        int
		want     string
		elapsed  time.Duration
	}{
		{"wire", [2]string{"sim:wire/a", "sim:wire/b"}, "198.18.0.1", "198.19.0.1", 300,
			"a→b 256 of 256 back, b→a 256 of 256 back; bridged: nothing changed", 255_021_068},
		{"router", [2]string{"sim:router-1mpps/node1", "sim:router-1mpps/node2"}, "172.16.0.1", "172.17.0.1", 10,
			"a→b 10 of 10 back, b→a 10 of 10 back; one hop (TTL 64→63), addresses unchanged", 9_021_135},
		{"gateways", [2]string{"sim:vita-1gbe/node1", "sim:vita-1gbe/node2"}, "172.16.0.1", "172.17.0.1", 10,
			"a→b 10 of 10 back, b→a 10 of 10 back; two hops (TTL 64→62), addresses unchanged", 9_022_448},
		{"router without a way there", [2]string{"sim:router-1mpps/node1", "sim:router-1mpps/node2"}, "172.16.0.1", "172.18.0.1", 10,
			"a→b 0 of 10 back, b→a 10 of 10 back; one hop (TTL 64→63), addresses unchanged", 10 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			devices, c, err := dial.Open(t.Context(), tt.ports[:]...)
			if err != nil {
				t.Fatal(err)
			}
			r := run(t, hello.Options{Clock: c, Ports: devices, Magic: magic, Wait: 10 * time.Second, Streams: []hello.Stream{
				{Name: "a→b", Packets: store(t, tt.n, ports(pkt{src: tt.src, dst: tt.dst})), TX: tt.ports[0], RX: tt.ports[1]},
				{Name: "b→a", Packets: store(t, tt.n, ports(pkt{src: tt.dst, dst: tt.src})), TX: tt.ports[1], RX: tt.ports[0]},
			}})
			if diff := cmp.Diff([]string{tt.want}, r.Lines()); diff != "" {
				t.Error(diff)
			}
			if complete := tt.elapsed < time.Second; r.Complete() != complete || r.Elapsed != tt.elapsed {
				t.Errorf("complete %v after %v, want %v after %v", r.Complete(), r.Elapsed, complete, tt.elapsed)
			}
		})
	}
}

// TestChange has devices that give all packets back, in some way.
func TestChange(t *testing.T) {
	data := pkt{fill: 1} // where a tag would go
	sources := func(p pkt) func(int) pkt {
		return func(i int) pkt {
			p.src = fmt.Sprintf("198.18.0.%d", i+1)
			return p
		}
	}
	snat := set(26, 192, 0, 2, 1)
	netmap := set(26, 192, 0, 2)
	pat := func(b []byte) []byte { return snat(set(34, b[34]+10)(b)) }
	seq := 0
	hop := func(b []byte) []byte {
		seq++
		return set(22, byte(64-seq%3))(b)
	}
	vlan10 := ports(pkt{vlan: 10})
	const one = "one hop (TTL 64→63), "
	for _, tt := range []struct {
		name string
		pkt  func(int) pkt
		do   func(string, []byte, int64) []out
		want string
	}{
		{"wire", ports(pkt{}), wire, "bridged: nothing changed"},
		{"wire, no room for a tag", ports(data), wire, "bridged: nothing changed"},
		{"router", ports(pkt{}), router, one + "addresses unchanged"},
		{"router, IPv6", ports(pkt{src: "2001:2::1", dst: "2001:2::2", size: 100}), router, one + "addresses unchanged"},
		{"router, no room for a tag", ports(data), router, one + "addresses unchanged"},
		{"source translated", ports(pkt{}), from(router, snat), one + "source 198.18.0.1 → 192.0.2.1"},
		{"source translated, no room for a tag", ports(data), from(router, snat), one + "source 198.18.0.1 → 192.0.2.1"},
		{"source translated, no room for a tag, TCP", ports(pkt{tcp: true}), from(router, snat), one + "source 198.18.0.1 → 192.0.2.1"},
		{"sources to one", sources(pkt{}), from(router, snat), one + "4 sources → 192.0.2.1"},
		{"a prefix translated", sources(pkt{}), from(router, netmap), one + "4 sources translated (198.18.0.1 → 192.0.2.1, 198.18.0.2 → 192.0.2.2, …)"},
		{"a prefix translated, no room for a tag", func(i int) pkt { p := sources(data)(i); p.id = uint16(i + 1); return p },
			from(router, netmap), one + "4 sources translated (198.18.0.1 → 192.0.2.1, 198.18.0.2 → 192.0.2.2, …)"},
		{"ports translated, too", ports(pkt{}), from(router, pat),
			one + "source 198.18.0.1 → 192.0.2.1, source ports translated (1000 → 3560, 1001 → 3561, …)"},
		{"a port forwarded", ports(pkt{}), from(router, set(36, 0, 80)), one + "destination port 9 → 80"},
		{"VLAN changed", vlan10, from(wire, set(14, 0, 20)), "bridged: VLAN 10→20"},
		{"VLAN changed by a router", vlan10, from(router, set(14, 0, 20)), one + "VLAN 10→20, addresses unchanged"},
		{"VLAN removed", vlan10, from(wire, func(b []byte) []byte { return slices.Delete(b, 12, 16) }), "bridged: VLAN 10 removed"},
		{"VLAN added", vlan10, from(wire, insert(12, 0x88, 0xa8, 0x20, 30)), "bridged: VLAN 10→30.10"},
		{"VLAN added to none", ports(pkt{}), from(wire, insert(12, 0x81, 0, 0, 30)), "bridged: VLAN 30 added"},
		{"MAC addresses alone", ports(pkt{}), from(router, set(22, 64)),
			"TTL unchanged, MAC addresses rewritten (from 02:00:00:00:02:01), addresses unchanged"},
		{"TTL set", ports(pkt{}), from(router, set(22, 255)), "TTL 64→255, addresses unchanged"},
		{"three hops", ports(pkt{}), from(router, set(22, 61)), "3 hops (TTL 64→61), addresses unchanged"},
		{"two hops", ports(pkt{}), from(router, set(22, 62)), "two hops (TTL 64→62), addresses unchanged"},
		{"ways of different length", ports(pkt{}), from(router, hop), "0 to 2 hops (TTL 64→63, 64→62), addresses unchanged"},
		{"into GRE", ports(pkt{}), from(router, within(47, gre, nil)), one + "inside GRE"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var flows []uint64 // as they come back
			o, _ := lab(func(in string, b []byte, now int64) []out {
				all := tt.do(in, b, now)
				flows = append(flows, packet.Flow(all[0].b))
				return all
			})
			o.Streams = []hello.Stream{there(t, 4, tt.pkt)}
			r := run(t, o)
			if got := r.Lines()[0]; got != "a→b 4 of 4 back; "+tt.want {
				t.Errorf("got  %s\nwant %s", got, "a→b 4 of 4 back; "+tt.want)
			}
			if strings.Contains(tt.want, "inside") {
				return
			}
			for i, flow := range flows {
				if got := r.Streams[0].Change.Expect(o.Streams[0].Packets.Frame(i).Data); got != flow {
					t.Errorf("packet %d is expected with flow %x, comes with %x", i, got, flow)
				}
			}
		})
	}
}
