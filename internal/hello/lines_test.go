package hello_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadtest/internal/hello"
	"loadtest/packet"
)

// TestLinesOfTags: what packets without a tag mean, and what would help.
func TestLinesOfTags(t *testing.T) {
	const unknown = ": latency, order and copies are not known, a copy can hide a loss"
	arp := arp(1, station, [6]byte{}, "198.18.0.1", "198.18.0.2")
	echo := slices.Concat(make([]byte, 12), []byte{8, 0, 0x45, 0, 0, 40, 0, 0, 0, 0, 64, 1}, make([]byte, 40))
	echo6 := slices.Concat(make([]byte, 12), []byte{0x86, 0xdd, 0x60, 0, 0, 0, 0, 10, 58, 64}, make([]byte, 32), []byte{128}, make([]byte, 9))
	for _, tt := range []struct {
		name               string
		frames             [][]byte
		tag                packet.TagMode
		want               string
		untagged, smallest int
	}{
		{"room", [][]byte{pkt{}.build(t)}, packet.TagAuto, "", 0, 0},
		{"none", [][]byte{pkt{size: 59}.build(t)}, packet.TagAuto,
			"100 % of its packets have no room for a tag (18 bytes of payload)" + unknown + "; from 64 B on UDP has it", 1, 64},
		{"none, in a VLAN", [][]byte{pkt{vlan: 7}.build(t)}, packet.TagAlways,
			"100 % of its packets have no room for a tag (18 bytes of payload)" + unknown + "; from 68 B on UDP has it", 1, 68},
		{"none, TCP for most", [][]byte{pkt{tcp: true}.build(t), pkt{tcp: true}.build(t), pkt{size: 50}.build(t), pkt{}.build(t)}, packet.TagAuto,
			"75 % of its packets have no room for a tag (18 bytes of payload)" + unknown + "; from 76 B on TCP has it", 3, 76},
		{"none, as many of two kinds", [][]byte{pkt{size: 50}.build(t), pkt{tcp: true}.build(t)}, packet.TagAuto,
			"100 % of its packets have no room for a tag (18 bytes of payload)" + unknown + "; from 76 B on TCP has it", 2, 76},
		{"none, IPv6", [][]byte{pkt{src: "2001:2::1", dst: "2001:2::2", size: 70}.build(t)}, packet.TagAuto,
			"100 % of its packets have no room for a tag (18 bytes of payload)" + unknown + "; from 84 B on UDP over IPv6 has it", 1, 84},
		{"none, ICMP", [][]byte{echo}, packet.TagAuto,
			"100 % of its packets have no room for a tag (18 bytes of payload)" + unknown + "; from 64 B on ICMP has it", 1, 64},
		{"none, ICMPv6", [][]byte{echo6}, packet.TagAuto,
			"100 % of its packets have no room for a tag (18 bytes of payload)" + unknown + "; from 84 B on ICMPv6 has it", 1, 84},
		{"data", [][]byte{pkt{fill: 1}.build(t), pkt{}.build(t), pkt{}.build(t)}, packet.TagAuto,
			"33.3 % of its packets have data where a tag goes" + unknown + "; --tag always writes over it", 1, 0},
		{"all reasons", [][]byte{pkt{fill: 1}.build(t), pkt{}.build(t), pkt{size: 50}.build(t), arp}, packet.TagAuto,
			"25 % of its packets have no room for a tag (18 bytes of payload), 25 % have data where a tag goes, " +
				"25 % cannot have a tag (no IP, or a fragment)" + unknown + "; from 64 B on UDP has it", 3, 64},
		{"no tags wanted", [][]byte{pkt{}.build(t)}, packet.TagNever, "100 % of its packets go without a tag (--tag never)" + unknown, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &packet.Store{}
			for _, b := range tt.frames {
				s.Append(b, 0, len(b))
			}
			o, _ := lab(wire)
			o.Tag, o.Streams = tt.tag, []hello.Stream{{Name: "a→b", Packets: s, TX: "a", RX: "b", Captured: true}}
			r := run(t, o)
			want := []string{}
			if tt.want != "" {
				want = []string{"a→b: " + tt.want}
			}
			if diff := cmp.Diff(want, r.Lines()[1:]); diff != "" {
				t.Error(diff)
			}
			b := r.Streams[0]
			if b.Untagged != tt.untagged || b.Packets != len(tt.frames) || b.Smallest != tt.smallest || b.Back != len(tt.frames) {
				t.Errorf("%d of %d back; %d of %d without a tag, smallest %d; want all, %d, %d", b.Back, b.Sent, b.Untagged, b.Packets, b.Smallest, tt.untagged, tt.smallest)
			}
		})
	}
}

// Streams that change alike share a line; others have one each.
func TestLinesOfStreams(t *testing.T) {
	back := func(p pkt) pkt {
		p.src, p.dst = "198.19.0.1", "198.18.0.1"
		return p
	}
	for _, tt := range []struct {
		name string
		do   func(string, []byte, int64) []out
		want string
	}{
		{"alike", router, "a→b 4 of 4 back, b→a 4 of 4 back; one hop (TTL 64→63), addresses unchanged"},
		{"translated one way", from(router, set(26, 192, 0, 2, 1)), "a→b 4 of 4 back; one hop (TTL 64→63), source 198.18.0.1 → 192.0.2.1\n" +
			"b→a 4 of 4 back; one hop (TTL 64→63), addresses unchanged"},
		{"nothing", func(string, []byte, int64) []out { return nil }, "a→b 0 of 4 back, b→a 0 of 4 back"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := lab(tt.do)
			o.Streams = []hello.Stream{there(t, 4, ports(pkt{})), {Name: "b→a", Packets: store(t, 4, ports(back(pkt{}))), TX: "b", RX: "a"}}
			r := run(t, o)
			if got := strings.Join(r.Lines(), "\n"); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
