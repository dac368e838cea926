package xdp_test

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loadtest/internal/clock"
	"loadtest/internal/lab"
	"loadtest/nic"
	"loadtest/nic/afpacket"
	"loadtest/packet"
)

// BenchmarkPlay plays as fast as possible into a veth pair whose other end counts. The baseline of the same run is the packet socket,
// which sends and receives in one goroutine, tags and tells apart nothing.
func BenchmarkPlay(b *testing.B) {
	lab.Need(b, "netns", "afpacket", "xdp")
	b.Run("afpacket", socket)
	for _, tt := range []struct {
		name    string
		packets int
		sizes   []int
		tagged  bool
	}{
		{"untagged", 1000, []int{60}, false},
		{"tagged, classified", 1000, []int{60}, true},
		{"tagged, classified, a million packets", 1e6, []int{60}, true},
		{"tagged, classified, IMIX", 1200, []int{60, 60, 60, 60, 60, 60, 60, 590, 590, 590, 590, 1514}, true},
	} {
		b.Run(tt.name, func(b *testing.B) {
			wire := lab.Veth(b)
			c := clock.NewReal()
			p := nic.Of(open(b, wire.A, c, 1).Queues[0]).Player
			class := nic.Of(open(b, wire.B, c, 1).Queues[0]).Classifier
			l := lane(tt.packets, tt.sizes...)
			if !tt.tagged {
				for i := range l.Tags {
					l.Tags[i] = -1
				}
			}
			if err := p.Load([]nic.Lane{l}); err != nil {
				b.Fatal(err)
			}
			if err := class.Classify(nic.Await{Magic: 0xbeef, Trial: 1, Lanes: []uint8{3}}); err != nil {
				b.Fatal(err)
			}
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			start := c.Now()
			if err := p.Begin(nic.Plan{Trial: 1, Start: start, Count: start, End: nic.Never, Lanes: []nic.Load{{Num: 0, Den: 1}}}); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			busy := spent()
			for b.Loop() {
				if _, err := p.Play(c.Now()); err != nil {
					b.Fatal(err)
				}
			}
			speeds(b, p.Played(0).Sent, spent()-busy)
			if a := class.Classified(3); tt.tagged && a.Received != p.Played(0).Sent {
				b.Errorf("sent %d, received %d", p.Played(0).Sent, a.Received)
			}
		})
	}
}

func socket(b *testing.B) {
	wire := lab.Veth(b)
	var ends []nic.Port
	for _, name := range []string{wire.A, wire.B} {
		d, err := afpacket.Open(name, afpacket.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { d.Queues[0].Close() })
		ends = append(ends, d.Queues[0])
	}
	store := made(1000, 60)
	batch, back := make([]packet.Frame, 64), make([]packet.Frame, 64)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b.ReportAllocs()
	busy, next, sent := spent(), 0, int64(0)
	for b.Loop() {
		for i := range batch {
			batch[i] = store.Frame(next)
			next = (next + 1) % store.Len()
		}
		n, err := ends[0].Send(batch)
		if err != nil {
			b.Fatal(err)
		}
		sent += int64(n)
		for k := 1; k > 0; k, _ = ends[1].Recv(back) {
		}
	}
	speeds(b, sent, spent()-busy)
}

// speeds reports packets per second of the clock, and of the thread's own time, which survives a busy machine.
func speeds(b *testing.B, sent int64, busy time.Duration) {
	b.ReportMetric(float64(sent)/b.Elapsed().Seconds()/1e6, "Mpps")
	b.ReportMetric(float64(sent)/busy.Seconds()/1e6, "Mpps/cpu")
}

// spent is the CPU time of the thread.
func spent() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
