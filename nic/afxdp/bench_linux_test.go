package afxdp

import (
	"encoding/json"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loadtest/internal/lab"
	"loadtest/nic"
	"loadtest/nic/afpacket"
	"loadtest/packet"
)

// BenchmarkSend sends into a veth pair that nobody listens to, by copying each frame and from memory that was filled once; the baseline
// of the same run is the packet socket. What counts is what the far end's driver received.
func BenchmarkSend(b *testing.B) {
	lab.Need(b, "netns", "afxdp", "afpacket")
	play := func(tagged bool) func(b *testing.B, name string) (step func() int64) {
		return func(b *testing.B, name string) func() int64 {
			p := nic.Of(opened(b, name, Options{}).Port()).Player
			l := untagged(8000)
			for i := range l.Tags {
				if tagged {
					l.Tags[i] = int32(l.Store.Size(i) - 18)
				}
			}
			if err := p.Load([]nic.Lane{l}); err != nil {
				b.Fatal(err)
			}
			began := monotonic()
			if err := p.Begin(nic.Plan{Trial: 1, End: nic.Never, Lanes: []nic.Load{{Den: 1}}}); err != nil {
				b.Fatal(err)
			}
			return func() int64 {
				if _, err := p.Play(monotonic() - began); err != nil {
					b.Fatal(err)
				}
				return p.Played(0).Sent
			}
		}
	}
	send := func(open func(b *testing.B, name string) nic.Port) func(b *testing.B, name string) func() int64 {
		return func(b *testing.B, name string) func() int64 {
			p, store, batch := open(b, name), made(8000, 60), make([]packet.Frame, burst)
			next, sent := 0, int64(0)
			return func() int64 {
				for i := range batch {
					batch[i] = store.Frame((next + i) % store.Len())
				}
				n, err := p.Send(batch)
				if err != nil {
					b.Fatal(err)
				}
				next, sent = (next+n)%store.Len(), sent+int64(n)
				return sent
			}
		}
	}
	for _, tt := range []struct {
		name string
		open func(b *testing.B, name string) (step func() int64)
	}{
		{"afpacket", send(func(b *testing.B, name string) nic.Port {
			d, err := afpacket.Open(name, afpacket.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { d.Port().Close() })
			return d.Port()
		})},
		{"copied", send(func(b *testing.B, name string) nic.Port { return opened(b, name, Options{}).Port() })},
		{"kept", play(false)},
		{"kept, tagged", play(true)},
	} {
		b.Run(tt.name, func(b *testing.B) {
			wire := lab.Veth(b)
			step := tt.open(b, wire.A)
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			b.ReportAllocs()
			before, busy, sent := received(b, wire), spent(), int64(0)
			for b.Loop() {
				sent = step()
			}
			busy = spent() - busy
			came := received(b, wire) - before
			if came != sent {
				b.Errorf("sent %d, %d came", sent, came)
			}
			b.ReportMetric(float64(came)/b.Elapsed().Seconds()/1e6, "Mpps")
			b.ReportMetric(float64(came)/busy.Seconds()/1e6, "Mpps/cpu")
		})
	}
}

// received is what the driver at b has received.
func received(b *testing.B, d *lab.Device) int64 {
	b.Helper()
	out, err := exec.Command("ip", "-n", d.Prefix+"-b", "-j", "-s", "link", "show", "b0").Output()
	if err != nil {
		b.Fatal(err)
	}
	var links []struct {
		Stats64 struct{ Rx struct{ Packets int64 } }
	}
	if err := json.Unmarshal(out, &links); err != nil || len(links) != 1 {
		b.Fatalf("%v: %s", err, out)
	}
	return links[0].Stats64.Rx.Packets
}

// spent is the CPU time of the thread, which a busy machine does not change.
func spent() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
