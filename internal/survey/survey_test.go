package survey_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"loadtest/internal/split"
	"loadtest/internal/survey"
	"loadtest/internal/timeline"
	"loadtest/packet"
	"loadtest/units"
)

// made is a frame of these layers, its lengths and checksums right.
func made(t testing.TB, all ...gopacket.SerializableLayer) []byte {
	t.Helper()
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, all...); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func ether(typ layers.EthernetType) *layers.Ethernet {
	return &layers.Ethernet{SrcMAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, DstMAC: net.HardwareAddr{2, 0, 0, 0, 0, 2}, EthernetType: typ}
}

// ip4 is from host a to host b.
func ip4(a, b byte, p layers.IPProtocol) *layers.IPv4 {
	return &layers.IPv4{Version: 4, TTL: 64, Protocol: p, SrcIP: net.IP{10, 0, 0, a}, DstIP: net.IP{10, 0, 0, b}}
}

func ip6(a, b byte, p layers.IPProtocol) *layers.IPv6 {
	src, dst := make(net.IP, 16), make(net.IP, 16)
	src[0], src[15], dst[0], dst[15] = 0xfd, a, 0xfd, b
	return &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: p, SrcIP: src, DstIP: dst}
}

func tcp(t testing.TB, v6 bool, a, b byte, ports [2]layers.TCPPort, flags string, payload int) []byte {
	l := &layers.TCP{SrcPort: ports[0], DstPort: ports[1], SYN: strings.Contains(flags, "S"), ACK: strings.Contains(flags, "A"), Window: 1000}
	data := make(gopacket.Payload, payload)
	for i := range data {
		data[i] = byte(i + 1)
	}
	if v6 {
		ip := ip6(a, b, layers.IPProtocolTCP)
		l.SetNetworkLayerForChecksum(ip)
		return made(t, ether(layers.EthernetTypeIPv6), ip, l, data)
	}
	ip := ip4(a, b, layers.IPProtocolTCP)
	l.SetNetworkLayerForChecksum(ip)
	return made(t, ether(layers.EthernetTypeIPv4), ip, l, data)
}

func udp(t testing.TB, v6 bool, a, b byte, payload int) []byte {
	l := &layers.UDP{SrcPort: 5000, DstPort: 53}
	if v6 {
		ip := ip6(a, b, layers.IPProtocolUDP)
		l.SetNetworkLayerForChecksum(ip)
		return made(t, ether(layers.EthernetTypeIPv6), ip, l, make(gopacket.Payload, payload))
	}
	ip := ip4(a, b, layers.IPProtocolUDP)
	l.SetNetworkLayerForChecksum(ip)
	return made(t, ether(layers.EthernetTypeIPv4), ip, l, make(gopacket.Payload, payload))
}

// changed is a copy with other bytes from at on.
func changed(b []byte, at int, to ...byte) []byte {
	b = append([]byte(nil), b...)
	copy(b[at:], to)
	return b
}

// padded is a copy of a length.
func padded(b []byte, n int) []byte {
	return append(append([]byte(nil), b...), make([]byte, n-len(b))...)
}

func to(mac [6]byte, b []byte) []byte { return changed(b, 0, mac[:]...) }

// of is the survey of records that are whole if they do not say otherwise.
func of(records ...packet.Record) *survey.Survey {
	for i := range records {
		if r := &records[i]; r.Wire == 0 {
			r.Wire = len(r.Data)
		}
	}
	return exactly(records)
}

// exactly is the survey of records, whose numbers it gives.
func exactly(records []packet.Record) *survey.Survey {
	s := survey.New()
	for i, r := range records {
		r.Number = int64(i) + 1
		s.Add(&r)
	}
	s.Done()
	return s
}

func frames(all ...[]byte) *survey.Survey {
	var records []packet.Record
	for _, b := range all {
		records = append(records, packet.Record{Data: b, Link: packet.LinkEthernet})
	}
	return of(records...)
}

// seen is what a frame at this record looks like.
func seen(n, record int64, size, longest int) survey.Seen {
	return survey.Seen{Packets: n, First: timeline.Place{Number: record}, Size: size, Wire: size, Longest: longest}
}

func TestLengths(t *testing.T) {
	ping := padded(udp(t, false, 1, 2, 0), 60)
	s := of(
		packet.Record{Data: ping, File: 3},
		packet.Record{Data: ping[:50], Wire: 60, File: 4},
		packet.Record{Data: ping[:50], Wire: 1500},
		packet.Record{Data: padded(ping, 64), Wire: 60},
		packet.Record{Data: ping[:20]},
		packet.Record{Data: ping[:9], Link: packet.LinkEthernet},
	)
	if s.Packets != 6 || s.Bytes != 60+50+50+64+20+9 || s.WireBytes != 60+60+1500+60+20+9 {
		t.Errorf("%d packets, %d bytes, %d on the wire", s.Packets, s.Bytes, s.WireBytes)
	}
	if want := 5*units.WireBits(60) + units.WireBits(1500); s.WireBits != want {
		t.Errorf("%d bits on the wire, want %d", s.WireBits, want)
	}
	for _, tt := range []struct {
		name      string
		got, want survey.Seen
	}{
		{"snapped", s.Snapped, survey.Seen{Packets: 2, First: timeline.Place{File: 4, Number: 2}, Size: 50, Wire: 60, Longest: 1500}},
		{"longer", s.Longer, survey.Seen{Packets: 1, First: timeline.Place{Number: 4}, Size: 64, Wire: 60, Longest: 60}},
		{"runts", s.Runts, seen(2, 5, 20, 20)},
		{"short", s.Short, seen(1, 6, 9, 9)},
		{"unreadable", s.Unreadable, survey.Seen{}},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, tt.got, tt.want)
		}
	}
	if want := []survey.Link{{0, "Ethernet", 5}, {1, "Ethernet", 1}}; cmp.Diff(want, s.Links) != "" || s.Foreign() != 0 {
		t.Errorf("links %v, foreign %d", s.Links, s.Foreign())
	}
}

func TestSizes(t *testing.T) {
	var records []packet.Record
	for _, fcs := range []int{40, 64, 65, 127, 128, 255, 256, 511, 512, 1023, 1024, 1518, 1519, 9018} {
		records = append(records, packet.Record{Data: make([]byte, fcs-units.FCS)})
	}
	s := of(records...).Sizes
	want := survey.Sizes{Min: 36, Max: 9014, Mean: float64(40+64+65+127+128+255+256+511+512+1023+1024+1518+1519+9018)/14 - 4, Buckets: []survey.Bucket{
		{0, 64, 2}, {65, 127, 2}, {128, 255, 2}, {256, 511, 2}, {512, 1023, 2}, {1024, 1518, 2}, {1519, 0, 2}}}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if s := of(packet.Record{Data: []byte{}}, packet.Record{Data: make([]byte, 9)}); s.Sizes.Min != 0 {
		t.Errorf("shortest of 0 and 9 bytes: %d", s.Sizes.Min)
	}
}

// Packets without an Ethernet header count as the frames that they become.
func TestLinks(t *testing.T) {
	ip := udp(t, false, 1, 2, 1500-28)[packet.EtherLen:]
	s := of(
		packet.Record{Data: ip, Link: packet.LinkRaw},
		packet.Record{Data: append([]byte{0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0}, ip[:20]...), Wire: 16 + len(ip), Link: packet.LinkSLL},
		packet.Record{Data: ip[:9], Link: packet.LinkSLL},
		packet.Record{Data: ip, Link: 253},
		packet.Record{Data: ip, Link: 253},
	)
	want := []survey.Link{{113, "Linux cooked", 2}, {253, "netlink", 2}, {101, "raw IP", 1}}
	if diff := cmp.Diff(want, s.Links); diff != "" || s.Foreign() != 113 {
		t.Errorf("foreign %d, -want +got\n%s", s.Foreign(), diff)
	}
	if s.Unreadable != seen(3, 3, 9, 1500) || s.IPv4 != 2 || s.Flows.UDP != 1 || s.Damaged.Packets != 0 || s.Merged.Packets != 0 {
		t.Errorf("unreadable %+v, %d IPv4, %+v, damaged %+v", s.Unreadable, s.IPv4, s.Flows, s.Damaged)
	}
	if want := 2*units.WireBits(1514) + 2*units.WireBits(1500) + units.WireBits(9); s.WireBits != want || s.Sizes.Max != 1514 || s.Sizes.Min != 9 {
		t.Errorf("%d bits, want %d; %+v", s.WireBits, want, s.Sizes)
	}
}

func TestFrames(t *testing.T) {
	four, six := tcp(t, false, 1, 2, [2]layers.TCPPort{5000, 80}, "A", 100), tcp(t, true, 1, 2, [2]layers.TCPPort{5000, 80}, "A", 100)
	fragment := ip4(1, 2, layers.IPProtocolUDP)
	fragment.Flags = layers.IPv4MoreFragments
	vlan := func(b []byte, typ byte) []byte {
		return append(append(append([]byte(nil), b[:12]...), typ, []byte{0x81: 0, 0x88: 0xa8}[typ], 0, 5), b[12:]...)
	}
	for _, tt := range []struct {
		name  string
		frame []byte
		want  string // what is not zero, beside the sizes
	}{
		{"TCP", four, "IPv4 1, TCP 1, flows TCP 1, always 1"},
		{"TCP of IPv6", six, "IPv6 1, TCP 1, flows TCP 1, always 1"},
		{"UDP, room for a tag", udp(t, false, 1, 2, 18), "IPv4 1, UDP 1, flows UDP 1, auto 1, always 1"},
		{"UDP, none", udp(t, true, 1, 2, 17), "IPv6 1, UDP 1, flows UDP 1"},
		{"ping", made(t, ether(layers.EthernetTypeIPv4), ip4(1, 2, layers.IPProtocolICMPv4), &layers.ICMPv4{TypeCode: 0x800}, make(gopacket.Payload, 20)),
			"IPv4 1, ICMP 1, flows ICMP 1, auto 1, always 1"},
		{"ESP", made(t, ether(layers.EthernetTypeIPv4), ip4(1, 2, layers.IPProtocolESP), make(gopacket.Payload, 20)), "IPv4 1, other 1, flows other 1, auto 1, always 1"},
		{"fragment", made(t, ether(layers.EthernetTypeIPv4), fragment, make(gopacket.Payload, 40)), "IPv4 1, UDP 1, fragments 1, flows other 1"},
		{"ARP", padded(made(t, ether(layers.EthernetTypeARP)), 60), "ARP 1, kinds [{ARP 1}]"},
		{"LLDP", to([6]byte{1, 0x80, 0xc2, 0, 0, 0x0e}, padded(made(t, ether(layers.EthernetTypeLinkLayerDiscovery)), 60)),
			"kinds [{LLDP 1}], multicast 1, control 1"},
		{"STP", to([6]byte{1, 0x80, 0xc2, 0, 0, 0}, padded(made(t, ether(0x26)), 60)), "kinds [{802.3 LLC 1}], multicast 1, control 1"},
		{"not a control address", to([6]byte{1, 0x80, 0xc2, 0, 0, 0x10}, four), "IPv4 1, TCP 1, flows TCP 1, always 1, multicast 1"},
		{"multicast", to([6]byte{1, 0, 0x5e, 0, 0, 1}, udp(t, false, 1, 2, 5)), "IPv4 1, UDP 1, flows UDP 1, multicast 1"},
		{"broadcast", to([6]byte{255, 255, 255, 255, 255, 255}, padded(made(t, ether(0x1234)), 60)), "kinds [{EtherType 0x1234 1}], broadcast 1"},
		{"VLAN", vlan(four, 0x81), "IPv4 1, TCP 1, VLAN 1, flows TCP 1, always 1"},
		{"VLANs", vlan(vlan(six, 0x81), 0x88), "IPv6 1, TCP 1, VLAN 1, flows TCP 1, always 1"},
		{"VLAN cut off", vlan(four, 0x81)[:17], "VLAN 1, kinds [{VLAN, cut 1}], runts 1"},
		{"a whole segment", tcp(t, false, 1, 2, [2]layers.TCPPort{1, 2}, "A", 1460), "IPv4 1, TCP 1, flows TCP 1, always 1"},
		{"a whole segment with VLAN tags", vlan(vlan(tcp(t, false, 1, 2, [2]layers.TCPPort{1, 2}, "A", 1460), 0x81), 0x81), "IPv4 1, TCP 1, VLAN 1, flows TCP 1, always 1"},
		{"merged", tcp(t, false, 1, 2, [2]layers.TCPPort{1, 2}, "A", 1461), "IPv4 1, TCP 1, flows TCP 1, always 1, merged 1"},
		{"jumbo UDP", udp(t, false, 1, 2, 8000), "IPv4 1, UDP 1, flows UDP 1, auto 1, always 1"},
		{"no IP length", changed(four, 16, 0, 0), "IPv4 1, no length 1"},
		{"no IPv6 length", changed(six, 18, 0, 0), "IPv6 1, TCP 1, no length 1"},
		{"no IPv6 payload", made(t, ether(layers.EthernetTypeIPv6), ip6(1, 2, layers.IPProtocolNoNextHeader)), "IPv6 1, other 1, flows other 1"},
		{"IP version 5", changed(four, 14, 0x55), "IPv4 1, damaged 1"},
		{"IP header cut off", four[:30], "IPv4 1, damaged 1, runts 1"},
		{"TCP header damaged", changed(four, 46, 0x10), "IPv4 1, TCP 1, damaged 1"},
		{"wrong header checksum", changed(four, 22, 3), "IPv4 1, TCP 1, flows TCP 1, always 1, IPv4 checksum 1"},
		{"wrong TCP checksum", changed(four, 80, 0), "IPv4 1, TCP 1, flows TCP 1, always 1, TCP checksum 1"},
		{"wrong TCP address", changed(six, 30, 1), "IPv6 1, TCP 1, flows TCP 1, always 1, TCP checksum 1"},
		{"wrong UDP checksum", changed(udp(t, true, 1, 2, 17), 70, 1), "IPv6 1, UDP 1, flows UDP 1, UDP checksum 1"},
		{"no UDP checksum", changed(udp(t, false, 1, 2, 17), 40, 0, 0, 7), "IPv4 1, UDP 1, flows UDP 1"},
		{"UDP longer than its packet", changed(udp(t, false, 1, 2, 40), 38, 0, 200), "IPv4 1, UDP 1, flows UDP 1, auto 1, always 1"},
		{"padding is not summed", changed(padded(udp(t, false, 1, 2, 3), 60), 55, 7), "IPv4 1, UDP 1, flows UDP 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := text(frames(tt.frame)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			// Each of them has its first record.
			s := frames(padded(made(t, ether(0x1234)), 60), tt.frame, tt.frame)
			for _, seen := range []survey.Seen{s.Multicast, s.Broadcast, s.Control, s.Merged, s.NoIPLength, s.Damaged, s.WrongIPv4, s.WrongTCP, s.WrongUDP, s.Runts} {
				if want := (survey.Seen{Packets: 2, First: timeline.Place{Number: 2}, Size: len(tt.frame), Wire: len(tt.frame), Longest: len(tt.frame)}); seen.Packets > 0 && seen != want {
					t.Errorf("%+v, want %+v", seen, want)
				}
			}
		})
	}
}

// text is what is not zero.
func text(s *survey.Survey) string {
	var all []string
	for _, n := range []struct {
		name string
		n    int64
	}{
		{"IPv4", s.IPv4}, {"IPv6", s.IPv6}, {"ARP", s.ARP}, {"TCP", s.TCP}, {"UDP", s.UDP}, {"ICMP", s.ICMP}, {"other", s.OtherIP},
		{"fragments", s.Fragments}, {"VLAN", s.Tagged}, {"flows TCP", s.Flows.TCP}, {"flows UDP", s.Flows.UDP}, {"flows ICMP", s.Flows.ICMP},
		{"flows other", s.Flows.Other}, {"auto", s.Taggable.Auto}, {"always", s.Taggable.Always}, {"kinds", int64(len(s.NonIP))},
		{"multicast", s.Multicast.Packets}, {"broadcast", s.Broadcast.Packets}, {"control", s.Control.Packets}, {"merged", s.Merged.Packets},
		{"no length", s.NoIPLength.Packets}, {"damaged", s.Damaged.Packets}, {"IPv4 checksum", s.WrongIPv4.Packets},
		{"TCP checksum", s.WrongTCP.Packets}, {"UDP checksum", s.WrongUDP.Packets}, {"runts", s.Runts.Packets},
	} {
		switch {
		case n.n == 0:
		case n.name == "kinds":
			all = append(all, fmt.Sprintf("kinds %v", s.NonIP))
		case n.name == "VLAN" && len(s.NonIP) > 0:
			all = append(all, "VLAN 1")
		default:
			all = append(all, fmt.Sprintf("%s %d", n.name, n.n))
		}
	}
	return strings.Join(all, ", ")
}

func TestFlows(t *testing.T) {
	web, back := [2]layers.TCPPort{5000, 80}, [2]layers.TCPPort{80, 5000}
	s := frames(
		tcp(t, false, 1, 2, web, "S", 0), tcp(t, false, 2, 1, back, "SA", 0), tcp(t, false, 1, 2, web, "A", 0), // whole
		tcp(t, false, 1, 3, web, "S", 0), tcp(t, false, 3, 1, back, "A", 0), // no answer to the SYN
		tcp(t, false, 1, 4, web, "S", 0), tcp(t, false, 1, 4, web, "A", 0), // one side
		tcp(t, true, 4, 1, back, "SA", 0), tcp(t, true, 1, 4, web, "A", 0), // no SYN
		udp(t, false, 1, 2, 0), udp(t, true, 1, 2, 0), udp(t, false, 2, 1, 0), // 53 to 5000 is another
	)
	want := split.Counts{TCP: 4, TwoSided: 3, Opened: 3, Handshakes: 1, UDP: 3}
	if s.Flows != want {
		t.Errorf("%+v, want %+v", s.Flows, want)
	}
}

func TestTimes(t *testing.T) {
	const ms = int64(1e6)
	frame := make([]byte, 1000)
	at := func(times ...int64) *survey.Survey {
		var all []packet.Record
		for _, n := range times {
			all = append(all, packet.Record{Data: frame, Nanos: n})
		}
		return of(all...)
	}
	p := func(n int64) *int64 { return &n }
	f := func(n float64) *float64 { return &n }
	bits := float64(units.WireBits(len(frame)))
	for _, tt := range []struct {
		name  string
		times []int64
		want  survey.Times
	}{
		{"none", nil, survey.Times{}},
		{"without times", []int64{0, 0}, survey.Times{Untimed: 2}},
		{"one", []int64{5}, survey.Times{First: p(5), Last: p(5)}},
		{"from 0", []int64{0, 0, 60, 0, 80}, survey.Times{First: p(0), Last: p(80), Span: 80, Untimed: 1, GapMin: p(0), GapP50: p(20), GapP99: p(60), GapMax: p(60),
			MaxAt: timeline.Place{Number: 3}, Pps: f(4 / 80e-9), Bps: f(4 * bits / 80e-9)}},
		{"the first without a time", []int64{0, 1e18, 1e18 + 4}, survey.Times{First: p(1e18), Last: p(1e18 + 4), Span: 4, Untimed: 1, GapMin: p(4), GapP50: p(4), GapP99: p(4),
			GapMax: p(4), MaxAt: timeline.Place{Number: 3}, Pps: f(2 / 4e-9), Bps: f(2 * bits / 4e-9)}},
		{"at once", []int64{5, 5}, survey.Times{First: p(5), Last: p(5), GapMin: p(0), GapP50: p(0), GapP99: p(0), GapMax: p(0), MaxAt: timeline.Place{Number: 2}}},
		{"gaps", []int64{100, 110, 140, 160}, survey.Times{First: p(100), Last: p(160), Span: 60, GapMin: p(10), GapP50: p(20), GapP99: p(30), GapMax: p(30),
			MaxAt: timeline.Place{Number: 3}, Pps: f(3 / 60e-9), Bps: f(3 * bits / 60e-9)}},
		{"back and without a time", []int64{0, 1e18 + 140, 1e18 + 100, 0, 1e18 + 160, 1e18 + 150}, survey.Times{First: p(1e18 + 140), Last: p(1e18 + 150), Span: 60, Untimed: 2,
			Back: survey.Seen{Packets: 2, First: timeline.Place{Number: 3}, Size: 1000, Wire: 1000, Longest: 1000}, LargestBack: 40,
			GapMin: p(60), GapP50: p(60), GapP99: p(60), GapMax: p(60), MaxAt: timeline.Place{Number: 5}, Pps: f(5 / 60e-9), Bps: f(5 * bits / 60e-9)}},
		{"all of time", []int64{math.MinInt64, math.MaxInt64, math.MinInt64, math.MaxInt64}, survey.Times{First: p(math.MinInt64), Last: p(math.MaxInt64), Span: math.MaxInt64,
			Back: survey.Seen{Packets: 1, First: timeline.Place{Number: 3}, Size: 1000, Wire: 1000, Longest: 1000}, LargestBack: math.MaxInt64,
			GapMin: p(math.MaxInt64), GapP50: p(math.MaxInt64), GapP99: p(math.MaxInt64), GapMax: p(math.MaxInt64), MaxAt: timeline.Place{Number: 2},
			Pps: f(3 / (math.MaxInt64 / 1e9)), Bps: f(3 * bits / (math.MaxInt64 / 1e9)), Peaks: []survey.Peak{
				{ms, 3000, 3000 * bits}, {10 * ms, 300, 300 * bits}, {1000 * ms, 3, 3 * bits}}}},
		{"a burst of ten in a second", []int64{1, 500 * ms, 500*ms + 1, 500*ms + 2, 500*ms + 3, 500*ms + 4, 509*ms + 1, 509*ms + 2, 509*ms + 3, 1200 * ms},
			survey.Times{First: p(1), Last: p(1200 * ms), Span: 1200*ms - 1, GapMin: p(1), GapP50: p(1), GapP99: p(690999997), GapMax: p(690999997),
				MaxAt: timeline.Place{Number: 10}, Pps: f(9 / 1.199999999), Bps: f(9 * bits / 1.199999999),
				Peaks: []survey.Peak{{ms, 5000, 5000 * bits}, {10 * ms, 700, 700 * bits}, {1000 * ms, 9, 9 * bits}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := at(tt.times...).Times
			near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) })
			empty := cmp.Transformer("peaks", func(p []survey.Peak) string { return fmt.Sprintf("%+v", p) })
			if diff := cmp.Diff(tt.want, got, near, empty); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// JSON has units in its keys, and null for what was not there.
func TestJSON(t *testing.T) {
	b, err := json.Marshal(frames(padded(made(t, ether(layers.EthernetTypeARP)), 60)))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"packets":1,"captured_bytes":60,"wire_bytes":60,"wire_bits":672,"links":[{"link_type":1,"name":"Ethernet","packets":1}],"sizes":{"min_bytes":60,"max_bytes":60,"mean_bytes":60,"buckets":[{"from_fcs_bytes":0,"to_fcs_bytes":64,"packets":1},`,
		`"times":{"first_unix_ns":null,"last_unix_ns":null,"span_ns":0,"untimed":1,`,
		`"mean_pps":null,"mean_wire_bps":null,"peaks":[]}`,
		`"snapped":{"packets":0,"first":{"file":0,"record":0},"first_bytes":0,"first_wire_bytes":0,"longest_wire_bytes":0}`,
		`"non_ip":[{"kind":"ARP","packets":1}],"arp":1`,
		`"flows":{"tcp":0,"tcp_two_sided":0,"tcp_opened":0,"tcp_handshakes":0,"udp":0,"icmp":0,"other":0,"at_least":false}`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s\nis not in\n%s", want, b)
		}
	}
}

// sixty is a number of frames of 60 bytes, of so many UDP flows.
func sixty(t testing.TB, n, flows int) (all [][]byte) {
	b := udp(t, false, 1, 2, 18)
	for i := range n {
		b := append([]byte(nil), b...)
		binary.BigEndian.PutUint32(b[26:], uint32(i%flows))
		all = append(all, b)
	}
	return all
}

func TestAddDoesNotAllocate(t *testing.T) {
	all := sixty(t, 1000, 100)
	s := survey.New()
	r := packet.Record{Nanos: 1}
	i := 0
	add := func() {
		r.Data, r.Wire, r.Link = all[i%1000], 60, packet.LinkEthernet
		if i%2 == 0 {
			r.Data, r.Wire, r.Link = r.Data[packet.EtherLen:], 46, packet.LinkRaw
		}
		r.Nanos += 100
		r.Number++
		i++
		s.Add(&r)
	}
	for range 1000 {
		add()
	}
	if n := testing.AllocsPerRun(1000, add); n != 0 {
		t.Errorf("%v allocations a record", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	bench := func(name string, all [][]byte) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			s := survey.New()
			r := packet.Record{Nanos: 1, Link: packet.LinkEthernet}
			for i := 0; b.Loop(); i++ {
				r.Data = all[i%len(all)]
				r.Wire = len(r.Data)
				r.Nanos += 70
				s.Add(&r)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpps")
		})
	}
	bench("64 bytes, 100 flows", sixty(b, 100_000, 100))
	bench("64 bytes, 100000 flows", sixty(b, 100_000, 100_000))
	bench("1518 bytes", [][]byte{tcp(b, false, 1, 2, [2]layers.TCPPort{1, 2}, "A", 1460)})
}
