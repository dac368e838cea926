package xdp_test

import (
	"os/exec"
	"sync"
	"testing"
	"time"

	"loadtest/internal/clock"
	"loadtest/internal/lab"
	"loadtest/nic"
	"loadtest/nic/afpacket"
	"loadtest/packet"
	"loadtest/replay"
)

// A truth is what a forwarder did to one stream.
type truth struct{ seen, dropped, doubled, swapped int64 }

// A forwarder passes frames from one port to another, loses some on purpose, sends some twice and some behind the next one.
type forwarder struct {
	in, out nic.Port
	truth   map[uint8]*truth
	held    map[uint8][]byte // to be sent behind the next one of its stream
}

// run forwards until stop is closed and nothing comes any more.
func (f *forwarder) run(t *testing.T, stop chan struct{}) {
	frames := make([]packet.Frame, 64)
	for last := time.Now(); ; {
		n, err := f.in.Recv(frames)
		if err != nil {
			t.Error(err)
			return
		}
		for _, g := range frames[:n] {
			f.forward(t, g.Data)
			last = time.Now()
		}
		if n > 0 {
			continue
		}
		select {
		case <-stop:
			if time.Since(last) > 100*time.Millisecond {
				return
			}
		default:
		}
		nic.Of(f.in).Waiter.Wait(time.Millisecond)
	}
}

func (f *forwarder) forward(t *testing.T, b []byte) {
	tag, whole := packet.ReadTag(b[len(b)-packet.TagLen:])
	if !whole {
		t.Errorf("a frame without a tag: % x", b)
		return
	}
	l := f.truth[tag.Lane]
	if l == nil {
		l = &truth{}
		f.truth[tag.Lane] = l
	}
	i := l.seen
	l.seen++
	switch {
	case i%1000 == 500:
		l.dropped++
		return
	case i%3000 == 2:
		f.held[tag.Lane] = append([]byte(nil), b...)
		return
	}
	f.send(t, b)
	if i%5000 == 1 {
		l.doubled++
		f.send(t, b)
	}
	if h := f.held[tag.Lane]; h != nil {
		l.swapped++
		f.held[tag.Lane] = nil
		f.send(t, h)
	}
}

func (f *forwarder) send(t *testing.T, b []byte) {
	for range 1000 {
		n, err := f.out.Send([]packet.Frame{{Data: b}})
		if err != nil {
			t.Error(err)
			return
		}
		if n == 1 {
			return
		}
		time.Sleep(10 * time.Microsecond)
	}
	t.Error("no room to forward")
}

// What a device loses, doubles and swaps is counted to the packet, in each stream.
func TestForwarder(t *testing.T) {
	lab.Need(t, "netns", "afpacket", "xdp")
	near, far := lab.Veth(t), lab.Veth(t)
	gro(t, near.Prefix+"-b", "b0") // live frames get in there
	c := clock.NewReal()
	socket := func(name string) nic.Port {
		d, err := afpacket.Open(name, afpacket.Options{Ring: 64 << 20})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Queues[0].Close() })
		return d.Queues[0]
	}
	f := &forwarder{in: socket(near.B), out: socket(far.A), truth: map[uint8]*truth{}, held: map[uint8][]byte{}}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { f.run(t, stop) })
	ports := map[string]nic.Device{"a": open(t, near.A, c, 1), "b": open(t, far.B, c, 1)}
	spec := packets(30e3, time.Second)
	spec.Drain = time.Second // the forwarder may lag
	spec.Share = map[string]float64{"two": 0.4, "three": 0.3}
	res := play(t, ports, c, spec, replay.Stream{Name: "one", Packets: made(10, 60), TX: "a", RX: "b"},
		replay.Stream{Name: "two", Packets: made(9, 90, 300), TX: "a", RX: "b"}, replay.Stream{Name: "three", Packets: made(7, 61, 1514), TX: "a", RX: "b"})
	close(stop)
	wg.Wait()
	if missed := nic.Of(f.in).Reporter.Status().Missed; missed != 0 {
		t.Skipf("the forwarder itself missed %d packets: this machine is too busy", missed)
	}
	if len(f.truth) != len(res.Streams) {
		t.Fatalf("%d streams forwarded, want %d", len(f.truth), len(res.Streams))
	}
	for i := range res.Streams {
		s := &res.Streams[i]
		var l *truth
		for _, one := range f.truth { // which lane is which is the engine's affair
			if one.seen == s.Sent {
				l = one
			}
		}
		if l == nil {
			t.Errorf("%s: sent %d, but no stream of so many was forwarded", s.Name, s.Sent)
			continue
		}
		got, want := truth{s.Sent, s.Lost(), s.Duplicated, s.Reordered}, *l
		if got != want || got.dropped == 0 || got.doubled == 0 || got.swapped == 0 || s.Late+s.Corrupt+s.Surplus != 0 {
			t.Errorf("%s: counted %+v, done %+v; late %d, corrupt %d, surplus %d", s.Name, got, want, s.Late, s.Corrupt, s.Surplus)
		}
	}
}

func gro(t *testing.T, namespace, iface string) {
	t.Helper()
	if out, err := exec.Command("ip", "netns", "exec", namespace, "ethtool", "-K", iface, "gro", "on").CombinedOutput(); err != nil {
		t.Fatalf("ethtool: %v: %s", err, out)
	}
}
