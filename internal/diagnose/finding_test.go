package diagnose

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadtest/internal/neigh"
)

// quiet is a stream of prod.pcap whose packets left and of which nothing more was seen; change makes the case.
func quiet(t testing.TB, change func(st *Stream, tx, rx *Port)) Seen {
	t.Helper()
	s := Seen{
		Streams: []Stream{{Name: "s1", Source: "prod.pcap", TX: "eth2", RX: "eth3", Captured: true, Due: 100, Sent: 100, To: station(t, routerMAC),
			FromIP: netip.MustParseAddr("10.1.1.7"), ToIP: netip.MustParseAddr("10.2.0.9"), Size: 1514}},
		Ports: []Port{{Name: "eth2", Offered: 100, Driver: 100}, {Name: "eth3", Driver: -1}},
	}
	change(&s.Streams[0], &s.Ports[0], &s.Ports[1])
	return s
}

func TestOf(t *testing.T) {
	ip := netip.MustParseAddr
	from := ip("10.1.1.1")
	type ports = *Port
	told := func(v Told) func(*Stream, ports, ports) {
		return func(st *Stream, _, _ ports) {
			v.From, v.Port, v.Packets = from, "eth2", 7
			st.Told = []Told{v}
		}
	}
	asks := func(target, asker string, more ...Question) func(*Stream, ports, ports) {
		return func(_ *Stream, _, rx ports) {
			rx.Questions = append([]Question{{Target: ip(target), Asker: ip(asker), Packets: 5, ND: ip(target).Is6()}}, more...)
		}
	}
	refused := func(text, mend string) []Finding { return []Finding{{Refused, "s1", "eth2", text, mend}} }
	const (
		deaf      = "eth2 and eth3 hear nothing at all: they lead elsewhere, or the device is off, or drops without a word"
		elsewhere = "loadtest ports shows the others; cables, power; the device's routes and filters"
	)
	next := func(text, mend string) []Finding { return []Finding{{NextHop, "", "eth3", text, mend}} }
	for _, tt := range []struct {
		name   string
		change func(st *Stream, tx, rx ports)
		want   []Finding
	}{
		{"link down", func(_ *Stream, _, rx ports) { rx.Down = true },
			[]Finding{{LinkDown, "", "eth3", "eth3's link is down", "ip link set eth3 up; if it is up, look at the cable and at what it leads to"}}},
		{"link down in a namespace", func(st *Stream, _, rx ports) {
			st.RX, rx.Name, rx.Down = "afpacket:eth3@lab", "afpacket:eth3@lab", true
		},
			[]Finding{{LinkDown, "", "afpacket:eth3@lab", "afpacket:eth3@lab's link is down", "ip -n lab link set eth3 up; if it is up, look at the cable and at what it leads to"}}},
		{"link down of a PCI device", func(st *Stream, _, rx ports) { st.RX, rx.Name, rx.Down = "22:00.0", "22:00.0", true },
			[]Finding{{LinkDown, "", "22:00.0", "22:00.0's link is down", "look at the cable and at what it leads to"}}},
		{"stuck in the driver", func(_ *Stream, tx, _ ports) { tx.Driver = 0 },
			[]Finding{{NotLeaving, "", "eth2", "frames do not leave eth2: driver sent 0 of 100", "ip -s -s link show eth2 and ethtool -S say why"}}},
		{"not taken", func(st *Stream, tx, _ ports) { st.Sent, tx.Offered, tx.Driver = 0, 1, 1 },
			[]Finding{{NotLeaving, "", "eth2", "frames do not leave eth2: it took 0 of 100", "ip -s -s link show eth2 and ethtool -S say why"}}},
		{"not taken, as the link is down", func(st *Stream, tx, _ ports) { st.Sent, tx.Offered, tx.Driver, tx.Down = 0, 0, 0, true },
			[]Finding{{LinkDown, "", "eth2", "eth2's link is down", "ip link set eth2 up; if it is up, look at the cable and at what it leads to"}}},
		{"errors of what others sent", func(st *Stream, tx, rx ports) { st.Due, st.Sent, tx.Offered, tx.Driver, tx.TxErrors = 0, 0, 0, 0, 3 },
			[]Finding{{Silence, "", "eth3", deaf, elsewhere}}},
		{"errors of a driver that does not count", func(st *Stream, tx, _ ports) { st.TX, tx.Name, tx.Driver, tx.TxErrors = "22:00.0", "22:00.0", -1, 100 },
			[]Finding{{NotLeaving, "", "22:00.0", "frames do not leave 22:00.0: sent 100, 100 errors", "the counters of its driver say why"}}},
		{"a few stuck are no reason", func(_ *Stream, tx, _ ports) { tx.Driver, tx.TxErrors = 98, 2 },
			[]Finding{{Silence, "", "eth3", deaf, elsewhere}}},
		{"wrong port", func(st *Stream, _, _ ports) { st.Wrong = []Wrong{{"eth4", 99}} },
			[]Finding{{WrongPort, "s1", "eth4", "99 of 100 came back at eth4", "expect them there: prod.pcap eth2 eth4"}}},
		{"back at the port of sending", func(st *Stream, _, _ ports) { st.Wrong = []Wrong{{"eth2", 99}} },
			[]Finding{{WrongPort, "s1", "eth2", "99 of 100 came back at eth2, out of which they were sent",
				"ports swapped? prod.pcap eth3 eth2; to expect them there: prod.pcap eth2 eth2"}}},
		{"cut, changed, tagged, inside", func(st *Stream, _, _ ports) {
			st.Odd = []Odd{{How: Encapsulated, In: "GRE", Packets: 4}, {How: OtherVLAN, In: "VLAN none → 20 with TPID 0x9100", Packets: 3},
				{How: Changed, In: "payload", Packets: 2}, {How: Cut, In: "1514 → 1000 B", Packets: 1}, {How: Fragment, In: "1514 → 600 B", Packets: 5}}
		}, []Finding{
			{Unrecognised, "s1", "eth3", "1 of 100 came back cut (1514 → 1000 B)", "have what cuts them, a mirror port or a capture, pass all of a packet; or smaller packets"},
			{Unrecognised, "s1", "eth3", "5 of 100 came back in fragments (1514 → 600 B)", "an MTU of 1500 on the device; or smaller packets"},
			{Unrecognised, "s1", "eth3", "2 of 100 came back changed (payload)", "--tag never knows them by addresses and ports alone"},
			{Unrecognised, "s1", "eth3", "3 of 100 came back with other VLAN tags (VLAN none → 20 with TPID 0x9100)",
				"have them untagged at eth3, or tagged with TPID 0x8100: the switch's port, or --vlan"},
			{Unrecognised, "s1", "eth3", "4 of 100 came back inside GRE", "put what takes GRE off between the device and eth3"},
		}},
		{"encrypted", func(_ *Stream, _, rx ports) { rx.Heard = heard(100, esp(t)) },
			[]Finding{{Unrecognised, "", "eth3", "eth3 hears 100 ESP: the device encrypts, nobody decrypts", "put the gateway that decrypts between the device and eth3"}}},
		{"ESP at the other port is none of ours", func(_ *Stream, tx, rx ports) { tx.Heard, rx.Heard = heard(100, esp(t)), heard(1, lldp(t)) },
			[]Finding{{Silence, "", "eth3", "the device drops the packets, or never gets them", "its counters, routes and filters say which"}}},

		{"net unreachable", told(Told{Type: 3}), refused("7 ICMP from 10.1.1.1: 10.2.0.9 unreachable (net)",
			"give the device a route to 10.2.0.0/24 via an address at eth3 (--addr eth3=IP/LEN)")},
		{"no route, IPv6", func(st *Stream, _, rx ports) {
			st.ToIP, rx.Addrs = ip("fd20::9"), []netip.Prefix{netip.MustParsePrefix("fd30::2/64")}
			st.Told = []Told{{Type: 1, V6: true, From: ip("fd10::1"), Port: "eth2", Packets: 1}}
		}, refused("1 ICMP from fd10::1: fd20::9 unreachable (no route)", "give the device a route to fd20::/64 via fd30::2 at eth3")},
		{"host unreachable", told(Told{Type: 3, Code: 1}), refused("7 ICMP from 10.1.1.1: 10.2.0.9 unreachable (host)",
			"its route leads elsewhere: give the device one to 10.2.0.0/24 via an address at eth3 (--addr eth3=IP/LEN)")},
		{"host unreachable, as nobody answers", func(st *Stream, tx, rx ports) {
			told(Told{Type: 3, Code: 1})(st, tx, rx)
			asks("10.2.0.9", "10.2.0.1")(st, tx, rx)
		}, next("the device looks for its next hop", "--addr eth3=10.2.0.9/24,gw=10.2.0.1")},
		{"rejected by a filter", told(Told{Type: 3, Code: 3}), refused("7 ICMP from 10.1.1.1: 10.2.0.9 unreachable (port)",
			"a filter drops them: have the device let them pass")},
		{"rejected by a filter, IPv6", told(Told{V6: true, Type: 1, Code: 4}), refused("7 ICMP from 10.1.1.1: 10.2.0.9 unreachable (port)",
			"a filter drops them: have the device let them pass")},
		{"port unreachable", told(Told{Type: 3, Code: 3, Itself: true}), refused("7 ICMP from 10.1.1.1: 10.2.0.9 unreachable (port)",
			"that address is the device's own: send to one behind it")},
		{"prohibited", told(Told{Type: 3, Code: 13}), refused("7 ICMP from 10.1.1.1: 10.2.0.9 unreachable (prohibited)",
			"a filter drops them: have the device let them pass")},
		{"fragmentation needed", told(Told{Type: 3, Code: 4, MTU: 1400}), refused("7 ICMP from 10.1.1.1: fragmentation needed, MTU 1400",
			"frames of 1418 B (1414+FCS) at most, or an MTU of 1500 on the device")},
		{"fragmentation needed, without a size", told(Told{Type: 3, Code: 4}), refused("7 ICMP from 10.1.1.1: fragmentation needed",
			"smaller frames, or an MTU of 1500 on the device")},
		{"packet too big", told(Told{V6: true, Type: 2, MTU: 1400}), refused("7 ICMP from 10.1.1.1: packet too big, MTU 1400",
			"frames of 1418 B (1414+FCS) at most, or an MTU of 1500 on the device")},
		{"time exceeded", told(Told{Type: 11}), refused("7 ICMP from 10.1.1.1: time exceeded",
			"routes lead in a circle, or the TTL in prod.pcap is too small")},
		{"time exceeded of what we made", func(st *Stream, tx, rx ports) {
			told(Told{V6: true, Type: 3})(st, tx, rx)
			st.Captured = false
		}, refused("7 ICMP from 10.1.1.1: time exceeded",
			"routes lead in a circle: the device's must lead to an address at eth3 (--addr eth3=IP/LEN)")},
		{"redirect", told(Told{Type: 5, Code: 1, Gateway: ip("10.1.1.99")}), refused("7 ICMP from 10.1.1.1: redirect to 10.1.1.99",
			"--addr eth2=10.1.1.7/24,gw=10.1.1.99 --mac-dst eth2=gw")},
		{"redirect of what we made, elsewhere", func(st *Stream, tx, rx ports) {
			told(Told{Type: 5, Code: 1, Gateway: ip("10.1.9.99")})(st, tx, rx)
			st.Captured = false
		}, refused("7 ICMP from 10.1.1.1: redirect to 10.1.9.99", "--addr eth2=IP/24,gw=10.1.9.99")},
		{"redirect of a port with an address", func(st *Stream, tx, rx ports) {
			told(Told{Type: 5, Code: 1, Gateway: ip("10.1.1.99")})(st, tx, rx)
			tx.Addrs = []netip.Prefix{netip.MustParsePrefix("10.1.1.2/22")}
		}, refused("7 ICMP from 10.1.1.1: redirect to 10.1.1.99", "--addr eth2=10.1.1.2/22,gw=10.1.1.99 --mac-dst eth2=gw")},
		{"redirect to a link-local address", func(st *Stream, _, _ ports) {
			st.Captured, st.FromIP, st.ToIP = false, ip("fd10::7"), ip("fd20::9")
			st.Told = []Told{{Type: 137, V6: true, From: ip("fe80::1"), Port: "eth2", Gateway: ip("fe80::99"), Packets: 1}}
		}, refused("1 ICMP from fe80::1: redirect to fe80::99", "--addr eth2=fd10::7/64,gw=fe80::99")},
		{"parameter problem", told(Told{Type: 12}), refused("7 ICMP from 10.1.1.1: parameter problem", "the device's log may say more")},
		{"net unreachable, where to is not known", func(st *Stream, tx, rx ports) {
			told(Told{Type: 3})(st, tx, rx)
			st.ToIP = netip.Addr{}
		}, refused("7 ICMP from 10.1.1.1: unreachable (net)", "the device's log may say more")},

		{"next hop", asks("198.19.0.2", "198.19.0.1"), next("the device looks for its next hop", "--addr eth3=198.19.0.2/16,gw=198.19.0.1")},
		{"next hop in a usual network", asks("10.9.0.5", "10.9.0.1"), next("the device looks for its next hop", "--addr eth3=10.9.0.5/24,gw=10.9.0.1")},
		{"next hop in a larger network", asks("10.9.0.5", "10.9.3.1"), next("the device looks for its next hop", "--addr eth3=10.9.0.5/22,gw=10.9.3.1")},
		{"asked from anywhere", asks("10.9.0.5", "192.168.0.1"), next("the device looks for its next hop", "--addr eth3=10.9.0.5/24")},
		{"next hop of IPv6", asks("fd10::2", "fd10::1"), next("the device looks for its next hop", "--addr eth3=fd10::2/64,gw=fd10::1")},
		{"asked from a link-local address", asks("fd10::2", "fe80::1"), next("the device looks for its next hop", "--addr eth3=fd10::2/64,gw=fe80::1")},
		{"the more frequent of two", asks("10.9.0.5", "10.9.0.1", Question{Target: ip("10.9.0.6"), Asker: ip("10.9.0.1"), Packets: 9}),
			next("the device looks for its next hop and 1 more", "--addr eth3=10.9.0.6/24,gw=10.9.0.1 and so on, or have it route to them via this one")},
		{"of the stream's family first", asks("10.9.0.5", "10.9.0.1", Question{Target: ip("fd10::2"), Asker: ip("fd10::1"), Packets: 9, ND: true}),
			next("the device looks for its next hop", "--addr eth3=10.9.0.5/24,gw=10.9.0.1")},
		{"asked for by two", asks("10.9.0.5", "10.9.0.1", Question{Target: ip("10.9.0.5"), Asker: ip("10.9.0.7"), Packets: 1}),
			next("the device looks for its next hop", "--addr eth3=10.9.0.5/24,gw=10.9.0.1")},
		{"ends of the stream need no address each", asks("10.9.0.5", "10.9.0.1", Question{Target: ip("10.9.0.6"), Asker: ip("10.9.0.1"), End: true},
			Question{Target: ip("10.8.0.6"), Asker: ip("10.9.0.1"), End: true}),
			next("the device looks for its next hop and 1 more", "--addr eth3=10.9.0.5/24,gw=10.9.0.1 and so on, or have it route to them via this one")},
		{"something to say to the sender", func(st *Stream, tx, _ ports) {
			tx.Questions = []Question{{Target: ip("10.1.1.2"), Asker: from, From: st.To}, {Target: ip("fd10::2"), Asker: ip("fd10::1"), From: st.To, ND: true}}
			tx.Neighbors = []Neighbor{{MAC: st.To, IP: from}}
		}, []Finding{{NextHop, "", "eth2", "the device looks for 10.1.1.2, to say something to the sender", "--addr eth2=10.1.1.2/24,gw=10.1.1.1"}}},
		{"another station asks at the sender", func(st *Stream, tx, _ ports) {
			tx.Questions = []Question{{Target: ip("10.1.1.2"), Asker: from, From: station(t, switchMAC)}}
			tx.Neighbors = []Neighbor{{MAC: station(t, switchMAC), IP: from}}
		}, []Finding{{WrongMAC, "s1", "eth2", "prod.pcap is sent to 00:1b:21:aa:00:02, but eth2 hears 00:1b:21:bb:00:03 (10.1.1.1)", "--mac-dst eth2=00:1b:21:bb:00:03"}}},
		{"another network than the tester's", func(st *Stream, tx, rx ports) {
			asks("10.9.0.5", "10.9.0.1")(st, tx, rx)
			rx.Addrs = []netip.Prefix{netip.MustParsePrefix("fd30::2/64"), netip.MustParsePrefix("198.19.0.2/16")}
		}, next("the device looks for its next hop 10.9.0.5, eth3 answers only for 198.19.0.2, and 198.19.0.0/16 is another network", "--addr eth3=10.9.0.5/24,gw=10.9.0.1")},
		{"another address than the tester's", func(st *Stream, tx, rx ports) {
			asks("198.19.7.5", "198.19.0.1")(st, tx, rx)
			rx.Addrs = []netip.Prefix{netip.MustParsePrefix("198.19.0.2/15")}
		}, next("the device looks for its next hop 198.19.7.5, eth3 answers only for 198.19.0.2", "--addr eth3=198.19.7.5/15,gw=198.19.0.1")},
		{"questions that need no answer", func(_ *Stream, _, rx ports) {
			rx.Questions = []Question{{Target: ip("10.9.0.5"), Packets: 3}, {Target: ip("10.9.0.6"), Asker: ip("10.9.0.1"), Packets: 3, Answered: true}}
			rx.Heard = heard(3, whoHas(t, "10.9.0.6", "10.9.0.1"))
		}, []Finding{{Silence, "", "eth3", "the device drops the packets, or never gets them", "its counters, routes and filters say which"}}},

		{"another station", func(st *Stream, tx, _ ports) {
			st.To = [6]byte{2, 0, 0, 0, 0, 9}
			tx.Neighbors = []Neighbor{{MAC: station(t, switchMAC), Role: "LLDP"}, {MAC: station(t, routerMAC), IP: from}}
		}, []Finding{{WrongMAC, "s1", "eth2", "prod.pcap is sent to 02:00:00:00:00:09, but eth2 hears 00:1b:21:aa:00:02 (10.1.1.1)", "--mac-dst eth2=00:1b:21:aa:00:02"}}},
		{"another station than what we made goes to", func(st *Stream, tx, rx ports) {
			st.Captured, st.Source, rx.MAC, st.To = false, "gen:64", [6]byte{2, 0, 0, 0, 0, 9}, [6]byte{2, 0, 0, 0, 0, 9}
			tx.Neighbors = []Neighbor{{MAC: station(t, routerMAC), IP: from}}
		}, []Finding{{WrongMAC, "s1", "eth2", "gen:64 is sent to 02:00:00:00:00:09, but eth2 hears 00:1b:21:aa:00:02 (10.1.1.1)",
			"--mac-dst eth2=00:1b:21:aa:00:02, or --addr eth2=10.1.1.7/24,gw=10.1.1.1"}}},
		{"another station than the gateway", func(st *Stream, tx, _ ports) {
			st.To = [6]byte{2, 0, 0, 0, 0, 9}
			tx.Neighbors, tx.Gateways = []Neighbor{{MAC: station(t, routerMAC), IP: from}}, []netip.Addr{from}
		}, []Finding{{WrongMAC, "s1", "eth2", "prod.pcap is sent to 02:00:00:00:00:09, but eth2 hears 00:1b:21:aa:00:02 (10.1.1.1)", "--mac-dst eth2=gw"}}},
		{"the gateway of what we made", func(st *Stream, tx, rx ports) {
			st.To, st.Captured = [6]byte{2, 0, 0, 0, 0, 9}, false
			tx.Neighbors, tx.Gateways = []Neighbor{{MAC: station(t, routerMAC)}}, []netip.Addr{from}
			rx.Heard = heard(1, lldp(t))
		}, []Finding{{Silence, "", "eth3", "the device drops the packets, or never gets them", "its counters, routes and filters say which"}}},
		{"a switch is no station", func(st *Stream, tx, rx ports) {
			st.To = [6]byte{2, 0, 0, 0, 0, 9}
			tx.Neighbors = []Neighbor{{MAC: station(t, switchMAC), Role: "LLDP"}}
		}, []Finding{{Silence, "", "eth3", deaf, elsewhere}}},
		{"multicast goes to all", func(st *Stream, tx, rx ports) {
			st.To = [6]byte{1, 0, 0x5e, 0, 0, 9}
			tx.Neighbors = []Neighbor{{MAC: station(t, routerMAC), IP: from}}
			tx.Heard = heard(1, lldp(t))
		}, []Finding{{Silence, "", "eth3", "eth3 hears nothing at all: it leads elsewhere, or the device does not forward", "loadtest ports shows the others; the device's routes and filters"}}},

		{"spanning tree", func(_ *Stream, tx, _ ports) { tx.Heard = heard(3, bpdu(t)) },
			[]Finding{{Blocked, "", "eth2", "eth2 hears spanning tree: the switch's port may still be learning", "--wait 60s, or make it an edge port (portfast)"}}},
		{"spanning tree, by neighbour", func(_ *Stream, _, rx ports) { rx.Neighbors = []Neighbor{{Role: "STP"}} },
			[]Finding{{Blocked, "", "eth3", "eth3 hears spanning tree: the switch's port may still be learning", "--wait 60s, or make it an edge port (portfast)"}}},
		{"802.1X", func(_ *Stream, _, rx ports) { rx.Heard = heard(3, eapol(t)) },
			[]Finding{{Blocked, "", "eth3", "eth3 hears 802.1X: the switch's port wants a login", "turn 802.1X off at that port of the switch"}}},
		{"no gateway", func(st *Stream, _, rx ports) {
			st.Captured, st.Source, rx.MAC, st.To = false, "gen:64", [6]byte{2, 0, 0, 0, 0, 9}, [6]byte{2, 0, 0, 0, 0, 9}
		}, []Finding{
			{Silence, "s1", "eth2", "gen:64 is sent to eth3's own MAC address, which a bridge or a cable brings there, but no router",
				"to a router: --addr eth2=IP/LEN,gw=IP, or --mac-dst eth2=MAC"},
			{Silence, "", "eth3", deaf, elsewhere}}},
		{"no gateway at a port with an address", func(st *Stream, tx, rx ports) {
			st.Captured, st.Source, rx.MAC, st.To = false, "gen:64", [6]byte{2, 0, 0, 0, 0, 9}, [6]byte{2, 0, 0, 0, 0, 9}
			tx.Addrs, rx.Heard, tx.Heard = []netip.Prefix{netip.MustParsePrefix("10.1.1.2/24")}, heard(1, lldp(t)), heard(1, lldp(t))
		}, []Finding{
			{Silence, "s1", "eth2", "gen:64 is sent to eth3's own MAC address, which a bridge or a cable brings there, but no router",
				"to a router: --addr eth2=10.1.1.2/24,gw=IP, or --mac-dst eth2=MAC"},
			{Silence, "", "eth3", "the device drops the packets, or never gets them", "its counters, routes and filters say which"}}},
		{"a gateway was heard before", func(_ *Stream, tx, rx ports) {
			tx.Gateways, rx.Gateways = []netip.Addr{from}, []netip.Addr{ip("10.2.0.1")}
		}, []Finding{{Silence, "", "eth3", "the device drops the packets, or never gets them", "its counters, routes and filters say which"}}},
		{"silence on one port", func(st *Stream, _, _ ports) { st.RX = "eth2" },
			[]Finding{{Silence, "", "eth2", "eth2 hears nothing at all: it leads elsewhere, or the device does not forward", "loadtest ports shows the others; the device's routes and filters"}}},
		{"ports that are not listed", func(st *Stream, _, _ ports) { st.TX, st.RX = "eth8", "eth9" }, nil},
		{"one of them came back", func(st *Stream, _, rx ports) { st.Back, rx.Down = 1, true }, nil},
		{"nobody expects them", func(st *Stream, _, rx ports) { st.RX, rx.Down = "", true }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Of(quiet(t, tt.change))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			for _, f := range got {
				if flag, ok := strings.CutPrefix(f.Mend, "--addr "); ok && f.Cause == NextHop {
					flag, _, _ = strings.Cut(flag, " ")
					if port, _, err := neigh.ParseAddress(flag); err != nil || port != f.Port {
						t.Errorf("--addr %s: port %q, %v", flag, port, err)
					}
				}
			}
		})
	}
}

// Whatever comes together, what is worst comes first.
func TestOfOrder(t *testing.T) {
	ip := netip.MustParseAddr
	parts := []func(st *Stream, tx, rx *Port){
		LinkDown:     func(_ *Stream, tx, _ *Port) { tx.Down = true },
		NotLeaving:   func(_ *Stream, tx, _ *Port) { tx.Driver = 1 },
		WrongPort:    func(st *Stream, _, _ *Port) { st.Wrong = []Wrong{{"eth4", 9}} },
		Unrecognised: func(st *Stream, _, _ *Port) { st.Odd = []Odd{{How: Cut, Packets: 1}} },
		Refused:      func(st *Stream, _, _ *Port) { st.Told = []Told{{Type: 3, From: ip("10.1.1.1"), Packets: 1}} },
		NextHop: func(_ *Stream, _, rx *Port) {
			rx.Questions = []Question{{Target: ip("198.19.0.2"), Asker: ip("198.19.0.1"), Packets: 1}}
		},
		WrongMAC: func(_ *Stream, tx, _ *Port) { tx.Neighbors = []Neighbor{{MAC: [6]byte{2}}} },
		Blocked:  func(_ *Stream, _, rx *Port) { rx.Neighbors = []Neighbor{{Role: "802.1X"}} },
	}
	for set := range 1 << len(parts) {
		var want []Cause
		s := quiet(t, func(st *Stream, tx, rx *Port) {
			for cause, part := range parts {
				if set&(1<<cause) != 0 {
					part(st, tx, rx)
					want = append(want, Cause(cause))
				}
			}
		})
		if want == nil {
			want = []Cause{Silence}
		}
		var got []Cause
		for _, f := range Of(s) {
			got = append(got, f.Cause)
			if f.Text == "" || f.Mend == "" {
				t.Fatalf("cause %d has no text or nothing that mends it: %+v", f.Cause, f)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("causes %v, want %v", got, want)
		}
	}
}

// What is so of a port is told once, however many streams use it, and what is so of several streams names none.
func TestOfOnce(t *testing.T) {
	s := quiet(t, func(st *Stream, tx, _ *Port) {
		tx.Down = true
		st.Wrong = []Wrong{{"eth4", 9}}
	})
	other := s.Streams[0]
	other.Name = "s2"
	s.Streams = append(s.Streams, other)
	got := Of(s)
	if len(got) != 2 || got[0].Cause != LinkDown || got[1].Cause != WrongPort || got[1].Stream != "" {
		t.Errorf("findings %+v, want a link that is down and, of no single stream, a wrong port", got)
	}
}
