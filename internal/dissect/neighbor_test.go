package dissect

import (
	"net/netip"
	"testing"
)

func TestQuestionAndBinding(t *testing.T) {
	solicit := func(src string) []byte {
		return etherIP(t, src, "ff02::1:ff00:2", 58, join(unhex(t, "8700 0000 00000000"), address("fd10::2")))
	}
	advert := etherIP(t, "fd10::2", "ff02::1", 58, join(unhex(t, "8800 0000 20000000"), address("fd10::2"), unhex(t, "0201 001b21aa0001")))
	noMAC := arp(1, "198.19.0.1", "198.19.0.2")
	clear(noMAC[22:28])
	for _, tt := range []struct {
		name          string
		frame         []byte
		target, asker string // "": no question, or a probe
		nd            bool
		bound         string // "": none
	}{
		{"ARP request", arp(1, "198.19.0.1", "198.19.0.2"), "198.19.0.2", "198.19.0.1", false, "198.19.0.1 00:1b:21:aa:00:02"},
		{"in a VLAN", tagged(arp(1, "198.19.0.1", "198.19.0.2"), 9), "198.19.0.2", "198.19.0.1", false, "198.19.0.1 00:1b:21:aa:00:02"},
		{"ARP probe", arp(1, "0.0.0.0", "198.19.0.2"), "198.19.0.2", "", false, ""},
		{"ARP announcement", arp(1, "198.19.0.1", "198.19.0.1"), "", "", false, "198.19.0.1 00:1b:21:aa:00:02"},
		{"ARP reply", arp(2, "198.19.0.1", "198.19.0.2"), "", "", false, "198.19.0.1 00:1b:21:aa:00:02"},
		{"ARP from no MAC address", noMAC, "198.19.0.2", "198.19.0.1", false, ""},
		{"ARP, cut", arp(1, "198.19.0.1", "198.19.0.2")[:41], "", "", false, ""},
		{"ARP, another operation", arp(9, "198.19.0.1", "198.19.0.2"), "", "", false, ""},
		{"solicitation", solicit("fd10::1"), "fd10::2", "fd10::1", true, "fd10::1 00:1b:21:aa:00:02"},
		{"duplicate address detection", solicit("::"), "fd10::2", "", true, ""},
		{"advertisement", advert, "", "", false, "fd10::2 00:1b:21:aa:00:01"},
		{"UDP", etherIP(t, "10.0.0.1", "10.0.0.2", 17, udp(t, 1, 2, nil)), "", "", false, ""},
		{"nothing", nil, "", "", false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			target, asker, from, nd, ok := Question(tt.frame)
			if ok != (tt.target != "") || nd != tt.nd || ok && (target.String() != tt.target || asker.IsValid() != (tt.asker != "")) ||
				asker.IsValid() && asker.String() != tt.asker {
				t.Errorf("Question = %v, asked by %v at %s, nd %v, ok %v; want %q by %q, nd %v", target, asker, mac(from[:]), nd, ok, tt.target, tt.asker, tt.nd)
			}
			got := ""
			if who, ip, ok := Binding(tt.frame); ok {
				got = ip.String() + " " + mac(who[:])
			} else if ip != (netip.Addr{}) || who != [6]byte{} {
				t.Errorf("Binding is not ok and %v at %x", ip, who)
			}
			if got != tt.bound {
				t.Errorf("Binding = %q, want %q", got, tt.bound)
			}
		})
	}
}

func TestRole(t *testing.T) {
	for _, tt := range []struct {
		name  string
		frame []byte
		want  string
	}{
		{"spanning tree", ether(38, unhex(t, "424203"+bridges)), "STP"},
		{"spanning tree of a VLAN", tagged(ether(50, unhex(t, "aaaa0300000c010b"+bridges)), 5), "STP"},
		{"CDP", ether(50, unhex(t, "aaaa0300000c2000")), ""},
		{"802.1X", ether(0x888e, []byte{1, 1}), "802.1X"},
		{"LLDP", ether(0x88cc, nil), "LLDP"},
		{"ARP", arp(1, "10.0.0.1", "10.0.0.2"), ""},
		{"nothing", nil, ""},
	} {
		if got := Role(tt.frame); got != tt.want {
			t.Errorf("%s: Role = %q, want %q", tt.name, got, tt.want)
		}
	}
}
