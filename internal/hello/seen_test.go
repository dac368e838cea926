package hello_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadtest/internal/diagnose"
	"loadtest/internal/hello"
	"loadtest/internal/neigh"
	"loadtest/packet"
)

// plain compares what tests name.
var plain = cmp.Options{
	cmpopts.EquateEmpty(), cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{}), cmpopts.IgnoreFields(diagnose.Port{}, "Heard"),
}

// TestSeen has devices that give back nothing that a trial would take for received. Each of the rounds is seen for itself.
func TestSeen(t *testing.T) {
	drop := func(string, []byte, int64) []out { return nil }
	cut := func(b []byte) []byte { return b[:100] }
	shorter := func(b []byte) []byte { return length(b[:100]) }
	damage := func(b []byte) []byte { b[len(b)-1] ^= 1; return b }
	data, long := pkt{fill: 1}, pkt{size: 200}
	addr := netip.MustParseAddr
	told := func(d diagnose.Told) diagnose.Stream {
		d.From, d.Port, d.Packets = addr("203.0.113.9"), "a", 4
		return diagnose.Stream{Told: []diagnose.Told{d}}
	}
	strange := func(how diagnose.How, in string) diagnose.Stream {
		return diagnose.Stream{Odd: []diagnose.Odd{{How: how, In: in, Packets: 4}}}
	}
	for _, tt := range []struct {
		name string
		pkt  pkt
		do   func(string, []byte, int64) []out
		want diagnose.Stream
	}{
		{"drops all", pkt{}, drop, diagnose.Stream{}},
		{"back to the sender", pkt{}, func(in string, b []byte, _ int64) []out { return []out{{port: in, b: b}} },
			diagnose.Stream{Wrong: []diagnose.Wrong{{Port: "a", Packets: 4}}}},
		{"back to the sender, no room for a tag", data, func(in string, b []byte, _ int64) []out { return []out{{port: in, b: b}} },
			diagnose.Stream{Wrong: []diagnose.Wrong{{Port: "a", Packets: 4}}}},
		{"cut", long, from(router, cut), strange(diagnose.Cut, "200 → 100 B")},
		{"shortened", long, from(router, shorter), strange(diagnose.Cut, "200 → 100 B")},
		{"last fragment", long, from(router, func(b []byte) []byte {
			b = slices.Delete(b, 34, 34+80)
			return set(20, 0, 10)(set(16, 0, byte(len(b)-14))(b))
		}), strange(diagnose.Fragment, "200 → 120 B")},
		{"damaged", pkt{}, from(router, damage), strange(diagnose.Changed, "payload")},
		{"padded inside of IP", pkt{}, from(router, func(b []byte) []byte { return length(append(b, 1, 2, 3, 4)) }),
			strange(diagnose.Changed, "60 → 64 B")},
		{"lengthened, and damaged", pkt{}, from(router, func(b []byte) []byte { return length(append(damage(b), 1, 2)) }),
			strange(diagnose.Changed, "60 → 62 B")},
		{"VLAN tag of another TPID", pkt{vlan: 10}, from(wire, set(12, 0x91, 0, 0, 20)),
			strange(diagnose.OtherVLAN, "VLAN 10 → 20 with TPID 0x9100")},
		{"VLAN tag of another TPID, no room for a tag", data, from(wire, insert(12, 0x92, 0, 0, 20)),
			strange(diagnose.OtherVLAN, "VLAN none → 20 with TPID 0x9200")},
		{"GRE, no room for a tag", data, from(router, within(47, gre, nil)), strange(diagnose.Encapsulated, "GRE")},
		{"GRE in IP in IP, no room for a tag", data, from(router, both(within(47, gre, nil), within(4, nil, nil))),
			strange(diagnose.Encapsulated, "IP in IP/GRE")},
		{"GRE with a trailer", pkt{}, from(router, within(47, gre, []byte{9})), strange(diagnose.Encapsulated, "GRE")},
		{"ESP that encrypts nothing", pkt{}, from(router, within(50, make([]byte, 8), make([]byte, 14))), strange(diagnose.Encapsulated, "ESP")},
		{"a tunnel nobody knows", pkt{}, from(router, within(99, []byte{1}, []byte{9})), strange(diagnose.Encapsulated, "IP protocol 99")},
		{"a tunnel over UDP", pkt{}, from(router, within(17, make([]byte, 12), []byte{9})), strange(diagnose.Encapsulated, "UDP")},
		{"an EtherType nobody knows", pkt{}, from(router, set(12, 0x88, 0xb5)), strange(diagnose.Encapsulated, "EtherType 0x88b5")},
		{"host unreachable", pkt{}, icmp(3, 1, 0, 28), told(diagnose.Told{Type: 3, Code: 1})},
		{"port unreachable, says the destination", pkt{dst: "203.0.113.9"}, icmp(3, 3, 0, 28), told(diagnose.Told{Type: 3, Code: 3, Itself: true})},
		{"too long", pkt{}, icmp(3, 4, 1400, 28), told(diagnose.Told{Type: 3, Code: 4, MTU: 1400})},
		{"time exceeded, all quoted", pkt{}, icmp(11, 0, 0, 100), told(diagnose.Told{Type: 11})},
		{"port unreachable, TCP, 8 bytes quoted", pkt{tcp: true}, icmp(3, 3, 0, 28), told(diagnose.Told{Type: 3, Code: 3})},
		{"too big, IPv6", pkt{src: "2001:2::1", dst: "2001:2::2", size: 100}, icmp6(2, 1400), diagnose.Stream{
			Told: []diagnose.Told{{Type: 2, V6: true, From: addr("2001:2::9"), Port: "a", MTU: 1400, Packets: 4}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, d := lab(tt.do)
			o.Streams = []hello.Stream{there(t, 4, ports(tt.pkt))}
			r := run(t, o)
			if r.Complete() || r.Elapsed != o.Wait || d.got["a"] != 40 {
				t.Errorf("complete %v after %v, %d sent; want none back after %v, 10 rounds of 4", r.Complete(), r.Elapsed, d.got["a"], o.Wait)
			}
			tt.want.Name, tt.want.Source, tt.want.TX, tt.want.RX, tt.want.Due, tt.want.Sent = "a→b", "gen", "a", "b", 4, 4
			tt.want.To, tt.want.Size = [6]byte{2, 0, 0, 0, 0, 1}, o.Streams[0].Packets.Size(0)
			tt.want.FromIP, tt.want.ToIP = ends(o.Streams[0])
			if diff := cmp.Diff([]diagnose.Stream{tt.want}, r.Seen.Streams, plain, cmpopts.IgnoreFields(diagnose.Odd{}, "Example")); diff != "" {
				t.Error(diff)
			}
			for _, o := range r.Seen.Streams[0].Odd {
				if o.Example == "" {
					t.Errorf("%s: no example", o.In)
				}
			}
		})
	}
}

// ends are the addresses of a stream's first packet.
func ends(s hello.Stream) (src, dst netip.Addr) {
	src, dst, _ = packet.Addresses(s.Packets.Frame(0).Data)
	return src, dst
}

// TestSeenInOrder: what most packets say stands first.
func TestSeenInOrder(t *testing.T) {
	n := 0
	o, _ := lab(func(in string, b []byte, now int64) []out {
		if n++; in != "a" {
			return nil
		}
		b = router(in, b, now)[0].b
		switch n % 8 {
		case 1:
			return []out{{port: "b", b: set(len(b)-1, 7)(b)}}
		case 2, 3:
			return []out{{port: "b", b: within(99, []byte{1}, []byte{9})(b)}}
		case 4:
			return []out{{port: "b", b: b[:50]}}
		case 5:
			return icmp(11, 0, 0, 28)(in, b, now)
		case 6:
			return icmp(3, 1, 0, 28)(in, b, now)
		case 7:
			return icmp(3, 1, 0, 28)(in, b, now)
		}
		return []out{{port: "b", b: within(98, []byte{1}, []byte{9})(b)}}
	})
	o.Streams = []hello.Stream{there(t, 8, ports(pkt{}))}
	o.Wait = 500 * time.Millisecond
	s := run(t, o).Seen.Streams[0]
	want := diagnose.Stream{
		Odd: []diagnose.Odd{{How: diagnose.Cut, In: "60 → 50 B", Packets: 1}, {How: diagnose.Changed, In: "payload", Packets: 1},
			{How: diagnose.Encapsulated, In: "IP protocol 99", Packets: 2}, {How: diagnose.Encapsulated, In: "IP protocol 98", Packets: 1}},
		Told: []diagnose.Told{{Type: 3, Code: 1, From: netip.MustParseAddr("203.0.113.9"), Port: "a", Packets: 2},
			{Type: 11, From: netip.MustParseAddr("203.0.113.9"), Port: "a", Packets: 1}},
	}
	if diff := cmp.Diff(want, diagnose.Stream{Odd: s.Odd, Told: s.Told}, plain, cmpopts.IgnoreFields(diagnose.Odd{}, "Example")); diff != "" {
		t.Error(diff)
	}
}

// What once came wrong is told, though the last round brought none of it.
func TestSeenBefore(t *testing.T) {
	o, _ := lab(func(in string, b []byte, now int64) []out {
		if now > 5e8 && now < 15e8 {
			return []out{{port: in, b: b}}
		}
		return nil
	})
	o.Streams = []hello.Stream{there(t, 4, ports(pkt{}))}
	if diff := cmp.Diff([]diagnose.Wrong{{Port: "a", Packets: 4}}, run(t, o).Seen.Streams[0].Wrong); diff != "" {
		t.Error(diff)
	}
}

// TestAlike: packets without a tag that could be one as well as another after translation are not taken for either.
func TestAlike(t *testing.T) {
	scattered := func(b []byte) []byte { return set(34, 9, b[35], 9, 9)(set(26, 192, 0, 2, 1)(b)) } // other ports at both ends
	ids := func(i int) pkt {
		p := ports(pkt{fill: 1})(i)
		p.id = uint16(100 + i)
		return p
	}
	for _, tt := range []struct {
		name  string
		pkt   func(int) pkt
		do    func([]byte) []byte
		after time.Duration
		back  int
	}{
		{"told apart by identification", ids, scattered, 10 * time.Millisecond, 4},
		{"told apart by content", func(i int) pkt { p := ports(pkt{})(i); p.fill = byte(i + 1); return p }, scattered, 10 * time.Millisecond, 4},
		{"told apart by ports", ports(pkt{fill: 1}), set(26, 192, 0, 2, 1), 10 * time.Millisecond, 4},
		{"told apart by time", ports(pkt{fill: 1}), scattered, 0, 4},
		{"not told apart", ports(pkt{fill: 1}), scattered, 10 * time.Millisecond, 0},
		{"both addresses new", ids, both(set(26, 192, 0, 2, 1), set(30, 192, 0, 2, 2)), 0, 0},
		{"long under way", ids, scattered, 1001 * time.Millisecond, 0},
		{"several of a flow", func(int) pkt { return pkt{fill: 1} }, set(26, 192, 0, 2, 1), 0, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := lab(func(in string, b []byte, now int64) []out {
				all := from(router, tt.do)(in, b, now)
				all[0].at = now + int64(tt.after)
				return all
			})
			o.Streams = []hello.Stream{there(t, 4, tt.pkt)}
			o.Streams[0].Captured = true
			if b := run(t, o).Streams[0]; b.Back != tt.back {
				t.Errorf("%d of %d back, want %d", b.Back, b.Sent, tt.back)
			}
		})
	}
}

// MAC addresses on the device's side.
var gateway, station = [6]byte{2, 0, 0, 0, 2, 1}, [6]byte{2, 0, 0, 0, 9, 9}

// arp is a frame of ARP from a station: op 1 asks, 2 answers.
func arp(op byte, from, to [6]byte, sender, target string) []byte {
	s, d := netip.MustParseAddr(sender).As4(), netip.MustParseAddr(target).As4()
	if op == 1 {
		to = [6]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	}
	b := slices.Concat(to[:], from[:], []byte{8, 6, 0, 1, 8, 0, 6, 4, 0, op}, from[:], s[:], make([]byte, 6), d[:])
	return append(b, make([]byte, 60-len(b))...)
}

// TestNeighbors has a device that looks for its next hop before it forwards anything.
func TestNeighbors(t *testing.T) {
	addr := netip.MustParseAddr
	asking := func(target string, more ...[]byte) func(string, []byte, int64) []out {
		found := false
		return func(in string, b []byte, now int64) (all []out) {
			switch h, _ := packet.Parse(b); {
			case in == "b" && h.Type == packet.TypeARP: // the answer
				found = true
				return nil
			case found:
				return router(in, b, now)
			}
			all = []out{{port: "b", b: arp(1, gateway, [6]byte{}, "198.19.0.1", target)}}
			for _, b := range more {
				all = append(all, out{port: "b", b: b})
			}
			return all
		}
	}
	question := diagnose.Question{Target: addr("198.19.0.2"), Asker: addr("198.19.0.1"), From: gateway, Packets: 40}
	answered, once, end := question, question, question
	end.Target, end.End = addr("198.19.0.3"), true
	answered.Answered = true
	once.Answered, once.Packets = true, 1
	device := diagnose.Neighbor{MAC: gateway, IP: addr("198.19.0.1")}
	lldp := slices.Concat([]byte{1, 0x80, 0xc2, 0, 0, 14}, station[:], []byte{0x88, 0xcc}, make([]byte, 46))
	for _, tt := range []struct {
		name     string
		do       func(string, []byte, int64) []out
		host     bool
		complete bool
		want     diagnose.Port
		heard    string
	}{
		{"nobody answers", asking("198.19.0.2"), false, false,
			diagnose.Port{Questions: []diagnose.Question{question}, Neighbors: []diagnose.Neighbor{device}},
			"40 ARP who-has 198.19.0.2 from 02:00:00:00:02:01"},
		{"somebody else answers", asking("198.19.0.2", arp(2, station, gateway, "198.19.0.2", "198.19.0.1")), false, false,
			diagnose.Port{Questions: []diagnose.Question{answered}, Neighbors: []diagnose.Neighbor{device, {MAC: station, IP: addr("198.19.0.2")}}},
			"40 ARP who-has 198.19.0.2 from 02:00:00:00:02:01, 40 ARP (198.19.0.2 is-at 02:00:00:00:09:09)"},
		{"the tester answers", asking("198.19.0.2"), true, true,
			diagnose.Port{Questions: []diagnose.Question{once}, Neighbors: []diagnose.Neighbor{device}, // its answer was of the round before
				Addrs: []netip.Prefix{netip.MustParsePrefix("198.19.0.2/16")}, Gateways: []netip.Addr{addr("198.19.0.1")}},
			"1 ARP who-has 198.19.0.2 from 02:00:00:00:02:01"},
		{"asks for where packets go", asking("198.19.0.3"), false, false, diagnose.Port{Questions: []diagnose.Question{end}, Neighbors: []diagnose.Neighbor{device}},
			"40 ARP who-has 198.19.0.3 from 02:00:00:00:02:01"},
		{"a switch", asking("198.19.0.2", lldp), false, false,
			diagnose.Port{Questions: []diagnose.Question{question}, Neighbors: []diagnose.Neighbor{device, {MAC: station, Role: "LLDP"}}},
			"40 ARP who-has 198.19.0.2 from 02:00:00:00:02:01, 40 LLDP (from 02:00:00:00:09:09)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := lab(tt.do)
			o.Streams = []hello.Stream{there(t, 4, ports(pkt{dst: "198.19.0.3"}))}
			if tt.host {
				prefix := netip.MustParsePrefix("198.19.0.2/16")
				h := neigh.NewHost(neigh.Options{MAC: o.Ports["b"].Info.MAC, Addresses: []neigh.Address{{Prefix: prefix, Gateway: addr("198.19.0.1")}}})
				o.Hosts, o.Addrs = map[string]*neigh.Host{"b": h}, map[string][]netip.Prefix{"b": {prefix}}
			}
			r := run(t, o)
			p := r.Seen.Ports[1]
			tt.want.Name, tt.want.MAC, tt.want.Driver = "b", o.Ports["b"].Info.MAC, -1
			if diff := cmp.Diff(tt.want, p, plain); diff != "" {
				t.Error(diff)
			}
			if got := p.Heard.String(); got != tt.heard {
				t.Errorf("heard %s, want %s", got, tt.heard)
			}
			if r.Complete() != tt.complete {
				t.Errorf("complete %v: %s", r.Complete(), r.Lines())
			}
		})
	}
}

// A gateway that was found before is on the wire, though it says nothing now.
func TestGatewayIsNeighbor(t *testing.T) {
	o, _ := lab(func(string, []byte, int64) []out { return nil })
	o.Streams = []hello.Stream{there(t, 4, ports(pkt{}))}
	mac := o.Ports["b"].Info.MAC
	ours, gw := netip.MustParsePrefix("198.19.0.2/16"), netip.MustParseAddr("198.19.0.1")
	h := neigh.NewHost(neigh.Options{MAC: mac, Addresses: []neigh.Address{{Prefix: ours, Gateway: gw}}})
	h.Resolve()
	h.Step(0)
	h.Hear(arp(2, gateway, mac, "198.19.0.1", "198.19.0.2"), 1)
	o.Hosts = map[string]*neigh.Host{"b": h}
	p := run(t, o).Seen.Ports[1]
	if want := []diagnose.Neighbor{{MAC: gateway, IP: gw}}; !slices.Equal(p.Neighbors, want) || p.Heard.String() != "nothing" {
		t.Errorf("neighbours %+v, heard %s; want %+v, nothing", p.Neighbors, p.Heard.String(), want)
	}
}
