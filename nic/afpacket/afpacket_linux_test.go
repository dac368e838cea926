package afpacket_test

import (
	"encoding/binary"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loadtest/internal/lab"
	"loadtest/nic"
	"loadtest/nic/afpacket"
	"loadtest/nic/nictest"
	"loadtest/packet"
	"loadtest/trial"
)

// open opens a port until the test ends.
func open(t testing.TB, name string, o afpacket.Options) nic.Device {
	t.Helper()
	d, err := afpacket.Open(name, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Queues[0].Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// frame is of our own type, so that no kernel answers it.
func frame(size int) packet.Frame {
	b := make([]byte, size)
	copy(b, []byte{2, 0, 0, 0, 2, 2, 2, 0, 0, 0, 1, 2, 0x88, 0xb5})
	return packet.Frame{Data: b}
}

// recv waits for one burst.
func recv(t testing.TB, p nic.Port, n int) []packet.Frame {
	t.Helper()
	f := make([]packet.Frame, n)
	for until := time.Now().Add(2 * time.Second); time.Now().Before(until); {
		n, err := p.Recv(f)
		if err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			return f[:n]
		}
		nic.Of(p).Waiter.Wait(time.Millisecond)
	}
	t.Fatal("nothing arrived in 2 s")
	return nil
}

func TestPort(t *testing.T) {
	lab.Need(t, "netns", "afpacket")
	for name, mtu := range map[string]string{"mtu 1500": "mtu=1500", "mtu 9000": "mtu=9000"} {
		t.Run(name, func(t *testing.T) {
			wire := lab.Up(t, "veth.sh", mtu)
			nictest.Run(t, func(t *testing.T) nictest.Pair {
				a, b := open(t, wire.A, afpacket.Options{}), open(t, wire.B, afpacket.Options{})
				return nictest.Pair{
					A: a.Queues[0], B: b.Queues[0], MaxFrame: a.Info.MaxFrame,
					Settle: func() { time.Sleep(time.Millisecond) }, Gone: func() { wire.IP("a", "link", "del", "a0") },
				}
			})
		})
	}
}

func TestInfo(t *testing.T) {
	lab.Need(t, "netns", "afpacket")
	wire := lab.Veth(t)
	looked, err := afpacket.Look(wire.A)
	if err != nil {
		t.Fatal(err)
	}
	got := open(t, wire.A, afpacket.Options{}).Info
	want := nic.Info{
		Name: wire.A, Backend: "afpacket", Driver: "veth", Mode: "sendmmsg, receive ring of 32 MiB",
		MAC: [6]byte{2, 0, 0, 0, 1, 2}, LineRate: 10e9, MTU: 1500, MaxFrame: 1514, NUMA: -1, Arrived: trial.Kernel,
	}
	if got != want {
		t.Errorf("Info\n got %+v\nwant %+v", got, want)
	}
	if looked != want {
		t.Errorf("Look\n got %+v\nwant %+v", looked, want)
	}
}

// TestTxFrames: what the driver could not deliver to a peer of a smaller MTU it did not send.
func TestTxFrames(t *testing.T) {
	lab.Need(t, "netns", "afpacket")
	wire := lab.Veth(t)
	a, b := open(t, wire.A, afpacket.Options{}).Queues[0], open(t, wire.B, afpacket.Options{}).Queues[0]
	long, short := make([]packet.Frame, 7), make([]packet.Frame, 5)
	for i := range long {
		long[i] = frame(1514)
	}
	for i := range short {
		short[i] = frame(1014)
	}
	var taken int64
	sent := func(name string, batch []packet.Frame, want nic.Status) {
		t.Helper()
		n, err := a.Send(batch)
		taken += int64(n)
		s := nic.Of(a).Reporter.Status()
		t.Logf("%s: Send = %d, %v; %+v", name, n, err, s)
		if s != want {
			t.Errorf("%s: took %d in all, status %+v, want %+v", name, taken, s, want)
		}
	}
	sent("as large", long, nic.Status{TxFrames: 7})
	wire.IP("b", "link", "set", "b0", "mtu", "1000")
	sent("too long for the peer", long, nic.Status{TxFrames: 7})
	sent("short enough", short, nic.Status{TxFrames: 12})
	if s := nic.Of(b).Reporter.Status(); s.TxFrames != 0 {
		t.Errorf("the peer sent nothing, status %+v", s)
	}
	wire.IP("b", "link", "del", "b0")
	if s := nic.Of(a).Reporter.Status(); s.TxFrames != -1 {
		t.Errorf("deleted interface: status %+v", s)
	}
}

// TestVLAN: the kernel takes tags out of frames; they must be back, and a tagged frame may be 4 bytes longer.
func TestVLAN(t *testing.T) {
	lab.Need(t, "netns", "afpacket")
	wire := lab.Veth(t)
	a, b := open(t, wire.A, afpacket.Options{}).Queues[0], open(t, wire.B, afpacket.Options{}).Queues[0]
	for _, tt := range []struct {
		name string
		tags []byte
		size int
	}{
		{"one tag", []byte{0x81, 0, 0x60, 100}, 64},
		{"one tag, longest", []byte{0x81, 0, 0x0f, 0xff}, 1518},
		{"VLAN 0", []byte{0x81, 0, 0xe0, 0}, 64},
		{"service tag", []byte{0x88, 0xa8, 0, 7}, 64},
		{"two tags", []byte{0x88, 0xa8, 0, 7, 0x81, 0, 0, 9}, 68},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := frame(tt.size)
			copy(f.Data[12:], tt.tags)
			binary.BigEndian.PutUint16(f.Data[12+len(tt.tags):], 0x88b5)
			f.Data[tt.size-1] = 0x5a
			if n, err := a.Send([]packet.Frame{f}); n != 1 || err != nil {
				t.Fatalf("Send = %d, %v", n, err)
			}
			if got := recv(t, b, 1)[0].Data; string(got) != string(f.Data) {
				t.Errorf("got  %d bytes % x\nwant %d bytes % x", len(got), got[:24], len(f.Data), f.Data[:24])
			}
		})
	}
	if n, err := a.Send([]packet.Frame{frame(1518)}); n != 0 || err != nic.ErrTooLong {
		t.Errorf("Send of 1518 bytes without a tag = %d, %v; want %v", n, err, nic.ErrTooLong)
	}
	if n, err := a.Send([]packet.Frame{frame(60), {Data: make([]byte, 13)}}); n != 1 || err == nil ||
		err.Error() != "frame is shorter than an Ethernet header, 14 bytes" {
		t.Errorf("Send of 13 bytes = %d, %v", n, err)
	}
}

// TestStamp: arrivals are on the run's clock, between sending and receiving.
func TestStamp(t *testing.T) {
	lab.Need(t, "netns", "afpacket")
	wire := lab.Veth(t)
	now := func() int64 {
		var ts unix.Timespec
		unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
		return ts.Nano()
	}
	epoch := now() - 5e9
	a, b := open(t, wire.A, afpacket.Options{}).Queues[0], open(t, wire.B, afpacket.Options{Epoch: epoch}).Queues[0]
	for range 50 {
		before := now() - epoch
		a.Send([]packet.Frame{frame(60)})
		sent := now() - epoch
		time.Sleep(3 * time.Millisecond)
		got := recv(t, b, 1)[0].Nanos
		const error = 5000 // ns
		if got < before-error || got > sent+error {
			t.Errorf("arrived at %d, sent between %d and %d", got, before, sent)
		}
	}
}

// TestStatus: what the ring has no room for is missed, and a link that goes down is told.
func TestStatus(t *testing.T) {
	lab.Need(t, "netns", "afpacket")
	wire := lab.Veth(t)
	a, b := open(t, wire.A, afpacket.Options{}).Queues[0], open(t, wire.B, afpacket.Options{Ring: 1 << 18}).Queues[0]
	batch := make([]packet.Frame, 50)
	for i := range batch {
		batch[i] = frame(1514)
	}
	for range 20 {
		if n, err := a.Send(batch); n != len(batch) || err != nil {
			t.Fatalf("Send = %d, %v", n, err)
		}
	}
	time.Sleep(5 * time.Millisecond)
	var got int64
	f := make([]packet.Frame, 64)
	for n, _ := b.Recv(f); n > 0; n, _ = b.Recv(f) {
		got += int64(n)
	}
	status := nic.Of(b).Reporter.Status
	if s := status(); s.Missed == 0 || got+s.Missed != 1000 || s.LinkDown || s.Downs != 0 {
		t.Errorf("sent 1000, got %d, status %+v", got, s)
	}

	wire.IP("b", "link", "set", "b0", "down")
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		n, err := a.Send(batch)
		if n == 0 && err == nic.ErrDown {
			break
		}
		if n != 0 || err != nil || time.Since(began) > 3*time.Second { // a lost carrier takes up to 1 s to be told
			t.Fatalf("Send without carrier = %d, %v after %v; want %v", n, err, time.Since(began), nic.ErrDown)
		}
	}
	if n, err := b.Send(batch); n != 0 || err != nic.ErrDown {
		t.Errorf("Send on an interface set down = %d, %v; want %v", n, err, nic.ErrDown)
	}
	waits := 0
	for began := time.Now(); time.Since(began) < 50*time.Millisecond; waits++ {
		nic.Of(b).Waiter.Wait(time.Millisecond)
	}
	if waits > 100 {
		t.Errorf("%d Waits of 1 ms in 50 ms on a dead link", waits)
	}
	for name, p := range map[string]nic.Port{"a": a, "b": b} {
		if s := nic.Of(p).Reporter.Status(); !s.LinkDown || s.Downs != 1 {
			t.Errorf("%s: status %+v, want a link that went down once", name, s)
		}
	}
	wire.IP("b", "link", "set", "b0", "up")
	for until := time.Now().Add(2 * time.Second); nic.Of(a).Reporter.Status().LinkDown && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond)
	}
	if n, err := a.Send(batch[:1]); n != 1 || err != nil {
		t.Fatalf("Send on a link that is up again = %d, %v", n, err)
	}
	recv(t, b, 1)
	wire.IP("b", "link", "del", "b0")
	if n, err := a.Send(batch); n != 0 || err == nil || err.Error() != "interface a0 is gone: link is down" {
		t.Errorf("Send on a deleted interface = %d, %v", n, err)
	}
	if s := nic.Of(a).Reporter.Status(); !s.LinkDown {
		t.Errorf("deleted interface: status %+v", s)
	}
}

// TestForeign: frames of any kind and for anybody arrive, and what the kernel behind the port makes of them is not missed.
func TestForeign(t *testing.T) {
	lab.Need(t, "netns", "afpacket")
	wire := lab.Veth(t)
	a, b := open(t, wire.A, afpacket.Options{}).Queues[0], open(t, wire.B, afpacket.Options{}).Queues[0]
	var sent []packet.Frame
	for _, to := range []byte{2, 9} { // the port itself, somebody else
		for _, kind := range []uint16{0x0800, 0x0806, 0x86dd, 0x88cc, 0x88b5, 0x8100, 0x0027} {
			f := frame(60)
			f.Data[5] = to
			binary.BigEndian.PutUint16(f.Data[12:], kind)
			f.Data[15] = 0x11 // with 0x8100: VLAN 17, which the kernel does not have
			sent = append(sent, f)
		}
	}
	if n, err := a.Send(sent); n != len(sent) || err != nil {
		t.Fatalf("Send = %d, %v", n, err)
	}
	for got := 0; got < len(sent); {
		for _, f := range recv(t, b, 4) {
			if string(f.Data) != string(sent[got].Data) {
				t.Errorf("frame %d: got % x", got, f.Data[:16])
			}
			got++
		}
	}
	if s := nic.Of(b).Reporter.Status(); s != (nic.Status{}) {
		t.Errorf("status %+v", s)
	}
}
