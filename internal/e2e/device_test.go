package e2e

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"loadtest/internal/lab"
	"loadtest/nic/dial"
	"loadtest/packet"
)

// calmly runs the program again where it could not keep up or stood still: a busy machine says nothing about the program. Where
// repeats are asked for, nothing is forgiven.
func calmly(t *testing.T, args ...string) run {
	t.Helper()
	for again := 0; ; again++ {
		r := loadtest(t, args...)
		if r.code != 3 || !strings.Contains(r.talk, "the tester ") || again == 3 || times(2) > 1 {
			return r
		}
		t.Logf("again, as the tester could not:\n%s%s", r.out, r.talk)
	}
}

// limit searches calmly.
func limit(t *testing.T, args ...string) run {
	t.Helper()
	return calmly(t, append([]string{"find-limit"}, args...)...)
}

// near checks that the answer lies within 5 % of what the device is set to.
func near(t *testing.T, r run, want float64) {
	t.Helper()
	got, err := strconv.ParseFloat(r.last(), 64)
	if err != nil || r.code != 0 || math.Abs(got-want) > 0.05*want {
		t.Errorf("found %s Gbps, want %.4f within 5 %% (exit %d)\n%s%s", r.last(), want, r.code, r.out, r.talk)
	}
	balanced(t, r)
}

// A router that drops above 20000 packets/s, while others talk into the tester's receiving port: ARP, neighbour discovery,
// copies of test packets as they are in the capture, and copies of what the tester received, tags and all.
func TestRouterLimitAmongForeignTraffic(t *testing.T) {
	device(t, "nft")
	for range times(5) {
		d := lab.Up(t, "linux-router.sh", "pps=20000", "burst=400")
		stop := chatter(t, d)
		r := limit(t, "-b", "30Mbps", "-p", "100kbps", "--force-port", d.B, udp(t, 60, false), d.A, d.B) // the chatter listens there, too
		copies, foreign := stop(), int64(0)
		near(t, r, 20400*672/1e9) // the bucket's 400 packets come on top of a trial of 1 s
		var duplicated int64
		for _, x := range r.trials() {
			for _, s := range x.Streams {
				duplicated += *s.Duplicated + *s.Late
			}
			kinds := map[string]int64{}
			for _, p := range x.Ports {
				for _, f := range p.Foreign {
					kinds[f.Kind] += f.Packets
					foreign += f.Packets
				}
			}
			if x.DurationNs > 5e8 && (kinds["ARP"] == 0 || kinds["IPv6 ND"] == 0 || kinds["IPv4 UDP"] == 0) {
				t.Errorf("trial %d: foreign %v, want ARP, IPv6 ND and IPv4 UDP apart", x.Number, kinds)
			}
		}
		if duplicated == 0 || foreign == 0 {
			t.Errorf("%d duplicates of %d copies and %d foreign packets were seen", duplicated, copies, foreign)
		}
	}
}

// chatter sends what is not the device's into b0, from the far end of its link; stop tells how many copies of received packets.
func chatter(t *testing.T, d *lab.Device) (stop func() int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	names := []string{socket("rb@" + d.Prefix + "-r"), socket(d.B)}
	ports, _, err := dial.Open(ctx, names...)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	arp := append([]byte{255, 255, 255, 255, 255, 255, 2, 9, 9, 9, 9, 9, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1}, make([]byte, 38)...)
	nd := append([]byte{0x33, 0x33, 0, 0, 0, 1, 2, 9, 9, 9, 9, 9, 0x86, 0xdd, 0x60, 0, 0, 0, 0, 24, 58, 255}, make([]byte, 56)...)
	nd[54] = 135
	plain := make([]byte, 60)
	copy(plain, []byte{2, 0, 0, 0, 2, 2, 2, 0, 0, 0, 2, 1, 8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 63, 17, 0, 0, 10, 10, 1, 2, 10, 10, 2, 2, 0x10, 1, 0, 9, 0, 26})
	var copies int64
	var wg sync.WaitGroup
	wg.Go(func() {
		defer dial.Close(ports)
		out, in := ports[names[0]].Queues[0], ports[names[1]].Queues[0]
		heard := make([]packet.Frame, 64)
		var seen int
		for i := 0; ctx.Err() == nil && i < 600000; i++ {
			frames := []packet.Frame{{Data: arp}, {Data: nd}, {Data: plain}}
			if i%20 != 0 {
				frames = frames[:0]
			}
			n, _ := in.Recv(heard)
			for _, f := range heard[:n] {
				if seen++; seen%100 == 0 && f.Data[12] == 8 && f.Data[13] == 0 {
					frames = append(frames, packet.Frame{Data: append([]byte(nil), f.Data...)})
					copies++
				}
			}
			_, _ = out.Send(frames)
			if n == 0 {
				time.Sleep(500 * time.Microsecond)
			}
		}
	})
	return func() int64 {
		cancel()
		wg.Wait()
		return copies
	}
}

func TestBridgeLimit(t *testing.T) {
	device(t, "nft")
	for range times(5) {
		d := lab.Up(t, "linux-bridge.sh", "pps=25000")
		near(t, limit(t, "-b", "40Mbps", "-p", "100kbps", udp(t, 60, false), d.A, d.B), 25500*672/1e9)
	}
}

// Both directions at once in Snabb's form: one rate, one verdict, each stream its own books.
func TestRouterBothDirections(t *testing.T) {
	device(t, "nft")
	d := lab.Up(t, "linux-router.sh", "pps=10000", "burst=200")
	r := limit(t, "-b", "15e6", "-p", "50e3", udp(t, 60, false), "left", "right", d.A, udp(t, 60, true), "right", "left", d.B)
	near(t, r, 10200*672/1e9)
	if s := r.trials()[0].Streams; len(s) != 2 || s[0].Name != "left" || s[1].Name != "right" {
		t.Errorf("%d streams, want left and right", len(s))
	}
}

// What the tester calls lost is what the router says it dropped, to the packet.
func TestRouterDropsAreCountedToThePacket(t *testing.T) {
	device(t, "nft")
	for _, option := range []string{"every=1000", "loss=1000"} {
		t.Run(option, func(t *testing.T) {
			d := lab.Up(t, "linux-router.sh", option)
			there, back := udp(t, 60, false), udp(t, 60, true)
			// A run's first frames tell switches where its ports are. Of each 1000 the router drops the first: not one of those.
			loadtest(t, "replay", "-b", "1kpps", "-D", "100ms", "--wait", "0", there, "left", "right", d.A, back, "right", "left", d.B)
			for range times(20) {
				ab, ba := d.Drops()
				r := loadtest(t, "replay", "-b", "20kpps", "-D", "2", "--wait", "0", "--max-unsent", "1%", there, "left", "right", d.A, back, "right", "left", d.B)
				balanced(t, r)
				ab2, ba2 := d.Drops()
				var lost [2]int64
				for _, x := range r.trials() { // more than one on a machine that stood still
					for i := range lost {
						lost[i] += *x.Streams[i].Lost
					}
				}
				if lost[0] != ab2-ab || lost[1] != ba2-ba || ab2 == ab {
					t.Errorf("lost %d and %d, the router dropped %d and %d", lost[0], lost[1], ab2-ab, ba2-ba)
				}
			}
		})
	}
}

// Far below its limit a device loses nothing, and the tester leaves next to nothing unsent.
func TestLosslessRunIsLossless(t *testing.T) {
	device(t, "nft")
	d := lab.Up(t, "linux-router.sh", "pps=100000")
	for range times(10) {
		r := calmly(t, "replay", "-b", "10kpps", "-D", "10", "--max-unsent", "1%", udp(t, 60, false), d.A, d.B)
		balanced(t, r)
		s := r.trials()[len(r.trials())-1].Streams[0]
		if *s.Lost != 0 || s.Intended != 100000 || r.code != 0 {
			t.Errorf("lost %d of %d (exit %d)\n%s", *s.Lost, s.Sent, r.code, r.talk)
		}
		most := 0.001
		if times(2) == 1 { // a stall of the machine is no fault of the program
			most = 0.01
		}
		if s.UnsentRatio == nil || *s.UnsentRatio > most {
			t.Errorf("unsent %d of %d: too many; late at most %v", s.Unsent, s.Intended, time.Duration(*s.Lateness.MaxNs))
		}
		t.Logf("unsent %d, late p99 %v, max %v", s.Unsent, time.Duration(*s.Lateness.P99Ns), time.Duration(*s.Lateness.MaxNs))
	}
}

// Two real IPsec gateways: no rate is promised there, only books.
func TestGatewayPair(t *testing.T) {
	device(t, "strongswan")
	d := lab.Up(t, "strongswan-pair.sh")
	for _, both := range []bool{false, true} {
		t.Run(fmt.Sprintf("both=%v", both), func(t *testing.T) {
			args := []string{"find-limit", "-b", "20Mbps", "-p", "1Mbps", "-r", "1", udp(t, 60, false), "left", "right", d.A}
			if both {
				args = append(args, udp(t, 60, true), "right", "left", d.B)
			} else {
				args = append(args, "none", "right", "left", d.B)
			}
			r := loadtest(t, args...)
			balanced(t, r)
			got, err := strconv.ParseFloat(r.last(), 64)
			if err != nil || r.code == 2 || r.code == 0 && (got <= 0 || got > 0.02) {
				t.Errorf("found %q (exit %d)\n%s", r.last(), r.code, r.talk)
			}
			t.Logf("%s Gbps in %d trials", r.last(), len(r.trials()))
		})
	}
}
