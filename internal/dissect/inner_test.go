package dissect

import (
	"slices"
	"testing"

	"loadtest/packet"
)

func tunnels(t testing.TB) []struct {
	name  string
	frame []byte
	want  string // of what Line says of the inner frame; "": nobody can look inside
} {
	packet4 := ip(t, "10.9.0.2", "10.2.0.9", 17, udp(t, 7, 9, make([]byte, 30)))
	packet6 := ip(t, "fd10::2", "fd20::9", 17, udp(t, 7, 9, make([]byte, 30)))
	whole := ether(0x0800, packet4)
	outer := func(proto byte, parts ...[]byte) []byte {
		return etherIP(t, "10.0.0.1", "10.0.0.2", proto, join(parts...))
	}
	over := func(port uint16, parts ...[]byte) []byte { return outer(17, udp(t, 5000, port, join(parts...))) }
	x := func(s string) []byte { return unhex(t, s) }
	const line4, line6 = "UDP 10.9.0.2:7 → 10.2.0.9:9, 76 B", "UDP [fd10::2]:7 → [fd20::9]:9, 96 B"
	return []struct {
		name  string
		frame []byte
		want  string
	}{
		{"GRE", outer(47, x("0000 0800"), packet4), line4},
		{"GRE", outer(47, x("2000 86dd 00000007"), packet6), line6},
		{"GRE", outer(47, x("b000 0800 00000000 00000007 00000001"), packet4), line4},
		{"GRE", outer(47, x("2000 6558 00000700"), whole), line4},
		{"GRE", outer(47, x("0000 8847 00010140"), packet4), "MPLS, 80 B from 00:1b:21:aa:00:02"},
		{"GRE", outer(47, x("2001 880b 00000000")), ""},
		{"GRE", outer(47, x("b000 0800 0000")), ""},
		{"GRE", outer(47, x("0000")), ""},
		{"IP in IP", outer(4, packet4), line4},
		{"IP in IP", outer(41, packet6), line6},
		{"IP in IP", etherIP(t, "fd00::1", "fd00::2", 4, packet4), line4},
		{"VXLAN", over(4789, x("0800000000000700"), whole), line4},
		{"VXLAN", over(4789, x("0800000000000700 0102")), ""},
		{"Geneve", over(6081, x("0000655800000700"), whole), line4},
		{"Geneve", over(6081, x("0100080000000700 00000000"), packet4), line4},
		{"Geneve", over(6081, x("3f00080000000700")), ""},
		{"MPLS", ether(0x8847, join(x("00010040 00020140"), packet4)), line4},
		{"MPLS", ether(0x8847, join(x("00010140"), packet6)), line6},
		{"MPLS", ether(0x8847, join(x("00010140 00000000"), whole)), line4},
		{"MPLS", ether(0x8847, join(x("00010140"), x("101122334455"), whole[6:])), line4},
		{"MPLS", ether(0x8847, x("00010040"))[:18], ""},
		{"PPPoE", ether(0x8864, join(x("1100 0001 003c 0021"), packet4)), line4},
		{"PPPoE", ether(0x8864, join(x("1100 0001 0050 0057"), packet6)), line6},
		{"PPPoE", ether(0x8864, x("1100 0001 0004 c021")), ""},
		{"L2TPv3", outer(115, x("00000001 0123456789abcdef"), whole), line4},
		{"L2TPv3", outer(115, x("00000001 01234567"), whole), line4},
		{"L2TPv3", outer(115, x("00000001"), whole), line4},
		{"L2TPv3", outer(115, x("00000001")), ""},
		{"ESP", outer(50, packet4), ""},
		{"AH", outer(51, packet4), ""},
		{"ESP in UDP", over(4500, x("00000101 00000001"), packet4), ""},
		{"MACsec", ether(0x88e5, nil), ""},
	}
}

func TestInner(t *testing.T) {
	for _, tt := range tunnels(t) {
		t.Run(tt.name, func(t *testing.T) {
			for _, b := range [][]byte{tt.frame, tagged(tt.frame, 7)} {
				name, inner, ok := Inner(b)
				if !ok || name != tt.name || (inner == nil) != (tt.want == "") {
					t.Fatalf("Inner(%q) = %q, %x, %v; want %q", Line(b), name, inner, ok, tt.name)
				}
				if inner != nil && Line(inner) != tt.want {
					t.Errorf("inside is %q, want %q", Line(inner), tt.want)
				}
			}
		})
	}
}

func TestInnerOfNoTunnel(t *testing.T) {
	fragment := etherIP(t, "10.0.0.1", "10.0.0.2", 4, make([]byte, 40))
	fragment[20] = 0x20
	for _, tt := range []struct {
		name  string
		frame []byte
	}{
		{"UDP", etherIP(t, "10.0.0.1", "10.0.0.2", 17, udp(t, 1, 2, make([]byte, 40)))},
		{"IKE", etherIP(t, "10.0.0.1", "10.0.0.2", 17, udp(t, 4500, 4500, make([]byte, 40)))},
		{"keepalive of NAT", etherIP(t, "10.0.0.1", "10.0.0.2", 17, udp(t, 4500, 4500, []byte{0xff}))},
		{"VXLAN, cut", etherIP(t, "10.0.0.1", "10.0.0.2", 17, udp(t, 1, 4789, []byte{8}))},
		{"a fragment", fragment},
		{"ARP", arp(1, "10.0.0.1", "10.0.0.2")},
		{"IPv4, cut", ether(0x0800, nil)},
		{"nothing", nil},
	} {
		if name, inner, ok := Inner(tt.frame); ok || inner != nil || name != "" {
			t.Errorf("%s: Inner = %q, %x, %v; want none", tt.name, name, inner, ok)
		}
	}
}

// FuzzInner: each layer is named, and what is inside is a shorter frame, so that taking off layers comes to an end.
func FuzzInner(f *testing.F) {
	for _, s := range tunnels(f) {
		f.Add(s.frame)
		f.Add(slices.Concat(s.frame[:12], []byte{0x88, 0x47, 0, 1, 1, 0x40}, s.frame[14:]))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		before := slices.Clone(b)
		for at := b; at != nil; {
			name, inner, ok := Inner(at)
			if ok != (name != "") || !ok && inner != nil {
				t.Fatalf("Inner = %q, %x, %v", name, inner, ok)
			}
			if inner != nil && (len(inner) >= len(at) || len(inner) < packet.EtherLen) {
				t.Fatalf("%d bytes in %d of %s", len(inner), len(at), name)
			}
			at = inner
		}
		if !slices.Equal(b, before) {
			t.Fatal("the frame was changed")
		}
	})
}
