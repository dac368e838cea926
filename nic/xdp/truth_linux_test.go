package xdp_test

import (
	"encoding/binary"
	"math"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loadtest/internal/clock"
	"loadtest/internal/lab"
	"loadtest/nic"
	"loadtest/nic/afpacket"
	"loadtest/packet"
	"loadtest/replay"
	"loadtest/trial"
)

// A million packets at half of full speed come back whole.
func TestMillion(t *testing.T) {
	lab.Need(t, "netns", "afpacket", "xdp")
	wire := lab.Veth(t)
	c := clock.NewReal()
	ports := map[string]nic.Device{"a": open(t, wire.A, c, 1), "b": open(t, wire.B, c, 1)}
	stream := replay.Stream{Name: "s", Packets: made(1000, 60), TX: "a", RX: "b"}
	full := play(t, ports, c, packets(math.Inf(1), 200*time.Millisecond), stream)
	speed := float64(full.Streams[0].Sent) / full.Elapsed.Seconds()
	res := play(t, ports, c, trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: speed / 2}}, Loops: 1000}, stream)
	s := &res.Streams[0]
	whole(t, s)
	if s.Intended != 1e6 {
		t.Errorf("intended %d, want a million", s.Intended)
	}
	t.Logf("full speed %.2f Mpps; %d sent, %d unsent", speed/1e6, s.Sent, s.Unsent())
}

// Each frame is its template to the byte, but for the tag, which is what Tag.Put writes; the pre-roll is numbered by itself, and the
// sequence begins at 0 when counting does.
func TestBytes(t *testing.T) {
	lab.Need(t, "netns", "afpacket", "xdp")
	wire := lab.Veth(t)
	gro(t, wire.Prefix+"-b", "b0")
	c := clock.NewReal()
	d, err := afpacket.Open(wire.B, afpacket.Options{Epoch: c.Epoch()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Queues[0].Close() })
	p := nic.Of(open(t, wire.A, c, 1).Queues[0]).Player
	l := lane(101, 60, 61, 590, 63, 1514, 1513, 62)
	l.Tags[4], l.Tags[70] = -1, -1
	if err := p.Load([]nic.Lane{l}); err != nil {
		t.Fatal(err)
	}
	start := c.Now() + 1e6
	plan := nic.Plan{Trial: 7, Preroll: 6, Start: start, Count: start + 3e6, End: start + 50e6, Credit: 1e9,
		Lanes: []nic.Load{{Unit: trial.Packets, Num: 1e5, Den: 3}}} // 33 µs and a third
	before := c.Now()
	carry(t, p, c, plan)
	o := p.Played(0)
	if o.Intended != 1410 || o.Sent != 1410 || o.Refused != 0 || o.Issued != o.Tagged || o.Due != start+50e6 {
		t.Errorf("offer %+v; want 1410 intended and sent of 1500 with the pre-roll", o)
	}
	var next uint32
	counting, at := false, 0
	frames := make([]packet.Frame, 64)
	for until := time.Now().Add(2 * time.Second); at < 1500 && time.Now().Before(until); {
		n, err := d.Queues[0].Recv(frames)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range frames[:n] {
			i := at % 101
			want := append([]byte(nil), l.Store.Frame(i).Data...)
			if tag := l.Tags[i]; tag >= 0 && len(f.Data) == len(want) {
				got, whole := packet.ReadTag(f.Data[tag:])
				number := uint8(6)
				if at >= 90 {
					number = 7
					if !counting {
						counting, next = true, 0
					}
				}
				packet.Tag{Magic: 0xbeef, Lane: 3, Trial: number, Seq: next, Nanos: got.Nanos}.Put(want[tag:])
				next++
				if due := start + int64(at)*1e5/3; !whole || got.Nanos < max(due, before) || got.Nanos > f.Nanos+5000 {
					t.Fatalf("packet %d: whole %v, tagged at %d, due at %d, arrived at %d", at, whole, got.Nanos, due, f.Nanos)
				}
			}
			if string(f.Data) != string(want) {
				t.Fatalf("packet %d:\n got %d bytes % x\nwant %d bytes % x", at, len(f.Data), f.Data[:min(64, len(f.Data))], len(want), want[:min(64, len(want))])
			}
			at++
		}
	}
	if at != 1500 {
		t.Errorf("%d packets arrived, want 1500", at)
	}
}

// carry carries a plan out, as a sender's thread does; after is called after each stretch of it.
func carry(t testing.TB, p nic.Player, c *clock.Real, plan nic.Plan, after ...func()) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.Begin(plan); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(30 * time.Second); ; {
		next, err := p.Play(c.Now())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range after {
			f()
		}
		if next == nic.Never {
			return
		}
		if time.Now().After(until) {
			t.Fatal("the plan does not end")
		}
		time.Sleep(time.Duration(next - c.Now()))
	}
}

// arrived is what came of a lane, once as many as were sent have, or nothing more does for a while: a ring may be emptied late.
func arrived(class nic.Classifier, id uint8, sent int64) (a nic.Arrivals) {
	for last := time.Now(); time.Since(last) < 2*time.Second; time.Sleep(time.Millisecond) {
		now := class.Classified(id)
		if now.Received >= sent {
			return now
		}
		if now != a {
			a, last = now, time.Now()
		}
	}
	return a
}

// The books balance to the frame, whatever the driver refuses: what was issued less what was refused has arrived.
func TestRefusedBalance(t *testing.T) {
	lab.Need(t, "netns", "afpacket", "xdp")
	wire := lab.Veth(t)
	c := clock.NewReal()
	p := nic.Of(open(t, wire.A, c, 1).Queues[0]).Player
	class := nic.Of(open(t, wire.B, c, 1).Queues[0]).Classifier
	narrow(t, wire)
	short, long := lane(10, 60), lane(3, 90, 1514)
	long.ID = 200
	if err := p.Load([]nic.Lane{short, long}); err != nil {
		t.Fatal(err)
	}
	var refused int64
	for number := uint8(1); number <= 6; number++ {
		if err := class.Classify(nic.Await{Magic: 0xbeef, Trial: number, Lanes: []uint8{3, 200}}); err != nil {
			t.Fatal(err)
		}
		start := c.Now()
		carry(t, p, c, nic.Plan{Trial: number, Start: start, Count: start, End: start + 100e6, Credit: 10e6,
			Lanes: []nic.Load{{Unit: trial.Packets, Num: 100, Den: 1}, {Unit: trial.WireBits, Num: 1, Den: 1}}}) // 10 Mpps and 1 Gbit/s
		for i, id := range []uint8{3, 200} {
			o := p.Played(i)
			a := arrived(class, id, o.Sent)
			if o.Issued-o.Refused != a.Received || o.Sent != a.Received || o.Bytes != a.Bytes || o.WireBits != a.WireBits || a.Duplicated+a.Reordered+a.TooOld != 0 ||
				o.Tagged != o.Sent || o.Intended < o.Issued {
				t.Errorf("trial %d, lane %d: offer %+v\narrivals %+v", number, id, o, a)
			}
			refused += o.Refused
		}
	}
	if refused == 0 {
		t.Error("nothing was refused: the ring never overflowed")
	}
	t.Logf("%d refused", refused)
}

// What is longer than the link takes is refused before the driver is asked, one by one.
func TestTooLongForTheLink(t *testing.T) {
	lab.Need(t, "netns", "afpacket", "xdp")
	wire := lab.Veth(t)
	c := clock.NewReal()
	p := nic.Of(open(t, wire.A, c, 1).Queues[0]).Player
	class := nic.Of(open(t, wire.B, c, 1).Queues[0]).Classifier
	mixed := lane(3, 60, 1600, 90)
	if err := p.Load([]nic.Lane{mixed}); err != nil {
		t.Fatal(err)
	}
	if err := class.Classify(nic.Await{Magic: 0xbeef, Trial: 1, Lanes: []uint8{3}}); err != nil {
		t.Fatal(err)
	}
	start := c.Now()
	carry(t, p, c, nic.Plan{Trial: 1, Start: start, Count: start, End: nic.Never, Credit: 10e9, Lanes: []nic.Load{{Unit: trial.Packets, Num: 1e4, Den: 1, Packets: 3000}}})
	o := p.Played(0)
	a := arrived(class, 3, o.Sent)
	if o.Intended != 3000 || o.Refused != 1000 || o.Sent != 2000 || o.Bytes != 150e3 || a.Received != 2000 || a.Bytes != 150e3 {
		t.Errorf("offer %+v\narrivals %+v\nwant 1000 of 3000 refused", o, a)
	}
	if b := mixed.Store.Frame(1).Data; binary.BigEndian.Uint16(b[16:]) != 1586 {
		t.Errorf("the template was written to: % x", b[:20])
	}
}

// Packets of one lane that come at two CPUs at once are each counted once, and their copies as such.
func TestOneLaneAtTwoCPUs(t *testing.T) {
	lab.Need(t, "netns", "afpacket", "xdp")
	if runtime.NumCPU() < 2 {
		t.Skip("one CPU")
	}
	wire := lab.Up(t, "veth.sh", "queues=2")
	class := nic.Of(open(t, wire.B, clock.NewReal(), 1).Queues[0]).Classifier
	if err := class.Classify(nic.Await{Magic: 0xbeef, Trial: 1, Lanes: []uint8{3}}); err != nil {
		t.Fatal(err)
	}
	const each, copies = 200e3, 4 // of each batch, sent twice
	l := lane(1, 60)
	var wg sync.WaitGroup
	var senders []nic.Port
	for cpu := range 2 {
		d, err := afpacket.Open(wire.A, afpacket.Options{Ring: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Queues[0].Close() })
		senders = append(senders, d.Queues[0])
		wg.Go(func() {
			runtime.LockOSThread() // and never unlocked: the thread ends with its goroutine, and where it may run
			var one unix.CPUSet
			one.Set(cpu)
			if err := unix.SchedSetaffinity(0, &one); err != nil {
				t.Error(err)
			}
			batch := make([]packet.Frame, 50+copies)
			for i := range batch {
				batch[i].Data = append([]byte(nil), l.Store.Frame(0).Data...)
			}
			for seq := cpu; seq < 2*each; {
				for i := range batch {
					if i < 50 {
						packet.Tag{Magic: 0xbeef, Lane: 3, Trial: 1, Seq: uint32(seq)}.Put(batch[i].Data[l.Tags[0]:])
						seq += 2
					} else {
						copy(batch[i].Data, batch[i-50].Data)
					}
				}
				for rest := batch; len(rest) > 0; {
					n, err := d.Queues[0].Send(rest)
					if err != nil {
						t.Error(err)
						return
					}
					rest = rest[n:]
				}
			}
		})
	}
	wg.Wait()
	sent := nic.Of(senders[0]).Reporter.Status().TxFrames // the driver's count is of the whole interface
	a := arrived(class, 3, 2*each)
	var h trial.Histogram
	class.Latency(3, &h)
	if a.Received+a.Duplicated+a.TooOld != sent || a.Bytes != 60*a.Received || h.Count != a.Received {
		t.Errorf("%+v, %d times; the driver sent %d", a, h.Count, sent)
	}
	if all := int64(2 * each); sent == all/50*(50+copies) && a.TooOld == 0 && (a.Received != all || a.Top != all) { // no ring overflowed
		t.Errorf("%+v; want %d received", a, all)
	}
}
