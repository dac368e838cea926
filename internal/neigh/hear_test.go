package neigh_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"loadtest/internal/neigh"
)

// change is a frame with one byte changed.
func change(b []byte, at int, to byte) []byte {
	b = slices.Clone(b)
	b[at] = to
	return b
}

// TestHear shows a tester with addresses in two VLANs and one with a MAC address of its own what may come.
func TestHear(t *testing.T) {
	o := tester(t, "198.18.0.2/16,gw=198.18.0.1", "2001:db8::2/64,gw=fe80::1", "198.18.0.3/16,vlan=7", "2001:db8::3/64,vlan=7", "10.0.0.2/8,mac=02:00:00:00:00:0a")
	o.Serves = func(ip netip.Addr) bool { return ip != addr("198.18.5.6") } // gateways, too: they are none the less not answered for
	mac10 := [6]byte{2, 0, 0, 0, 0, 10}
	asks := func(target string) gopacket.SerializableLayer {
		return arp(1, device, addr("198.18.0.1"), nobody, addr(target))
	}
	multi := [6]byte{0x33, 0x33, 0xff, 0, 0, 2}
	ns := func(vlan []uint16, src, dst, target string, mac [6]byte, hops uint8) []byte {
		return frame(t, multi, device, vlan, join(v6(src, dst, hops), solicit(target, mac))...)
	}
	const group2 = "ff02::1:ff00:2"
	ping := func(dst [6]byte, src, to string) []byte {
		return frame(t, dst, device, nil, join(v4(src, to, 1), icmp(8, "hello"))...)
	}
	ping6 := func(dst [6]byte, src, to string) []byte {
		return frame(t, dst, device, nil, join(v6(src, to, 9), echo6(128, "hello"))...)
	}
	fragment := v4("198.18.0.1", "198.18.0.2", 1)
	fragment.Flags = layers.IPv4MoreFragments
	options := v4("198.18.0.1", "198.18.0.2", 1)
	options.Options = []layers.IPv4Option{{OptionType: 148, OptionLength: 4, OptionData: []byte{0, 0}}} // router alert
	udp6 := v6("fe80::1", "2001:db8::2", 64)
	udp6.NextHeader = 17

	const to9 = "02:00:00:00:00:01>02:00:00:00:00:09"
	const na = " NA 2001:db8::2 flags 60 [ICMPv6Option(TargetAddress:02:00:00:00:00:01)]"
	for _, tt := range []struct {
		name  string
		frame []byte
		want  string // the answer
		own   bool
	}{
		{"ARP", frame(t, all, device, nil, asks("198.18.0.2")), to9 + " ARP 2: 198.18.0.2 at 02:00:00:00:00:01 to 198.18.0.1 at 02:00:00:00:00:09", false},
		{"ARP to this port", frame(t, port, device, nil, asks("198.18.0.2")), to9 + " ARP 2: 198.18.0.2 at 02:00:00:00:00:01 to 198.18.0.1 at 02:00:00:00:00:09", false},
		{"ARP for an end of a stream", frame(t, all, device, nil, asks("198.18.9.9")), to9 + " ARP 2: 198.18.9.9 at 02:00:00:00:00:01 to 198.18.0.1 at 02:00:00:00:00:09", false},
		{"ARP for another MAC address", frame(t, all, device, nil, arp(1, device, addr("10.0.0.1"), nobody, addr("10.0.0.2"))),
			"02:00:00:00:00:0a>02:00:00:00:00:09 ARP 2: 10.0.0.2 at 02:00:00:00:00:0a to 10.0.0.1 at 02:00:00:00:00:09", false},
		{"ARP to that MAC address", frame(t, mac10, device, nil, arp(1, device, addr("10.0.0.1"), nobody, addr("10.0.0.2"))),
			"02:00:00:00:00:0a>02:00:00:00:00:09 ARP 2: 10.0.0.2 at 02:00:00:00:00:0a to 10.0.0.1 at 02:00:00:00:00:09", false},
		{"ARP without padding", frame(t, all, device, nil, asks("198.18.0.2"))[:42], to9 + " ARP 2: 198.18.0.2 at 02:00:00:00:00:01 to 198.18.0.1 at 02:00:00:00:00:09", false},
		{"ARP probe", frame(t, all, device, nil, arp(1, device, nowhere, nobody, addr("198.18.0.2"))),
			to9 + " ARP 2: 198.18.0.2 at 02:00:00:00:00:01 to 0.0.0.0 at 02:00:00:00:00:09", false},
		{"ARP in the VLAN", frame(t, all, device, []uint16{7}, asks("198.18.0.3")),
			to9 + " vlan 7 ARP 2: 198.18.0.3 at 02:00:00:00:00:01 to 198.18.0.1 at 02:00:00:00:00:09", false},
		{"ARP with a priority alone", frame(t, all, device, []uint16{0}, asks("198.18.0.2")), to9 + " ARP 2: 198.18.0.2 at 02:00:00:00:00:01 to 198.18.0.1 at 02:00:00:00:00:09", false},
		{"ARP in another VLAN", frame(t, all, device, []uint16{8}, asks("198.18.0.3")), "", false},
		{"ARP in two VLANs", frame(t, all, device, []uint16{7, 7}, asks("198.18.0.3")), "", false},
		{"ARP for the gateway", frame(t, all, device, nil, arp(1, device, addr("198.18.0.9"), nobody, addr("198.18.0.1"))), "", false},
		{"ARP for what is not served", frame(t, all, device, nil, asks("198.18.5.6")), "", false},
		{"ARP for another network", frame(t, all, device, nil, asks("198.19.0.2")), "", false},
		{"ARP to somebody else", frame(t, stray, device, nil, asks("198.18.0.2")), "", false},
		{"ARP of who says to be us", frame(t, all, device, nil, arp(1, device, addr("198.18.0.2"), nobody, addr("198.18.0.2"))), "", false},
		{"ARP reply", frame(t, port, device, nil, arp(2, device, addr("198.18.0.1"), port, addr("198.18.0.2"))), "", false},
		{"ARP of an unknown operation", frame(t, all, device, nil, arp(9, device, addr("198.18.0.1"), nobody, addr("198.18.0.2"))), "", false},
		{"ARP of a group", frame(t, all, device, nil, arp(1, multi, addr("198.18.0.1"), nobody, addr("198.18.0.2"))), "", false},
		{"ARP of other hardware", change(frame(t, all, device, nil, asks("198.18.0.2")), 15, 6), "", false},
		{"ARP cut short", frame(t, all, device, nil, asks("198.18.0.2"))[:41], "", false},
		{"ARP of this port", frame(t, all, port, nil, arp(1, port, addr("198.18.0.2"), nobody, addr("198.18.9.9"))), "", true},
		{"ARP of another port", frame(t, all, other, nil, arp(1, other, addr("198.18.0.1"), nobody, addr("198.18.0.2"))),
			"02:00:00:00:00:01>02:00:00:00:00:02 ARP 2: 198.18.0.2 at 02:00:00:00:00:01 to 198.18.0.1 at 02:00:00:00:00:02", true},
		{"RARP of this port", frame(t, all, port, nil, gopacket.Payload("…")), "", true},
		{"RARP of somebody else", frame(t, all, device, nil, gopacket.Payload("…")), "", false},

		{"NS", ns(nil, "fe80::1", group2, "2001:db8::2", device, 255), to9 + " 2001:db8::2>fe80::1 hops 255" + na, false},
		{"NS to this port", frame(t, port, device, nil, join(v6("fe80::1", "2001:db8::2", 255), solicit("2001:db8::2", nobody))...), to9 + " 2001:db8::2>fe80::1 hops 255" + na, false},
		{"NS from another MAC address", ns(nil, "fe80::1", group2, "2001:db8::2", stray, 255),
			"02:00:00:00:00:01>02:00:00:00:00:77 2001:db8::2>fe80::1 hops 255" + na, false},
		{"NS that looks for a free address", ns(nil, "::", group2, "2001:db8::2", nobody, 255),
			"02:00:00:00:00:01>33:33:00:00:00:01 2001:db8::2>ff02::1 hops 255" + strings.Replace(na, "60", "20", 1), false},
		{"NS that looks for a free address, as Linux does", frame(t, multi, device, nil, join(v6("::", group2, 255), icmp6(135, &layers.ICMPv6NeighborSolicitation{
			TargetAddress: addr("2001:db8::2").AsSlice(), Options: option(14, [6]byte{2, 2, 2, 2, 2, 2})}))...), // RFC 7527: nonce
			"02:00:00:00:00:01>33:33:00:00:00:01 2001:db8::2>ff02::1 hops 255" + strings.Replace(na, "60", "20", 1), false},
		{"NS in the VLAN", ns([]uint16{7}, "2001:db8::1", "ff02::1:ff00:3", "2001:db8::3", device, 255),
			to9 + " vlan 7 2001:db8::3>2001:db8::1 hops 255 NA 2001:db8::3 flags 60 [ICMPv6Option(TargetAddress:02:00:00:00:00:01)]", false},
		{"NS for an end of a stream", ns(nil, "fe80::1", "ff02::1:ff00:99", "2001:db8::99", device, 255),
			to9 + " 2001:db8::99>fe80::1 hops 255 NA 2001:db8::99 flags 60 [ICMPv6Option(TargetAddress:02:00:00:00:00:01)]", false},
		{"NS with another option first", frame(t, multi, device, nil, join(v6("fe80::1", group2, 255), icmp6(135, &layers.ICMPv6NeighborSolicitation{
			TargetAddress: addr("2001:db8::2").AsSlice(), Options: append(option(14, [6]byte{2, 2, 2, 2, 2, 2}), option(1, stray)...)}))...), // RFC 7527: nonce
			"02:00:00:00:00:01>02:00:00:00:00:77 2001:db8::2>fe80::1 hops 255" + na, false},
		{"NS to somebody else", frame(t, stray, device, nil, join(v6("fe80::1", "2001:db8::2", 255), solicit("2001:db8::2", device))...), "", false},
		{"NS from the MAC address of a group", change(ns(nil, "fe80::1", group2, "2001:db8::2", nobody, 255), 6, 3), "", false},
		{"NS without message", change(ns(nil, "fe80::1", group2, "2001:db8::2", device, 255), 19, 0), "", false},
		{"NS in another VLAN", ns([]uint16{8}, "2001:db8::1", "ff02::1:ff00:3", "2001:db8::3", device, 255), "", false},
		{"NS from afar", ns(nil, "fe80::1", group2, "2001:db8::2", device, 254), "", false},
		{"NS with a wrong checksum", change(ns(nil, "fe80::1", group2, "2001:db8::2", device, 255), 57, 0), "", false},
		{"NS of an unknown code", frame(t, multi, device, nil, v6("fe80::1", group2, 255), &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(135, 1)},
			solicit("2001:db8::2", device)[1]), "", false},
		{"NS for a group", ns(nil, "fe80::1", group2, "ff02::1:ff00:2", device, 255), "", false},
		{"NS to another group", ns(nil, "fe80::1", "ff02::1:ff00:3", "2001:db8::2", device, 255), "", false},
		{"NS from a group", ns(nil, "ff02::1", group2, "2001:db8::2", device, 255), "", false},
		{"NS with the MAC address of a group", ns(nil, "fe80::1", group2, "2001:db8::2", multi, 255), "", false},
		{"NS from nowhere with a MAC address", ns(nil, "::", group2, "2001:db8::2", device, 255), "", false},
		{"NS from nowhere to one", frame(t, port, device, nil, join(v6("::", "2001:db8::2", 255), solicit("2001:db8::2", nobody))...), "", false},
		{"NS with an empty option", frame(t, multi, device, nil, join(v6("fe80::1", group2, 255), icmp6(135, solicit("2001:db8::2", device)[1], gopacket.Payload("\x01\x00......")))...), "", false},
		{"NS cut short", frame(t, multi, device, nil, join(v6("fe80::1", group2, 255), icmp6(135, gopacket.Payload("\x00\x00\x00\x00 2001:db8::2")))...), "", false},
		{"NS in part", ns(nil, "fe80::1", group2, "2001:db8::2", device, 255)[:80], "", false},
		{"NS for the gateway", ns(nil, "2001:db8::9", "ff02::1:ff00:1", "fe80::1", device, 255), "", false},
		{"NS of who says to be us", ns(nil, "2001:db8::2", group2, "2001:db8::2", device, 255), "", false},
		{"NS of this port", frame(t, multi, port, nil, join(v6("2001:db8::2", group2, 255), solicit("2001:db8::2", port))...), "", true},
		{"NS of another port", frame(t, multi, other, nil, join(v6("2001:db8::9", group2, 255), solicit("2001:db8::2", other))...),
			"02:00:00:00:00:01>02:00:00:00:00:02 2001:db8::2>2001:db8::9 hops 255" + na, true},
		{"NA of another port", frame(t, [6]byte{0x33, 0x33, 0, 0, 0, 1}, other, nil, join(v6("2001:db8::9", "ff02::1", 255), advertise("2001:db8::9", 0x20, other))...), "", true},

		{"ping", ping(port, "198.18.0.1", "198.18.0.2"), to9 + ` 198.18.0.2>198.18.0.1 ttl 64 tos 32 EchoReply id 7 seq 8 "hello"`, false},
		{"ping from afar", ping(port, "8.8.8.8", "198.18.0.2"), to9 + ` 198.18.0.2>8.8.8.8 ttl 64 tos 32 EchoReply id 7 seq 8 "hello"`, false},
		{"ping of an end of a stream", ping(port, "198.18.0.1", "198.18.9.9"), to9 + ` 198.18.9.9>198.18.0.1 ttl 64 tos 32 EchoReply id 7 seq 8 "hello"`, false},
		{"ping with options", frame(t, port, device, nil, join(options, icmp(8, "hello"))...), to9 + ` 198.18.0.2>198.18.0.1 ttl 64 tos 32 EchoReply id 7 seq 8 "hello"`, false},
		{"ping to all", ping(all, "198.18.0.1", "198.18.0.2"), "", false},
		{"ping to somebody else", ping(stray, "198.18.0.1", "198.18.0.2"), "", false},
		{"ping of the gateway", ping(port, "198.18.0.9", "198.18.0.1"), "", false},
		{"ping from nowhere", ping(port, "0.0.0.0", "198.18.0.2"), "", false},
		{"ping from a group", ping(port, "224.0.0.1", "198.18.0.2"), "", false},
		{"ping from everybody", ping(port, "255.255.255.255", "198.18.0.2"), "", false},
		{"ping from who says to be us", ping(port, "198.18.0.2", "198.18.0.2"), "", false},
		{"ping from the MAC address of a group", change(ping(port, "198.18.0.1", "198.18.0.2"), 6, 3), "", false},
		{"ping from this port", frame(t, port, port, nil, join(v4("198.18.0.9", "198.18.0.2", 1), icmp(8, "hello"))...), "", false},
		{"ping with a wrong checksum", change(ping(port, "198.18.0.1", "198.18.0.2"), 42, 'x'), "", false},
		{"ping with a wrong checksum of IP", change(ping(port, "198.18.0.1", "198.18.0.2"), 22, 8), "", false},
		{"ping in fragments", frame(t, port, device, nil, join(fragment, icmp(8, "hello"))...), "", false},
		{"ping cut short", ping(port, "198.18.0.1", "198.18.0.2")[:46], "", false},
		{"ping of an unknown code", frame(t, port, device, nil, v4("198.18.0.1", "198.18.0.2", 1), &layers.ICMPv4{TypeCode: 0x0801}), "", false},
		{"UDP like a ping", frame(t, port, device, nil, join(v4("198.18.0.1", "198.18.0.2", 17), icmp(8, "hello"))...), "", false},
		{"echo reply", frame(t, port, device, nil, join(v4("198.18.0.1", "198.18.0.2", 1), icmp(0, "hello"))...), "", false},
		{"ping of IPv6", ping6(port, "fe80::1", "2001:db8::2"), to9 + ` 2001:db8::2>fe80::1 hops 64 EchoReply id 7 seq 8 "hello"`, false},
		{"ping of IPv6 to a group", frame(t, [6]byte{0x33, 0x33, 0, 0, 0, 1}, device, nil, join(v6("fe80::1", "ff02::1", 1), echo6(128, ""))...), "", false},
		{"ping of IPv6 to somebody else", ping6(stray, "fe80::1", "2001:db8::2"), "", false},
		{"ping of IPv6 from nowhere", ping6(port, "::", "2001:db8::2"), "", false},
		{"ping of IPv6 from this port", frame(t, port, port, nil, join(v6("2001:db8::9", "2001:db8::2", 9), echo6(128, ""))...), "", false},
		{"ping of IPv6 with a wrong checksum", change(ping6(port, "fe80::1", "2001:db8::2"), 62, 'x'), "", false},
		{"ping of IPv6 of an unknown code", frame(t, port, device, nil, v6("fe80::1", "2001:db8::2", 64), &layers.ICMPv6{TypeCode: 0x8001}, gopacket.Payload("....")), "", false},
		{"ping of IPv6 of four bytes", frame(t, port, device, nil, v6("fe80::1", "2001:db8::2", 64), &layers.ICMPv6{TypeCode: 0x8000}), "", false},
		{"UDP like a ping of IPv6", frame(t, port, device, nil, join(udp6, echo6(128, "hello"))...), "", false},
		{"echo reply of IPv6", frame(t, port, device, nil, join(v6("fe80::1", "2001:db8::2", 9), echo6(129, "hello"))...), "", false},

		{"UDP", frame(t, port, device, nil, v4("198.18.0.1", "198.18.0.2", 17), &layers.UDP{SrcPort: 1, DstPort: 2}), "", false},
		{"UDP of this port", frame(t, device, port, nil, v4("198.18.0.2", "198.18.0.1", 17), &layers.UDP{SrcPort: 1, DstPort: 2}), "", false},
		{"no whole header", make([]byte, 13), "", false},
		{"a VLAN tag cut short", []byte("\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x09\x81\x00\x00\x07"), "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := neigh.NewHost(o)
			if own := h.Hear(tt.frame, 42); own != tt.own {
				t.Errorf("own = %v, want %v", own, tt.own)
			}
			got := sent(t, h)
			if want := strings.Fields(tt.want); len(got) > 1 || !slices.Equal(strings.Fields(strings.Join(got, "")), want) {
				t.Errorf("answer\n%q, want\n%q", got, tt.want)
			}
			answers := h.Counts().ARP + h.Counts().ND + h.Counts().Ping
			if answers != int64(len(got)) || h.Counts().Dropped != 0 {
				t.Errorf("%d answers counted as %+v", len(got), h.Counts())
			}
		})
	}
}
