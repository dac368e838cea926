package neigh_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"loadtest/internal/clock"
	"loadtest/internal/neigh"
)

func served(netip.Addr) bool { return true }

// ms are ns.
const ms = int64(time.Millisecond)

// TestAnnounce: silent until told, then at once and every 30 s; the frames themselves are looked at.
func TestAnnounce(t *testing.T) {
	const start = 5 * ms
	for _, tt := range []struct {
		name      string
		addresses []string
		want      []string
	}{
		{"without addresses", nil, []string{"02:00:00:00:00:01>ff:ff:ff:ff:ff:ff"}},
		{"IPv4", []string{"198.18.0.2/16"},
			[]string{"02:00:00:00:00:01>ff:ff:ff:ff:ff:ff ARP 1: 198.18.0.2 at 02:00:00:00:00:01 to 198.18.0.2 at 00:00:00:00:00:00"}},
		{"IPv6", []string{"2001:db8::2/64"}, []string{"02:00:00:00:00:01>33:33:00:00:00:01 2001:db8::2>ff02::1 hops 255" +
			" NA 2001:db8::2 flags 20 [ICMPv6Option(TargetAddress:02:00:00:00:00:01)]"}},
		{"each address", []string{"198.18.0.2/16", "198.18.0.3/16,vlan=7,mac=02:00:00:00:00:0a"}, []string{
			"02:00:00:00:00:01>ff:ff:ff:ff:ff:ff ARP 1: 198.18.0.2 at 02:00:00:00:00:01 to 198.18.0.2 at 00:00:00:00:00:00",
			"02:00:00:00:00:0a>ff:ff:ff:ff:ff:ff vlan 7 ARP 1: 198.18.0.3 at 02:00:00:00:00:0a to 198.18.0.3 at 00:00:00:00:00:00"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := neigh.NewHost(tester(t, tt.addresses...))
			if next := h.Step(start); next != clock.Never || h.Pending() {
				t.Errorf("Step = %d, pending %v before Announce; want silence", next, h.Pending())
			}
			h.Announce()
			for i := range int64(3) {
				now := start + i*30e9
				if i > 0 {
					if next := h.Step(now - 1); next != now || h.Pending() {
						t.Errorf("Step before the time = %d, pending %v", next, h.Pending())
					}
				}
				if next := h.Step(now); next != now+30e9 {
					t.Errorf("Step(%d) = %d, want 30 s later", now, next)
				}
				if got := sent(t, h); !slices.Equal(got, tt.want) {
					t.Errorf("announcement\n%q, want\n%q", got, tt.want)
				}
			}
		})
	}
}

// TestAnnounceAnew: told again, at once; every so often as was asked for.
func TestAnnounceAnew(t *testing.T) {
	o := tester(t, "198.18.0.2/16")
	o.Every = time.Second
	h := neigh.NewHost(o)
	for _, now := range []int64{0, 300 * ms, 600 * ms} {
		h.Announce()
		if next := h.Step(now); next != now+1e9 || len(sent(t, h)) != 1 {
			t.Errorf("Step(%d) = %d, want one announcement, the next one 1 s later", now, next)
		}
	}
}

// TestAnnounceRARP looks at the one frame that gopacket cannot: as QEMU sends it after a move.
func TestAnnounceRARP(t *testing.T) {
	h := neigh.NewHost(tester(t))
	h.Announce()
	h.Step(0)
	s := &sink{room: -1}
	if err := h.Flush(s); err != nil || len(s.frames) != 1 {
		t.Fatalf("%d frames, %v", len(s.frames), err)
	}
	want := "ffffffffffff 020000000001 8035 0001 0800 06 04 0003 020000000001 00000000 020000000001 00000000" + fmt.Sprintf("%036d", 0)
	b := s.frames[0]
	got := fmt.Sprintf("%x %x %x %x %x %x %x %x %x %x %x %x%x", b[:6], b[6:12], b[12:14], b[14:16], b[16:18], b[18:19], b[19:20],
		b[20:22], b[22:28], b[28:32], b[32:38], b[38:42], b[42:])
	if got != want {
		t.Errorf("RARP\n%s, want\n%s", got, want)
	}
}

func TestResolveAsks(t *testing.T) {
	const ask4 = "02:00:00:00:00:01>ff:ff:ff:ff:ff:ff ARP 1: 198.18.0.2 at 02:00:00:00:00:01 to 198.18.0.1 at 00:00:00:00:00:00"
	const ask6 = "02:00:00:00:00:01>33:33:ff:34:00:01 vlan 7 2001:db8::2>ff02::1:ff34:1 hops 255 NS 2001:db8::1234:1 [ICMPv6Option(SourceAddress:02:00:00:00:00:01)]"
	h := neigh.NewHost(tester(t, "198.18.0.2/16,gw=198.18.0.1", "2001:db8::2/64,gw=2001:db8::1234:1,vlan=7", "10.0.0.2/8"))
	expect := func(now, next int64, frames, gateways []string) {
		t.Helper()
		if got := h.Step(now); got != next {
			t.Errorf("Step(%d) = %d, want %d", now, got, next)
		}
		if got := sent(t, h); !slices.Equal(got, frames) {
			t.Errorf("at %d said\n%q, want\n%q", now, got, frames)
		}
		if got := known(h); !slices.Equal(got, gateways) {
			t.Errorf("at %d gateways %q, want %q", now, got, gateways)
		}
	}
	asking := []string{"198.18.0.1", "2001:db8::1234:1"}
	expect(0, clock.Never, nil, asking)
	h.Resolve()
	expect(5*ms, 1005*ms, []string{ask4, ask6}, asking)
	expect(1004*ms, 1005*ms, nil, asking)
	h.Hear(frame(t, port, device, nil, arp(2, device, addr("198.18.0.1"), port, addr("198.18.0.2"))), 1004*ms)
	found := []string{"198.18.0.1 is :09", "2001:db8::1234:1"}
	expect(1005*ms, 2005*ms, []string{ask6}, found)
	expect(2005*ms, 3005*ms, []string{ask6}, found)
	expect(3005*ms, clock.Never, nil, []string{"198.18.0.1 is :09", "2001:db8::1234:1 failed"})
	expect(1e12, clock.Never, nil, []string{"198.18.0.1 is :09", "2001:db8::1234:1 failed"})
	h.Hear(frame(t, port, device, []uint16{7}, join(v6("2001:db8::1234:1", "2001:db8::2", 255), advertise("2001:db8::1234:1", 0x60, device))...), 1e12)
	expect(1e12, clock.Never, nil, []string{"198.18.0.1 is :09", "2001:db8::1234:1 is :09"})
	h.Resolve()
	expect(2e12, 2e12+1000*ms, []string{ask4, ask6}, asking)
}
