package survey_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/google/gopacket/layers"

	"loadtest/internal/survey"
	"loadtest/internal/timeline"
	"loadtest/packet"
	"loadtest/units"
)

// Whatever the records are, the parts of each sum are the whole, each first record is one of them, and seeing all twice counts
// everything twice, but for flows.
func FuzzSurvey(f *testing.F) {
	add := func(link uint16, times [3]int64, wire int32, x, y []byte) {
		f.Add(link, times[0], times[1], times[2], wire, x, y)
	}
	web := [2]layers.TCPPort{5000, 80}
	add(packet.LinkEthernet, [3]int64{1, 2, 3}, 0, tcp(f, false, 1, 2, web, "S", 0), tcp(f, true, 2, 1, web, "SA", 1500))
	add(packet.LinkRaw, [3]int64{math.MaxInt64, math.MinInt64, 0}, 1000, udp(f, true, 1, 2, 100)[packet.EtherLen:], udp(f, false, 1, 2, 0)[packet.EtherLen:])
	add(packet.LinkEthernet, [3]int64{1e18, 2e18, 1e18}, -5, made(f, ether(layers.EthernetTypeARP)), changed(udp(f, false, 1, 2, 40), 16, 0, 0))
	add(packet.LinkSLL2, [3]int64{0, 0, 0}, 1<<31-1, make([]byte, 30), nil)
	f.Fuzz(func(t *testing.T, link uint16, t0, t1, t2 int64, wire int32, x, y []byte) {
		records := []packet.Record{{Data: x, Nanos: t0, Link: link}, {Data: y, Nanos: t1, Link: link}, {Data: x, Nanos: t2, Link: packet.LinkEthernet}}
		for i := range records {
			r := &records[i]
			r.Wire = min(max(0, len(r.Data)+int(wire)), math.MaxInt32)
		}
		once, twice := exactly(records), exactly(append(records, records...))
		whole(t, records, once)
		if twice.Packets != 2*once.Packets || twice.WireBits != 2*once.WireBits || twice.Taggable.Always != 2*once.Taggable.Always ||
			twice.WrongTCP.Packets != 2*once.WrongTCP.Packets || twice.Snapped.Packets != 2*once.Snapped.Packets ||
			twice.Snapped.First != once.Snapped.First || twice.Flows != once.Flows {
			t.Fatalf("twice %s\nonce %s", text(twice), text(once))
		}
	})
}

// whole checks that the sums of a survey agree.
func whole(t *testing.T, records []packet.Record, s *survey.Survey) {
	t.Helper()
	var bytes, onWire, links, sizes, other int64
	for i := range records {
		bytes += int64(len(records[i].Data))
		onWire += int64(records[i].Wire)
	}
	for _, l := range s.Links {
		links += l.Packets
	}
	for _, b := range s.Sizes.Buckets {
		sizes += b.Packets
	}
	for _, k := range s.NonIP {
		other += k.Packets
	}
	n := int64(len(records))
	if s.Packets != n || s.Bytes != bytes || s.WireBytes != onWire || links != n || sizes != n || s.WireBits < n*units.WireBits(0) || s.Sizes.Min > s.Sizes.Max {
		t.Fatalf("%d records of %d bytes, %d on the wire: %d, %d, %d; %v, %+v", n, bytes, onWire, s.Packets, s.Bytes, s.WireBytes, s.Links, s.Sizes)
	}
	if s.IPv4+s.IPv6+other+s.Unreadable.Packets != n || s.Snapped.Packets+s.Longer.Packets > n {
		t.Fatalf("%d records: %s, %+v unreadable", n, text(s), s.Unreadable)
	}
	ip := s.IPv4 + s.IPv6
	if l4 := s.TCP + s.UDP + s.ICMP + s.OtherIP; l4 > ip || ip-l4 > s.Damaged.Packets+s.NoIPLength.Packets || s.WrongTCP.Packets > s.TCP || s.WrongUDP.Packets > s.UDP ||
		s.WrongIPv4.Packets > s.IPv4 || s.Fragments > ip || s.Taggable.Auto > s.Taggable.Always || s.Taggable.Always > ip {
		t.Fatalf("%d IP: %s", ip, text(s))
	}
	if c := s.Flows; c.TCP+c.UDP+c.ICMP+c.Other > ip || c.TwoSided > c.TCP || c.Handshakes > c.TwoSided || c.Handshakes > c.Opened || c.Opened > c.TCP {
		t.Fatalf("flows: %+v", c)
	}
	for _, seen := range []survey.Seen{s.Snapped, s.Longer, s.Unreadable, s.Short, s.Runts, s.Merged, s.NoIPLength, s.Multicast, s.Broadcast, s.Control,
		s.Damaged, s.WrongIPv4, s.WrongTCP, s.WrongUDP, s.Times.Back} {
		if (seen.Packets == 0) != (seen == survey.Seen{}) || seen.Packets > n {
			t.Fatalf("%+v of %d", seen, n)
		}
		if seen.Packets > 0 && (seen.First.Number > n || len(records[seen.First.Number-1].Data) != seen.Size || seen.Longest < seen.Wire) {
			t.Fatalf("%+v", seen)
		}
	}
	spans(t, records, &s.Times)
}

// spans checks times against sums without limits.
func spans(t *testing.T, records []packet.Record, got *survey.Times) {
	t.Helper()
	span, untimed := new(big.Int), int64(0)
	var last *big.Int
	if first := slices.IndexFunc(records, func(r packet.Record) bool { return r.Nanos != 0 }); first > 0 && timeline.FromZero(records[first].Nanos) {
		last, untimed = new(big.Int), -int64(first)
	}
	for _, r := range records {
		if r.Nanos == 0 {
			untimed++
			continue
		}
		now := big.NewInt(r.Nanos)
		if last != nil && now.Cmp(last) > 0 {
			span.Add(span, new(big.Int).Sub(now, last))
		}
		last = now
	}
	if most := big.NewInt(math.MaxInt64); span.Cmp(most) > 0 {
		span = most
	}
	if got.Span != span.Int64() || got.Untimed != untimed || (got.First == nil) != (last == nil) || last != nil && *got.Last != last.Int64() ||
		got.GapMax != nil && (*got.GapMin > *got.GapP50 || *got.GapP50 > *got.GapP99 || *got.GapP99 > *got.GapMax || *got.GapMax > got.Span) {
		t.Fatalf("span %v, %d untimed; %+v", span, untimed, got)
	}
	for _, p := range got.Peaks {
		if n := p.Pps * float64(p.Window) / 1e9; n < 0.999 || n > float64(len(records))+0.001 || p.Window > got.Span {
			t.Fatalf("%+v", p)
		}
	}
}
