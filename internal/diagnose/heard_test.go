package diagnose

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

func TestHeard(t *testing.T) {
	arp := whoHas(t, "198.19.0.2", "198.19.0.1")
	other := whoHas(t, "198.19.0.3", "198.19.0.1")
	udp := ip4(t, layers.IPProtocolUDP, &layers.UDP{SrcPort: 7, DstPort: 9}, gopacket.Payload(make([]byte, 30)))
	tcp := ip4(t, layers.IPProtocolTCP, &layers.TCP{SrcPort: 7, DstPort: 9, SYN: true})
	nat := ip4(t, layers.IPProtocolUDP, &layers.UDP{SrcPort: 4500, DstPort: 4500}, gopacket.Payload("\x00\x00\x01\x01"+strings.Repeat("x", 46)))
	announcement := whoHas(t, "198.19.0.1", "198.19.0.1")
	for _, tt := range []struct {
		name string
		h    Heard
		want string
	}{
		{"nothing", heard(), "nothing"},
		{"a question, a switch", heard(31, arp, 2, lldp(t)), "31 ARP who-has 198.19.0.2 from 00:1b:21:aa:00:02, 2 LLDP (core-sw1 Gi0/3)"},
		{"several questions", heard(3, arp, 2, other), "5 ARP who-has (first 198.19.0.2 from 00:1b:21:aa:00:02)"},
		{"a question after an announcement", heard(9, announcement, 2, arp),
			"2 ARP who-has 198.19.0.2 from 00:1b:21:aa:00:02, 9 ARP (announcement 198.19.0.1 from 00:1b:21:aa:00:02)"},
		{"ND", heard(3, whoHas(t, "fd10::2", "fd10::1")), "3 ND who-has fd10::2 from 00:1b:21:aa:00:02"},
		{"what tells more is first", heard(50, udp, 1, bpdu(t), 2, eapol(t)),
			"2 802.1X (EAP identity request from 00:1b:21:aa:00:02), 1 STP (root 0000.00:00:00:00:00:00, bridge 0000.00:00:00:00:00:00, port 0000), 50 IPv4 UDP (198.19.0.1:7 → 198.19.0.2:9, 76 B)"},
		{"ESP", heard(100, esp(t)), "100 ESP (198.19.0.1 → 198.19.0.2, SPI 0x00000101, 88 B)"},
		{"ESP in UDP and UDP", heard(3, udp, 2, nat), "2 ESP in UDP (198.19.0.1 → 198.19.0.2, SPI 0x00000101, 96 B), 3 IPv4 UDP (198.19.0.1:7 → 198.19.0.2:9, 76 B)"},
		{"no more than four kinds", heard(1, arp, 1, lldp(t), 1, bpdu(t), 1, eapol(t), 7, udp, 8, tcp),
			"1 ARP who-has 198.19.0.2 from 00:1b:21:aa:00:02, 1 LLDP (core-sw1 Gi0/3), 1 STP (root 0000.00:00:00:00:00:00, bridge 0000.00:00:00:00:00:00, port 0000), " +
				"1 802.1X (EAP identity request from 00:1b:21:aa:00:02), 15 others"},
		{"too short", heard(1, []byte{1}), "1 other (1 B, too short for Ethernet)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.h.String(); got != tt.want {
				t.Errorf("heard\n%s, want\n%s", got, tt.want)
			}
		})
	}
}

// FuzzHeard: whatever comes in, what was heard is one short line, and counts every frame.
func FuzzHeard(f *testing.F) {
	for _, b := range [][]byte{whoHas(f, "198.19.0.2", "198.19.0.1"), whoHas(f, "fd10::2", "fd10::1"), lldp(f), esp(f), bpdu(f), nil} {
		f.Add(b, lldp(f), eapol(f))
	}
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		h := heard(2, a, 3, b, 5, c)
		if text := h.String(); strings.ContainsAny(text, "\n\r\x00") || utf8.RuneCountInString(text) > 600 || !utf8.ValidString(text) {
			t.Fatalf("heard %q", text)
		}
		n := 0
		for _, g := range h.groups {
			n += g.frames
		}
		if n != 10 {
			t.Fatalf("%d frames of 10 are counted", n)
		}
	})
}
