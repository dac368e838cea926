package dissect

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// A sample is a frame with the line about it.
type sample struct {
	name  string
	frame []byte
	want  string
}

func linkSamples(t testing.TB) []sample {
	return []sample{
		{"ARP request", arp(1, "198.19.0.1", "198.19.0.2"), "ARP who-has 198.19.0.2 from 00:1b:21:aa:00:02 (198.19.0.1)"},
		{"ARP probe", arp(1, "0.0.0.0", "198.19.0.2"), "ARP who-has 198.19.0.2 from 00:1b:21:aa:00:02"},
		{"ARP reply", arp(2, "10.0.0.1", "10.0.0.9"), "ARP 10.0.0.1 is-at 00:1b:21:aa:00:02"},
		{"ARP announcement", arp(1, "10.0.0.9", "10.0.0.9"), "ARP announcement 10.0.0.9 from 00:1b:21:aa:00:02"},
		{"gratuitous ARP reply", arp(2, "10.0.0.9", "10.0.0.9"), "ARP announcement 10.0.0.9 from 00:1b:21:aa:00:02"},
		{"ARP in a VLAN", tagged(arp(1, "198.19.0.1", "198.19.0.2"), 20), "VLAN 20: ARP who-has 198.19.0.2 from 00:1b:21:aa:00:02 (198.19.0.1)"},
		{"ARP in two VLANs", tagged(tagged(arp(2, "10.0.0.1", "10.0.0.9"), 20), 10), "VLAN 10.20: ARP 10.0.0.1 is-at 00:1b:21:aa:00:02"},
		{"ARP of another kind", ether(0x0806, []byte{0, 6, 8, 0}), "ARP, 64 B from 00:1b:21:aa:00:02"},
		{"RARP", ether(0x8035, unhex(t, "0001 0800 06 04 0003 001b21aa0002 00000000 001b21aa0003 00000000")),
			"RARP who-is 00:1b:21:aa:00:03 from 00:1b:21:aa:00:02"},
		{"RARP answer", ether(0x8035, unhex(t, "0001 0800 06 04 0004 001b21aa0002 0a000001 001b21aa0003 0a000007")), "RARP 00:1b:21:aa:00:03 is 10.0.0.7"},
		{"LLDP", ether(0x88cc, unhex(t, "0207 04 001b21aa0001  0408 05 4769302f332020  0602 0078  0a08 636f72652d737731  0000")), "LLDP core-sw1 Gi0/3"},
		{"LLDP without a name", ether(0x88cc, unhex(t, "0207 04 001b21aa0001  0407 03 001b21aa0009  0602 0078  0000")),
			"LLDP 00:1b:21:aa:00:01 00:1b:21:aa:00:09"},
		{"LLDP, port by description", ether(0x88cc, unhex(t, "0207 04 001b21aa0001  0407 03 001b21aa0009  0803 657468  0a02 7377 0000")), "LLDP sw eth"},
		{"LLDP, chassis by address", ether(0x88cc, unhex(t, "0206 05 01 0a000001  0402 07 37 0000")), "LLDP 10.0.0.1 7"},
		{"LLDP with bytes that do not print", ether(0x88cc, unhex(t, "0a09 1b5b326a 0a 3c e280ae 0000")), "LLDP ?[2j?<?"},
		{"LLDP, nothing in it", ether(0x88cc, nil), "LLDP from 00:1b:21:aa:00:02"},
		{"LLDP, cut", ether(0x88cc, unhex(t, "fff 0")), "LLDP from 00:1b:21:aa:00:02"},
		{"LLDP with a long name", ether(0x88cc, append([]byte{10, 200}, strings.Repeat("x", 200)...)), "LLDP " + strings.Repeat("x", 31) + "…"},
		{"spanning tree", ether(38, unhex(t, "424203"+bridges)), "STP root 8000.00:1b:21:aa:00:01, bridge 8001.00:1b:21:aa:00:02, port 8003"},
		{"spanning tree of a VLAN", tagged(ether(50, unhex(t, "aaaa0300000c010b"+bridges)), 5),
			"VLAN 5: STP root 8000.00:1b:21:aa:00:01, bridge 8001.00:1b:21:aa:00:02, port 8003"},
		{"topology change", ether(7, unhex(t, "424203 0000 00 80")), "STP topology change from 00:1b:21:aa:00:02"},
		{"spanning tree, cut", ether(38, unhex(t, "424203"))[:20], "STP from 00:1b:21:aa:00:02"},
		{"CDP", ether(40, unhex(t, "aaaa0300000c2000 02b40000 0001 0007 737731 0003 0009 4769302f33")), "CDP sw1 Gi0/3"},
		{"IS-IS", ether(20, unhex(t, "fefe03")), "IS-IS, 64 B from 00:1b:21:aa:00:02"},
		{"another LLC", ether(20, unhex(t, "e0e003")), "LLC 0xe0, 64 B from 00:1b:21:aa:00:02"},
		{"LLC, cut", ether(20, nil)[:14], "LLC, 64 B from 00:1b:21:aa:00:02"},
		{"802.1X start", ether(0x888e, unhex(t, "01 01 0000")), "802.1X EAPOL start from 00:1b:21:aa:00:02"},
		{"802.1X asks", ether(0x888e, unhex(t, "01 00 0005 01 01 0005 01")), "802.1X EAP identity request from 00:1b:21:aa:00:02"},
		{"802.1X refuses", ether(0x888e, unhex(t, "01 00 0004 04 01 0004")), "802.1X EAP failure from 00:1b:21:aa:00:02"},
		{"802.1X, MACsec", ether(0x888e, unhex(t, "03 05 0004")), "802.1X MACsec key agreement from 00:1b:21:aa:00:02"},
		{"802.1X, unknown", ether(0x888e, unhex(t, "03 09 0004")), "802.1X EAPOL from 00:1b:21:aa:00:02"},
		{"LACP", ether(0x8809, unhex(t, "01 01 01 14 8000 001b21aa0001 0011 8000 0003 3d 000000")), "LACP system 00:1b:21:aa:00:01, port 3"},
		{"slow protocol", ether(0x8809, unhex(t, "03")), "slow protocol, 64 B from 00:1b:21:aa:00:02"},
		{"PTP", ether(0x88f7, nil), "PTP, 64 B from 00:1b:21:aa:00:02"},
		{"unknown", ether(0x1234, nil), "EtherType 0x1234, 64 B from 00:1b:21:aa:00:02"},
		{"cut in its VLAN tag", tagged(ether(0x0800, nil), 1)[:15], "cut in its VLAN tags, 64 B from 00:1b:21:aa:00:02"},
		{"too short", []byte{1, 2, 3}, "3 B, too short for Ethernet"},
		{"empty", nil, "0 B, too short for Ethernet"},
	}
}

func ipSamples(t testing.TB) []sample {
	data := make([]byte, 51)
	dhcp := func(op, kind byte) []byte {
		p := make([]byte, 240)
		p[0] = op
		copy(p[16:], []byte{10, 0, 0, 7})
		copy(p[28:], device)
		return append(p, 0, 61, 1, 0, 53, 1, kind, 255)
	}
	nd := func(src string, kind byte, rest ...[]byte) []byte {
		return etherIP(t, src, "ff02::1", 58, join([]byte{kind, 0, 0, 0, 0, 0, 0, 0}, join(rest...)))
	}
	routerMAC := func(option byte) []byte { return join([]byte{option, 1}, router) }
	fragment := etherIP(t, "10.0.0.1", "10.0.0.2", 17, data)
	fragment[20] = 0x20
	return []sample{
		{"UDP", etherIP(t, "10.0.0.1", "10.0.0.2", 17, udp(t, 53, 4000, data)), "UDP 10.0.0.1:53 → 10.0.0.2:4000, 97 B"},
		{"UDP of IPv6", etherIP(t, "fd00::1", "fd00::2", 17, udp(t, 53, 4000, data)), "UDP [fd00::1]:53 → [fd00::2]:4000, 117 B"},
		{"UDP, cut", etherIP(t, "10.0.0.1", "10.0.0.2", 17, udp(t, 53, 4000, data))[:38], "UDP 10.0.0.1 → 10.0.0.2, 64 B"},
		{"mDNS", etherIP(t, "10.0.0.1", "224.0.0.251", 17, udp(t, 5353, 5353, data)), "mDNS 10.0.0.1:5353 → 224.0.0.251:5353, 97 B"},
		{"DHCP", etherIP(t, "0.0.0.0", "255.255.255.255", 17, udp(t, 68, 67, dhcp(1, 1))), "DHCP discover from 00:1b:21:aa:00:02"},
		{"DHCP server", etherIP(t, "10.0.0.1", "255.255.255.255", 17, udp(t, 67, 68, dhcp(2, 2))), "DHCP offer 10.0.0.7 from 10.0.0.1"},
		{"DHCP, cut", etherIP(t, "0.0.0.0", "255.255.255.255", 17, udp(t, 68, 67, data)), "DHCP, 97 B from 00:1b:21:aa:00:02"},
		{"DHCPv6", etherIP(t, "fe80::1", "ff02::1:2", 17, udp(t, 546, 547, []byte{1, 0, 0, 1})), "DHCPv6 solicit from fe80::1"},
		{"DHCPv6, unknown", etherIP(t, "fe80::1", "ff02::1:2", 17, udp(t, 546, 547, nil)), "DHCPv6, 66 B from fe80::1"},
		{"IKE", etherIP(t, "10.0.0.1", "10.0.0.2", 17, udp(t, 500, 500, data)), "IKE 10.0.0.1:500 → 10.0.0.2:500, 97 B"},
		{"IKE behind NAT", etherIP(t, "10.0.0.1", "10.0.0.2", 17, udp(t, 4500, 4500, data)), "IKE 10.0.0.1:4500 → 10.0.0.2:4500, 97 B"},
		{"ESP in UDP", etherIP(t, "10.0.0.1", "10.0.0.2", 17, udp(t, 4500, 4500, append([]byte{0, 0, 1, 1}, data...))),
			"ESP in UDP 10.0.0.1 → 10.0.0.2, SPI 0x00000101, 101 B"},
		{"VXLAN", etherIP(t, "10.0.0.1", "10.0.0.2", 17, udp(t, 5000, 4789, unhex(t, "0800000000000700"))), "VXLAN 10.0.0.1 → 10.0.0.2, VNI 7, 64 B"},
		{"TCP", etherIP(t, "10.0.0.1", "10.0.0.2", 6, unhex(t, "0050 0fa0 00000000 00000000 5012 ffff 0000 0000")),
			"TCP 10.0.0.1:80 → 10.0.0.2:4000 SYN,ACK, 64 B"},
		{"TCP without flags", etherIP(t, "10.0.0.1", "10.0.0.2", 6, unhex(t, "0050 0fa0 00000000 00000000 5000 ffff 0000 0000")),
			"TCP 10.0.0.1:80 → 10.0.0.2:4000 no flags, 64 B"},
		{"ESP", etherIP(t, "10.0.0.1", "10.0.0.2", 50, append([]byte{0, 0, 1, 1}, data...)), "ESP 10.0.0.1 → 10.0.0.2, SPI 0x00000101, 93 B"},
		{"ESP of IPv6", etherIP(t, "fd00::1", "fd00::2", 50, append([]byte{0, 0, 1, 1}, data...)), "ESP fd00::1 → fd00::2, SPI 0x00000101, 113 B"},
		{"GRE", etherIP(t, "10.0.0.1", "10.0.0.2", 47, data), "GRE 10.0.0.1 → 10.0.0.2, 89 B"},
		{"OSPF", etherIP(t, "10.0.0.1", "224.0.0.5", 89, data), "OSPF 10.0.0.1 → 224.0.0.5, 89 B"},
		{"unknown protocol", etherIP(t, "fd00::1", "fd00::2", 200, data), "IP protocol 200 fd00::1 → fd00::2, 109 B"},
		{"fragment", fragment, "IP fragment 10.0.0.1 → 10.0.0.2, 89 B of UDP"},
		{"IPv4, cut", etherIP(t, "10.0.0.1", "10.0.0.2", 89, data)[:30], "IPv4, cut or broken, 64 B from 00:1b:21:aa:00:02"},
		{"IPv6, cut", etherIP(t, "fd00::1", "fd00::2", 89, data)[:30], "IPv6, cut or broken, 64 B from 00:1b:21:aa:00:02"},
		{"IGMP query", etherIP(t, "10.0.0.1", "224.0.0.1", 2, unhex(t, "11640000 00000000")), "IGMP query from 10.0.0.1"},
		{"IGMP report", etherIP(t, "10.0.0.1", "239.1.1.1", 2, unhex(t, "16000000 ef010101")), "IGMP report of 239.1.1.1 from 10.0.0.1"},
		{"IGMP leave", etherIP(t, "10.0.0.1", "224.0.0.2", 2, unhex(t, "17000000 ef010101")), "IGMP leave of 239.1.1.1 from 10.0.0.1"},
		{"IGMP version 3", etherIP(t, "10.0.0.1", "224.0.0.22", 2, unhex(t, "22000000 00000001 04000000 ef010101")), "IGMP report of 239.1.1.1 from 10.0.0.1"},
		{"IGMP version 3 without a group", etherIP(t, "10.0.0.1", "224.0.0.22", 2, unhex(t, "22000000 00000000")), "IGMP report from 10.0.0.1"},
		{"IGMP, unknown", etherIP(t, "10.0.0.1", "224.0.0.22", 2, unhex(t, "99000000 00000000")), "IGMP type 153 from 10.0.0.1"},
		{"IGMP, cut", etherIP(t, "10.0.0.1", "224.0.0.22", 2, []byte{0x11}), "IGMP from 10.0.0.1"},
		{"MLD query", nd("fe80::1", 130, address("::")), "MLD query from fe80::1"},
		{"MLD report", nd("fe80::1", 131, address("ff02::fb")), "MLD report of ff02::fb from fe80::1"},
		{"MLD version 2", etherIP(t, "fe80::1", "ff02::16", 0, join(unhex(t, "3a00 0502 0000 0100 8f000000 00000001 04000000"), address("ff02::fb"))),
			"MLD report of ff02::fb from fe80::1"},
		{"router solicitation", nd("fe80::1", 133), "ND router solicitation from fe80::1"},
		{"router advertisement", nd("fe80::1", 134, make([]byte, 8), routerMAC(1), unhex(t, "0304 40c0 00000000 00000000 00000000"), address("2001:2::")),
			"ND router advertisement from fe80::1, prefix 2001:2::/64"},
		{"router advertisement without a prefix", nd("fe80::1", 134, make([]byte, 8)), "ND router advertisement from fe80::1"},
		{"neighbour solicitation", nd("fd10::1", 135, address("fd10::2"), routerMAC(1)), "ND who-has fd10::2 from 00:1b:21:aa:00:01 (fd10::1)"},
		{"duplicate address detection", nd("::", 135, address("fd10::2")), "ND who-has fd10::2 from 00:1b:21:aa:00:02"},
		{"neighbour advertisement", nd("fd10::2", 136, address("fd10::2"), routerMAC(2)), "ND fd10::2 is-at 00:1b:21:aa:00:01"},
		{"ping", etherIP(t, "10.0.0.1", "10.0.0.2", 1, unhex(t, "0800 0000 00000000")), "ICMP ping 10.0.0.1 → 10.0.0.2"},
		{"ping reply", etherIP(t, "10.0.0.1", "10.0.0.2", 1, unhex(t, "0000 0000 00000000")), "ICMP ping reply 10.0.0.1 → 10.0.0.2"},
		{"ping of IPv6", nd("fd00::1", 128), "ICMPv6 ping fd00::1 → ff02::1"},
		{"ping reply of IPv6", nd("fd00::1", 129), "ICMPv6 ping reply fd00::1 → ff02::1"},
		{"ICMP timestamp", etherIP(t, "10.0.0.1", "10.0.0.2", 1, unhex(t, "0d00 0000 00000000")), "ICMP type 13 10.0.0.1 → 10.0.0.2, 64 B"},
		{"ICMP, cut", etherIP(t, "10.0.0.1", "10.0.0.2", 1, make([]byte, 20))[:35], "ICMP 10.0.0.1 → 10.0.0.2, cut, 64 B"},
		{"ICMP that quotes nothing", etherIP(t, "10.0.0.1", "10.0.0.2", 1, unhex(t, "0b00 0000 00000000")),
			"ICMP time exceeded from 10.0.0.1, quoting nothing"},
	}
}

func TestLine(t *testing.T) {
	for _, tt := range slices.Concat(linkSamples(t), ipSamples(t), quoteSamples(t)) {
		t.Run(tt.name, func(t *testing.T) {
			if got := Line(tt.frame); got != tt.want {
				t.Errorf("Line = %q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzLine: a line can be printed and is short; what it says of ARP and ND is what Question and Binding say.
func FuzzLine(f *testing.F) {
	for _, s := range slices.Concat(linkSamples(f), ipSamples(f), quoteSamples(f)) {
		f.Add(s.frame)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		line := Line(b)
		if n := utf8.RuneCountInString(line); n == 0 || n > 120 || !utf8.ValidString(line) {
			t.Fatalf("a line of %d characters: %q", n, line)
		}
		if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
			t.Fatalf("byte %d of %q cannot be printed", i, line)
		}
		target, asker, from, nd, asks := Question(b)
		_, bare, _ := strings.Cut(": "+line, ": ")
		if strings.HasPrefix(line, "VLAN ") {
			_, bare, _ = strings.Cut(line, ": ")
		}
		if said := strings.HasPrefix(bare, "ARP who-has ") || strings.HasPrefix(bare, "ND who-has "); said != asks {
			t.Fatalf("Question %v, line %q", asks, line)
		}
		if asks && (!target.IsValid() || target.Is6() != nd || !strings.Contains(line, target.String()+" from "+mac(from[:]))) {
			t.Fatalf("Question %v, nd %v, line %q", target, nd, line)
		}
		who, ip, ok := Binding(b)
		if ok && (!ip.IsValid() || ip.IsUnspecified() || who[0]&1 != 0) {
			t.Fatalf("binding %v to %x", ip, who)
		}
		if asks && ok && (ip != asker || who != from) {
			t.Fatalf("%v at %x asks, %v is at %x", asker, from, ip, who)
		}
		if role := Role(b); role != "" && !strings.HasPrefix(bare, role) {
			t.Fatalf("role %q, line %q", role, line)
		}
	})
}
