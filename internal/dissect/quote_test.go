package dissect

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// quotes are ICMP's answers to a packet from 10.9.0.2 to 10.2.0.9, or from fd10::2 to fd20::9.
func quotes(t testing.TB) (packet4, packet6 []byte, v4, v6 func(head string, rest ...[]byte) []byte) {
	packet4 = ip(t, "10.9.0.2", "10.2.0.9", 17, udp(t, 7, 9, nil))
	packet6 = ip(t, "fd10::2", "fd20::9", 17, udp(t, 7, 9, nil))
	v4 = func(head string, rest ...[]byte) []byte {
		return etherIP(t, "10.1.1.1", "10.9.0.2", 1, join(unhex(t, head), join(rest...)))
	}
	v6 = func(head string, rest ...[]byte) []byte {
		return etherIP(t, "fd10::1", "fd10::2", 58, join(unhex(t, head), join(rest...)))
	}
	return packet4, packet6, v4, v6
}

func quoteSamples(t testing.TB) []sample {
	p4, p6, v4, v6 := quotes(t)
	redirect := join(address("fd10::99"), address("fd20::9"), unhex(t, "0407 0000 00000000"), p6)
	return []sample{
		{"net unreachable", v4("0300 0000 00000000", p4), "ICMP 10.1.1.1 says 10.2.0.9 unreachable (net)"},
		{"port unreachable", v4("0303 0000 00000000", p4), "ICMP 10.1.1.1 says 10.2.0.9 unreachable (port)"},
		{"prohibited", v4("030d 0000 00000000", p4), "ICMP 10.1.1.1 says 10.2.0.9 unreachable (prohibited)"},
		{"unreachable, unknown", v4("0310 0000 00000000", p4), "ICMP 10.1.1.1 says 10.2.0.9 unreachable (code 16)"},
		{"fragmentation needed", v4("0304 0000 0000 0578", p4), "ICMP fragmentation needed, MTU 1400, from 10.1.1.1 (to 10.2.0.9)"},
		{"source quench", v4("0400 0000 00000000", p4), "ICMP source quench from 10.1.1.1 (to 10.2.0.9)"},
		{"redirect", v4("0501 0000 0a010163", p4), "ICMP redirect from 10.1.1.1: 10.2.0.9 via 10.1.1.99"},
		{"time exceeded", v4("0b00 0000 00000000", p4), "ICMP time exceeded from 10.1.1.1 (to 10.2.0.9)"},
		{"time exceeded, extended", v4("0b00 0000 00070000", p4, make([]byte, 90)), "ICMP time exceeded from 10.1.1.1 (to 10.2.0.9)"},
		{"reassembly", v4("0b01 0000 00000000", p4), "ICMP time exceeded in reassembly from 10.1.1.1 (to 10.2.0.9)"},
		{"parameter problem", v4("0c00 0000 00000000", p4), "ICMP parameter problem from 10.1.1.1 (to 10.2.0.9)"},
		{"IPv6 in ICMP", v4("0300 0000 00000000", p6), "ICMP unreachable (net) from 10.1.1.1, quoting nothing"},
		{"no route", v6("0100 0000 00000000", p6), "ICMPv6 fd10::1 says fd20::9 unreachable (no route)"},
		{"packet too big", v6("0200 0000 00000578", p6), "ICMPv6 packet too big, MTU 1400, from fd10::1 (to fd20::9)"},
		{"hop limit", v6("0300 0000 00000000", p6), "ICMPv6 time exceeded from fd10::1 (to fd20::9)"},
		{"parameter problem of IPv6", v6("0401 0000 00000006", p6), "ICMPv6 parameter problem from fd10::1 (to fd20::9)"},
		{"redirect of IPv6", v6("8900 0000 00000000", redirect), "ICMPv6 redirect from fd10::1: fd20::9 via fd10::99"},
		{"redirect of IPv6, cut", v6("8900 0000 00000000", redirect[:32]), "ICMPv6 redirect from fd10::1, quoting nothing"},
	}
}

func TestQuoted(t *testing.T) {
	p4, p6, v4, v6 := quotes(t)
	from4, from6 := netip.MustParseAddr("10.1.1.1"), netip.MustParseAddr("fd10::1")
	redirect := join(address("fd10::99"), address("fd20::9"), unhex(t, "0201 001b21aa0001 0407 0000 00000000"), p6)
	for _, tt := range []struct {
		name  string
		frame []byte
		want  Quote // Packet nil: not ok
	}{
		{"unreachable", v4("0303 0000 00000000", p4), Quote{Type: 3, Code: 3, From: from4, Packet: p4}},
		{"in a VLAN", tagged(v4("0303 0000 00000000", p4), 7), Quote{Type: 3, Code: 3, From: from4, Packet: p4}},
		{"header and 8 bytes", v4("0303 0000 00000000", p4[:28]), Quote{Type: 3, Code: 3, From: from4, Packet: p4[:28]}},
		{"header, cut", v4("0303 0000 00000000", p4[:19]), Quote{}},
		{"fragmentation needed", v4("0304 0000 0000 0578", p4), Quote{Type: 3, Code: 4, From: from4, MTU: 1400, Packet: p4}},
		{"with extensions", v4("0b00 0000 00070000", p4, make([]byte, 90)), Quote{Type: 11, From: from4, Packet: p4}},
		{"longer than it is", v4("0b00 0000 00ff0000", p4), Quote{Type: 11, From: from4, Packet: p4}},
		{"redirect", v4("0501 0000 0a010163", p4), Quote{Type: 5, Code: 1, From: from4, Gateway: netip.MustParseAddr("10.1.1.99"), Packet: p4}},
		{"no route, IPv6 with extensions", v6("0100 0000 06000000", p6, make([]byte, 90)), Quote{Type: 1, V6: true, From: from6, Packet: p6}},
		{"too big, IPv6", v6("0200 0000 00000578", p6), Quote{Type: 2, V6: true, From: from6, MTU: 1400, Packet: p6}},
		{"redirect, IPv6", v6("8900 0000 00000000", redirect), Quote{Type: 137, V6: true, From: from6, Gateway: netip.MustParseAddr("fd10::99"), Packet: p6}},
		{"redirect, IPv6, quoting nothing", v6("8900 0000 00000000", redirect[:40]), Quote{}},
		{"IPv6 in ICMP", v4("0300 0000 00000000", p6), Quote{}},
		{"ping", v4("0800 0000 00000000", p4), Quote{}},
		{"ICMPv6 in IPv4", etherIP(t, "10.1.1.1", "10.9.0.2", 58, join(unhex(t, "0100 0000 00000000"), p4)), Quote{}},
		{"UDP", ether(0x0800, p4), Quote{}},
		{"nothing", nil, Quote{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q, ok := Quoted(tt.frame)
			if diff := cmp.Diff(tt.want, q, cmpopts.EquateComparable(netip.Addr{})); ok != (tt.want.Packet != nil) || diff != "" {
				t.Errorf("Quoted %v, -want +got:\n%s", ok, diff)
			}
		})
	}
}

func TestReason(t *testing.T) {
	for _, tt := range []struct {
		v6         bool
		kind, code uint8
		want       string
	}{
		{false, 3, 9, "unreachable (net prohibited)"}, {true, 1, 6, "unreachable (route rejects)"}, {true, 1, 7, "unreachable (code 7)"},
		{false, 8, 0, ""}, {true, 128, 0, ""}, {true, 137, 0, "redirect"}, {false, 3, 4, "fragmentation needed"}, {true, 2, 0, "packet too big"},
	} {
		if got := Reason(tt.v6, tt.kind, tt.code); got != tt.want {
			t.Errorf("Reason(%v, %d, %d) = %q, want %q", tt.v6, tt.kind, tt.code, got, tt.want)
		}
	}
}

// FuzzQuoted: what is quoted is a part of the frame and an IP packet of the message's version.
func FuzzQuoted(f *testing.F) {
	for _, s := range quoteSamples(f) {
		f.Add(s.frame)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		before := slices.Clone(b)
		q, ok := Quoted(b)
		if !slices.Equal(b, before) {
			t.Fatal("the frame was changed")
		}
		if !ok {
			if q.Packet != nil || q.From.IsValid() {
				t.Fatalf("not ok, and %+v", q)
			}
			return
		}
		if version := q.Packet[0] >> 4; version != 6 && q.V6 || version != 4 && !q.V6 || q.From.Is6() != q.V6 {
			t.Fatalf("version %d, from %v, v6 %v", version, q.From, q.V6)
		}
		if reason := Reason(q.V6, q.Type, q.Code); reason == "" || q.Gateway.IsValid() != (reason == "redirect") {
			t.Fatalf("reason %q, gateway %v", reason, q.Gateway)
		}
		if q.MTU != 0 && !TooBig(q.V6, q.Type, q.Code) {
			t.Fatalf("an MTU of %d with type %d, code %d", q.MTU, q.Type, q.Code)
		}
		if len(q.Packet) > len(b)-14-20-8 || !within(b, q.Packet) {
			t.Fatalf("%d bytes of %d are no part of the frame", len(q.Packet), len(b))
		}
	})
}

// within says whether part lies in b, not in a copy.
func within(b, part []byte) bool {
	for i := range b {
		if &b[i] == &part[0] {
			return i+len(part) <= len(b)
		}
	}
	return false
}
