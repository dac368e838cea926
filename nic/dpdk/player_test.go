//go:build dpdk && cgo && linux

package dpdk

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loadtest/internal/lab"
	"loadtest/nic"
	"loadtest/packet"
	"loadtest/trial"
)

const magic = 0xa5c3

// lane is n packets, of which every bare-th has no tag (0: each has one); number i says so in its first byte of payload.
func lane(t testing.TB, id uint8, bare int, sizes ...int) nic.Lane {
	l := nic.Lane{ID: id, Magic: magic, Store: &packet.Store{}}
	for i, size := range sizes {
		b := append([]byte(nil), bases(t)[0]...)
		b = append(b, make([]byte, max(0, size-len(b)))...)
		b = b[:max(size, 60)]
		b[16], b[17] = byte((len(b)-14)>>8), byte(len(b)-14)
		b[38], b[39] = byte((len(b)-34)>>8), byte(len(b)-34)
		b[4], b[5] = id, byte(i)
		tag := int32(len(b) - packet.TagLen)
		if bare > 0 && i%bare == 0 {
			tag = -1
		}
		l.Store.Append(b, 0, len(b))
		l.Tags, l.Gaps = append(l.Tags, tag), append(l.Gaps, int64(i)*700)
	}
	return l
}

// monotonic is the run's clock with epoch 0.
func monotonic() int64 {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}

// play plays to the end on a thread of its own.
func play(p nic.Player, done chan<- error) {
	runtime.LockOSThread()
	for until := time.Now().Add(60 * time.Second); time.Now().Before(until); {
		next, err := p.Play(monotonic())
		if err != nil || next == nic.Never {
			done <- err
			return
		}
		if d := next - monotonic(); d > 100e3 {
			time.Sleep(time.Duration(d - 100e3))
		}
	}
	done <- errors.New("the plan is not over")
}

// TestMillions: of 10 million tagged packets through a wire that is always full none is lost, doubled or out of order.
func TestMillions(t *testing.T) {
	lab.Need(t, "dpdk")
	const packets = 10e6
	a, b := ringWire(t, 4096, Options{})
	tx, rx := nic.Of(a.Queues[0]), b.Queues[0]
	if err := tx.Player.Load([]nic.Lane{lane(t, 3, 0, 60, 61, 300), lane(t, 9, 0, 64)}); err != nil {
		t.Fatal(err)
	}
	c := nic.Of(rx).Classifier
	start := monotonic() + 1e6
	if err := c.Classify(nic.Await{Magic: magic, Trial: 2, Preroll: 1, Lanes: []uint8{3, 9}, Half: start, HalfEnd: nic.Never}); err != nil {
		t.Fatal(err)
	}
	if err := tx.Player.Begin(nic.Plan{Trial: 2, Preroll: 1, Start: start, Count: start, End: nic.Never, Credit: 1e6,
		Lanes: []nic.Load{{Den: 1, Packets: packets / 2}, {Den: 1, Packets: packets / 2}}}); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go play(tx.Player, done)
	var wg sync.WaitGroup
	wg.Go(func() {
		runtime.LockOSThread()
		frames := make([]packet.Frame, 64)
		for until := time.Now().Add(60 * time.Second); time.Now().Before(until); {
			if n, err := rx.Recv(frames); n > 0 || err != nil {
				t.Errorf("Recv = %d, %v; all frames are the classifier's", n, err)
				return
			}
			if c.Classified(3).Received+c.Classified(9).Received == packets {
				return
			}
		}
	})
	if err := <-done; err != nil {
		t.Error(err)
	}
	wg.Wait()
	for i, id := range []uint8{3, 9} {
		o, got := tx.Player.Played(i), c.Classified(id)
		if o.Intended != packets/2 || o.Sent != packets/2 || o.Tagged != packets/2 || o.Issued != packets/2 || o.Refused != 0 {
			t.Errorf("lane %d: %+v", id, o)
		}
		if got.Received != packets/2 || got.Duplicated+got.Reordered+got.TooOld != 0 || got.Top != packets/2 || got.Bytes != o.Bytes || got.WireBits != o.WireBits {
			t.Errorf("lane %d: %+v", id, got)
		}
		if got.Half != (trial.Arrivals{Packets: got.Received, Bytes: got.Bytes, WireBits: got.WireBits}) || got.Last < start || got.Last > monotonic() {
			t.Errorf("lane %d: %+v, started at %d", id, got, start)
		}
		var late, latency trial.Histogram
		tx.Player.Lateness(i, &late)
		c.Latency(id, &latency)
		if late.Count != packets/2 || latency.Count != packets/2 || latency.Max > got.Last-start {
			t.Errorf("lane %d: %d counts of lateness, %d of latency", id, late.Count, latency.Count)
		}
		p50, _ := latency.Percentile(50)
		t.Logf("lane %d: latency %d..%d ns, p50 %d", id, latency.Min, latency.Max, p50)
	}
	if s := nic.Of(rx).Reporter.Status(); s.Missed != 0 {
		t.Errorf("status %+v", s)
	}
	if err := c.Classify(nic.Await{}); err != nil {
		t.Fatal(err)
	}
	mine := lane(t, 3, 0, 60).Store.Frame(0)
	packet.Tag{Magic: magic, Lane: 3, Trial: 2}.Put(mine.Data[len(mine.Data)-packet.TagLen:])
	if n, err := a.Queues[0].Send([]packet.Frame{mine}); n != 1 || err != nil {
		t.Fatalf("Send after the plan = %d, %v", n, err)
	}
	if n, err := rx.Recv(make([]packet.Frame, 2)); n != 1 || err != nil {
		t.Errorf("Recv after the trial = %d, %v; want the packet", n, err)
	}
}

// What is not for the classifier reaches Recv, also among packets that are.
func TestOthersReachRecv(t *testing.T) {
	lab.Need(t, "dpdk")
	a, b := ringWire(t, 4096, Options{})
	c := nic.Of(b.Queues[0]).Classifier
	if err := c.Classify(awaited); err != nil {
		t.Fatal(err)
	}
	var sent []packet.Frame
	own, foreign := int64(0), 0
	for i := range 3000 {
		f := packet.Frame{Data: append([]byte(nil), bases(t)[0]...)}
		tag := packet.Tag{Magic: awaited.Magic, Lane: 2, Trial: awaited.Trial, Seq: uint32(own)}
		switch i % 5 {
		case 3:
			tag.Lane = 7
		case 4:
			tag.Trial = 9
		default:
			own++
		}
		tag.Put(f.Data[len(f.Data)-packet.TagLen:])
		sent = append(sent, f)
	}
	if n, err := a.Queues[0].Send(sent); n != len(sent) || err != nil {
		t.Fatalf("Send = %d, %v", n, err)
	}
	frames := make([]packet.Frame, 7)
	for range 3000 {
		n, _ := b.Queues[0].Recv(frames)
		for _, f := range frames[:n] {
			for foreign%5 < 3 {
				foreign++
			}
			if string(f.Data) != string(sent[foreign].Data) {
				t.Fatalf("frame %d differs", foreign)
			}
			foreign++
		}
	}
	if got := c.Classified(2); foreign != len(sent) || got.Received != own || got.Top != own || got.Duplicated != 0 {
		t.Errorf("%d of %d frames seen, counted %+v of %d", foreign, len(sent), got, own)
	}
}

// TestGoneWhilePlaying: a plan whose interface is deleted says that the link is down.
func TestGoneWhilePlaying(t *testing.T) {
	lab.Need(t, "dpdk", "netns", "afpacket")
	wire := lab.Veth(t)
	a := open1(t, "net_af_packet900,iface="+wire.A, Options{}).Queues[0]
	p := nic.Of(a).Player
	if err := p.Load([]nic.Lane{lane(t, 3, 0, 60)}); err != nil {
		t.Fatal(err)
	}
	start := monotonic()
	if err := p.Begin(nic.Plan{Trial: 2, Start: start, Count: start, End: nic.Never, Credit: 10e6, Lanes: []nic.Load{{Unit: trial.Packets, Num: 1e9, Den: 1000}}}); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go play(p, done)
	time.Sleep(50 * time.Millisecond)
	wire.IP("a", "link", "del", "a0")
	if err := <-done; !errors.Is(err, nic.ErrDown) {
		t.Errorf("Play = %v, want %v", err, nic.ErrDown)
	}
	if o := p.Played(0); o.Sent == 0 || o.Sent > o.Intended {
		t.Errorf("%+v", o)
	}
	if s := nic.Of(a).Reporter.Status(); !s.LinkDown || s.Downs != 1 || s.TxErrors == 0 {
		t.Errorf("status %+v, want a link that went down once and frames that were not sent", s)
	}
}

func TestLoadRefuses(t *testing.T) {
	lab.Need(t, "dpdk")
	p := nic.Of(open1(t, "net_null7", Options{}).Queues[0]).Player
	err := p.Load([]nic.Lane{lane(t, 1, 0, 60, 1600)})
	if !errors.Is(err, nic.ErrNotPlayed) || !strings.HasPrefix(err.Error(), "packet 2, of 1600 bytes: frame is too long for the port") {
		t.Errorf("Load of a packet that is too long = %v", err)
	}
}

// A device that forwards is DPDK's own: frames from a come out at b, and are counted there.
func TestTestpmd(t *testing.T) {
	lab.Need(t, "dpdk", "testpmd", "netns")
	d := lab.Up(t, "testpmd.sh", "driver=memif")
	var ports []nic.Device
	for i := range 2 {
		ports = append(ports, open1(t, fmt.Sprintf("net_memif90%d,role=client,id=%d,socket=%s/memif.sock,socket-abstract=no", i, i, d.Dir), Options{}))
	}
	if down := nic.WaitUp(t.Context(), map[string]nic.Device{"a": ports[0], "b": ports[1]}, 5*time.Second); len(down) > 0 {
		t.Fatalf("links of %v do not come up", down)
	}
	p, rx := nic.Of(ports[0].Queues[0]).Player, ports[1].Queues[0]
	c := nic.Of(rx).Classifier
	if err := errors.Join(p.Load([]nic.Lane{lane(t, 3, 0, 60, 1514)}), c.Classify(nic.Await{Magic: magic, Trial: 2, Lanes: []uint8{3}})); err != nil {
		t.Fatal(err)
	}
	start := monotonic()
	if err := p.Begin(nic.Plan{Trial: 2, Start: start, Count: start, End: nic.Never, Credit: 100e6,
		Lanes: []nic.Load{{Unit: trial.Packets, Num: 1e9, Den: 20e3, Packets: 20e3}}}); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go play(p, done)
	frames, over := make([]packet.Frame, 64), false
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); {
		if _, err := rx.Recv(frames); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			if over = true; err != nil {
				t.Fatal(err)
			}
			until = time.Now().Add(200 * time.Millisecond)
		default:
		}
	}
	o, got := p.Played(0), c.Classified(3)
	t.Logf("sent %d of %d, %d came back", o.Sent, o.Intended, got.Received)
	if !over || got.Received == 0 || got.Received > o.Sent || got.Duplicated != 0 || got.Reordered != 0 {
		t.Errorf("over %v, sent %+v, received %+v", over, o, got)
	}
}
