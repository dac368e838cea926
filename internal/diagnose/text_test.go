package diagnose

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"loadtest/units"
)

// unanswered is a stream whose device asks for its next hop at eth3.
func unanswered(t testing.TB) Seen {
	return Seen{
		Streams: []Stream{{Name: "eth2→eth3", Source: "gen:64", TX: "eth2", RX: "eth3", Sent: 100, ToIP: netip.MustParseAddr("198.19.0.2"), Size: 60}},
		Ports: []Port{
			{Name: "eth2", Line: 10 * units.Gbps, Offered: 100, Driver: 100, Heard: heard(2, lldp(t)),
				Neighbors: []Neighbor{{MAC: station(t, switchMAC), Role: "LLDP"}}},
			{Name: "eth3", Line: 10 * units.Gbps, Driver: -1, Heard: heard(31, whoHas(t, "198.19.0.2", "198.19.0.1")),
				Neighbors: []Neighbor{{MAC: station(t, routerMAC), IP: netip.MustParseAddr("198.19.0.1")}},
				Questions: []Question{{Target: netip.MustParseAddr("198.19.0.2"), Asker: netip.MustParseAddr("198.19.0.1"), From: station(t, routerMAC), Packets: 31}}},
		},
	}
}

func TestText(t *testing.T) {
	both := unanswered(t)
	both.Streams = append(both.Streams, Stream{Name: "back", Source: "gen:64", TX: "eth3", RX: "eth2", Sent: 100})
	both.Ports[0].Questions = []Question{{Target: netip.MustParseAddr("fd10::2"), Asker: netip.MustParseAddr("fd10::1"), ND: true, Packets: 9}}
	both.Ports[0].Heard = heard(9, whoHas(t, "fd10::2", "fd10::1"))
	both.Ports[0].Line, both.Ports[1].Line = 100*units.Mbps, 0
	both.Ports[1].Offered, both.Ports[1].Driver = 100, -1

	worse := unanswered(t)
	worse.Ports[1].Down, worse.Ports[0].Name, worse.Ports[0].Line = true, "ens1f0", 2.5*units.Gbps
	worse.Ports[0].Driver, worse.Ports[0].TxErrors = 3, 97
	worse.Streams[0].TX = "ens1f0"
	worse.Ports[1].Questions[0].Answered = true
	worse.Ports[1].Questions = append(worse.Ports[1].Questions, Question{Target: netip.MustParseAddr("198.19.0.3"), Asker: netip.MustParseAddr("198.19.0.1"), Packets: 1})
	worse.Streams[0].Wrong = []Wrong{{Port: "ens1f0", Packets: 1}}

	said := unanswered(t)
	said.Streams = append(said.Streams, Stream{Name: "s2", Source: "b.pcap", TX: "eth2", RX: "eth3", Sent: 7, ToIP: netip.MustParseAddr("10.0.0.9"),
		Told: []Told{{Type: 3, Code: 13, From: netip.MustParseAddr("198.18.0.1"), Port: "eth2", Packets: 7}}})
	said.Ports[1].Questions = nil

	back := unanswered(t)
	back.Streams[0].Back = 1
	only := unanswered(t)
	only.Streams[0].RX = ""

	for _, tt := range []struct {
		name string
		seen Seen
		wait time.Duration
		want string
	}{
		{"the next hop", unanswered(t), 10 * time.Second, `eth2→eth3: nothing came back in 10 s: 100 sent, 0 of ours at eth3
     eth2  link 10G, driver sent 100; heard 2 LLDP (core-sw1 Gi0/3)
     eth3  link 10G; heard 31 ARP who-has 198.19.0.2 from 00:1b:21:aa:00:02, nobody answers
     likely: the device looks for its next hop. --addr eth3=198.19.0.2/16,gw=198.19.0.1`},
		{"both directions are mended at once", both, 1040 * time.Millisecond, `eth2→eth3: nothing came back in 1 s: 100 sent, 0 of ours at eth3
back (eth3→eth2): nothing came back in 1 s: 100 sent, 0 of ours at eth2
     eth2  link 100M, driver sent 100; heard 9 ND who-has fd10::2 from 00:1b:21:aa:00:02, nobody answers
     eth3  link up, sent 100; heard 31 ARP who-has 198.19.0.2 from 00:1b:21:aa:00:02, nobody answers
     likely: the device looks for its next hop. --addr eth3=198.19.0.2/16,gw=198.19.0.1 --addr eth2=fd10::2/64,gw=fd10::1
     or: back: gen:64 is sent to 00:00:00:00:00:00, but eth3 hears 00:1b:21:aa:00:02 (198.19.0.1). --mac-dst eth3=00:1b:21:aa:00:02, or --addr eth3=IP/16,gw=198.19.0.1`},
		{"three findings are enough", worse, 500 * time.Millisecond, `eth2→eth3 (ens1f0→eth3): nothing came back in 0.5 s: 100 sent, 0 of ours at eth3
     ens1f0  link 2.5G, driver sent 3 of 100, 97 errors; heard 2 LLDP (core-sw1 Gi0/3)
     eth3    link down; heard 31 ARP who-has 198.19.0.2 from 00:1b:21:aa:00:02, not all answered
     likely: eth3's link is down. ip link set eth3 up; if it is up, look at the cable and at what it leads to
     or: frames do not leave ens1f0: driver sent 3 of 100, 97 errors. ip -s -s link show ens1f0 and ethtool -S say why
     or: 1 of 100 came back at ens1f0, out of which they were sent. ports swapped? gen:64 eth3 ens1f0; to expect them there: gen:64 ens1f0 ens1f0`},
		{"which stream it is", said, 10 * time.Second, `eth2→eth3: nothing came back in 10 s: 100 sent, 0 of ours at eth3
s2 (eth2→eth3): nothing came back in 10 s: 7 sent, 0 of ours at eth3
     eth2  link 10G, driver sent 100; heard 2 LLDP (core-sw1 Gi0/3)
     eth3  link 10G; heard 31 ARP who-has 198.19.0.2 from 00:1b:21:aa:00:02
     likely: s2: 7 ICMP from 198.18.0.1: 10.0.0.9 unreachable (prohibited). a filter drops them: have the device let them pass
     or: the device drops the packets, or never gets them. its counters, routes and filters say which`},
		{"a link that is waited for", Seen{Streams: unanswered(t).Streams, Ports: []Port{{Name: "eth3", Down: true}}}, 30 * time.Second,
			`eth2→eth3: nothing came back in 30 s: 100 sent, 0 of ours at eth3
     eth3  link down; heard nothing
     likely: eth3's link is down. ip link set eth3 up; if it is up, look at the cable and at what it leads to`},
		{"something came back", back, 10 * time.Second, ""},
		{"nobody expects it", only, 10 * time.Second, ""},
		{"no stream", Seen{}, 10 * time.Second, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Text(tt.seen, tt.wait); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// A run of many streams and ports has a short text.
func TestTextIsShort(t *testing.T) {
	var s Seen
	for i := range 100 {
		tx, rx := fmt.Sprintf("eth%d", 2*i), fmt.Sprintf("eth%d", 2*i+1)
		s.Streams = append(s.Streams, Stream{Name: tx + "→" + rx, TX: tx, RX: rx, Sent: 1})
		s.Ports = append(s.Ports, Port{Name: tx}, Port{Name: rx})
	}
	lines := strings.Split(Text(s, time.Second), "\n")
	if len(lines) != mostStreams+1+mostPorts+mostFindings {
		t.Errorf("%d lines, want %d:\n%s", len(lines), mostStreams+1+mostPorts+mostFindings, strings.Join(lines, "\n"))
	}
	if want := "and so for 96 more streams"; lines[mostStreams] != want {
		t.Errorf("line %d is %q, want %q", mostStreams+1, lines[mostStreams], want)
	}
}
