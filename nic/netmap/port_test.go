package netmap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"loadtest/nic"
	"loadtest/nic/nictest"
	"loadtest/packet"
)

// cable is two ports of a module, a0 and b0, ring to ring.
func cable(t testing.TB, a, b shape, lazy bool) *module {
	m := newModule(t)
	join(m.add("a0", a), m.add("b0", b), lazy)
	return m
}

// open opens a port until the test ends.
func open(t testing.TB, m *module, name string) nic.Device {
	t.Helper()
	d, err := m.system().device(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, q := range d.Queues {
			if err := q.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return d
}

func one(slots, size int) shape { return shape{1, 1, 1, 1, slots, size} }

func TestPort(t *testing.T) {
	for _, tt := range []struct {
		name   string
		a, b   shape
		lazy   bool
		suffix string
		mtu    int
	}{
		{"512 slots", one(512, 2048), one(512, 2048), false, "", 1500},
		{"257 and 1021 slots", one(257, 2048), one(1021, 2048), false, "", 1500},
		{"sent slots come back late", one(1021, 2048), one(257, 2048), true, "", 1500},
		{"host rings", one(300, 2048), one(300, 2048), true, "^", 1500},
		{"MTU 9000", one(300, 9216), one(300, 9216), true, "", 9000},
		{"a short buffer", one(300, 512), one(300, 512), false, "", 1500},
	} {
		t.Run(tt.name, func(t *testing.T) {
			nictest.Run(t, func(t *testing.T) nictest.Pair {
				m := cable(t, tt.a, tt.b, tt.lazy)
				m.mtu = tt.mtu
				a, b := open(t, m, "a0"+tt.suffix), open(t, m, "b0"+tt.suffix)
				return nictest.Pair{A: a.Queues[0], B: b.Queues[0], MaxFrame: a.Info.MaxFrame, Settle: m.run, Gone: func() {
					m.mu.Lock()
					m.gone = true
					m.mu.Unlock()
				}}
			})
		})
	}
}

// numbered is a frame that can be told from others.
func numbered(i, size int) packet.Frame {
	b := make([]byte, size)
	binary.BigEndian.PutUint32(b, uint32(i))
	return packet.Frame{Data: b}
}

func number(f packet.Frame) int { return int(binary.BigEndian.Uint32(f.Data)) }

// Rings of odd sizes wrap many times, are filled to the last slot and emptied, in bursts that do not divide them; nothing is lost.
func TestWrap(t *testing.T) {
	for _, slots := range [][2]int{{2, 2}, {3, 7}, {7, 3}, {64, 5}, {61, 64}} {
		for _, lazy := range []bool{false, true} {
			t.Run(fmt.Sprint(slots, lazy), func(t *testing.T) {
				m := cable(t, one(slots[0], 128), one(slots[1], 128), lazy)
				a, b := open(t, m, "a0").Queues[0], open(t, m, "b0").Queues[0]
				sent, got, full := 0, 0, 0
				f := make([]packet.Frame, 70)
				for i := 0; got < 2000; i++ {
					batch := make([]packet.Frame, 1+i*7%69)
					for k := range batch {
						batch[k] = numbered(sent+k, 60+(sent+k)%40)
					}
					n, err := a.Send(batch)
					if err != nil {
						t.Fatal(err)
					}
					if sent += n; n < len(batch) {
						full++
					}
					n, err = b.Recv(f[:1+i*5%69])
					if err != nil {
						t.Fatal(err)
					}
					for _, f := range f[:n] {
						if number(f) != got || len(f.Data) != 60+got%40 {
							t.Fatalf("frame %d of %d bytes, want %d of %d", number(f), len(f.Data), got, 60+got%40)
						}
						got++
					}
				}
				if most := slots[0] + slots[1]; full == 0 || sent-got > most {
					t.Errorf("full %d times, %d frames are in rings of %d slots", full, sent-got, most)
				}
			})
		}
	}
}

// A port that has no room takes as many as there are slots but one in both rings, and the same again when they were read.
func TestFull(t *testing.T) {
	m := cable(t, one(8, 128), one(16, 128), true)
	a, b := open(t, m, "a0").Queues[0], open(t, m, "b0").Queues[0]
	batch, f := make([]packet.Frame, 4), make([]packet.Frame, 64)
	for i := range batch {
		batch[i] = numbered(i, 60)
	}
	for round := range 3 {
		taken := 0
		for calls := 0; calls < 20; calls++ {
			n, err := a.Send(batch)
			if err != nil {
				t.Fatal(err)
			}
			taken += n
		}
		if taken != 7+15 {
			t.Errorf("round %d: took %d frames, want 7 in its ring and 15 in the other", round, taken)
		}
		for got := 0; got < taken; {
			n, err := b.Recv(f)
			if n == 0 || err != nil {
				if m.run(); err != nil {
					t.Fatal(n, err)
				}
			}
			got += n
		}
		if n, err := b.Recv(f); n != 0 || err != nil {
			t.Fatalf("Recv = %d, %v", n, err)
		}
	}
}

// Each pair of rings is a queue of its own; one that has no ring to receive gets nobody else's.
func TestSeveralRings(t *testing.T) {
	m := cable(t, shape{3, 2, 2, 2, 8, 128}, shape{3, 3, 2, 2, 8, 128}, false)
	f := make([]packet.Frame, 8)
	t.Run("all rings", func(t *testing.T) {
		a, b := open(t, m, "a0").Queues, open(t, m, "b0").Queues
		if len(a) != 3 || len(b) != 3 {
			t.Fatalf("%d and %d queues, want 3 and 3", len(a), len(b))
		}
		for i := range 3 {
			for _, way := range [][2]nic.Port{{a[i], b[i]}, {b[i], a[i%2]}} { // a0 has two rings to receive: the cable leads b0's third to its first
				if n, err := way[0].Send([]packet.Frame{numbered(i, 60)}); n != 1 || err != nil {
					t.Fatalf("queue %d: Send = %d, %v", i, n, err)
				}
				for _, q := range append(a[:3:3], b...) {
					want := 0
					if q == way[1] {
						want = 1
					}
					if n, err := q.Recv(f); n != want || err != nil || n == 1 && number(f[0]) != i {
						t.Errorf("queue %d: Recv = %d, %v, want %d", i, n, err, want)
					}
				}
			}
		}
		began := time.Now()
		nic.Of(a[2]).Waiter.Wait(time.Hour)
		if d := time.Since(began); d > time.Minute {
			t.Errorf("Wait without a ring took %v", d)
		}
	})
	t.Run("one ring", func(t *testing.T) {
		a, b := open(t, m, "a0-1"), open(t, m, "b0-1")
		if len(a.Queues) != 1 || len(b.Queues) != 1 {
			t.Fatalf("%d and %d queues, want one each", len(a.Queues), len(b.Queues))
		}
		if n, err := a.Queues[0].Send([]packet.Frame{numbered(9, 60)}); n != 1 || err != nil {
			t.Fatalf("Send = %d, %v", n, err)
		}
		if n, err := b.Queues[0].Recv(f); n != 1 || err != nil || number(f[0]) != 9 {
			t.Errorf("Recv = %d, %v", n, err)
		}
	})
	t.Run("host rings", func(t *testing.T) {
		if d := open(t, m, "a0^"); len(d.Queues) != 2 || d.Info.Mode != "host rings, 2 × 8 slots" {
			t.Errorf("%d queues, %q", len(d.Queues), d.Info.Mode)
		}
	})
}

// A frame in several slots is missed, once, also when it is cut by a burst; so is one whose length lies.
func TestFragments(t *testing.T) {
	for _, burst := range []int{1, 2, 8} {
		t.Run(fmt.Sprint(burst), func(t *testing.T) {
			m := cable(t, one(16, 128), one(16, 128), false)
			b := open(t, m, "b0").Queues[0]
			rx := m.nifs["b0"].rings[2]
			for _, s := range []struct{ length, flags int }{
				{60, 0}, {128, moreFragments}, {128, moreFragments}, {60, 0}, {61, 0}, {128, moreFragments}, {14, 0}, {62, 0}, {13, 0}, {63, 0x0300}, {128, 0},
			} {
				rx.arrive(make([]byte, s.length), s.flags)
			}
			rx.memory.put16(rx.slot(10)+slotLength, 129)
			rx.remember(10)
			var got []int
			f := make([]packet.Frame, burst)
			for range 20 {
				n, err := b.Recv(f)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range f[:n] {
					got = append(got, len(f.Data))
				}
			}
			if fmt.Sprint(got) != "[60 61 62 63]" {
				t.Errorf("got frames of %d bytes, want 60 to 63", got)
			}
			if s := nic.Of(b).Reporter.Status(); s.Missed != 4 {
				t.Errorf("missed %d, want 2 frames of several slots and 2 of wrong lengths", s.Missed)
			}
		})
	}
}

func TestLengths(t *testing.T) {
	for _, tt := range []struct {
		mtu, size, length int
		tagged            bool
		want              error
	}{
		{1500, 2048, 1514, false, nil}, {1500, 2048, 1515, false, nic.ErrTooLong}, {1500, 2048, 1518, true, nil}, {1500, 2048, 1519, true, nic.ErrTooLong},
		{1500, 1516, 1516, true, nil}, {1500, 1516, 1517, true, nic.ErrTooLong}, {9000, 2048, 2048, false, nil}, {9000, 2048, 2049, true, nic.ErrTooLong},
		{1500, 2048, 14, false, nil}, {1500, 2048, 13, false, errTooShort}, {1500, 2048, 0, false, errTooShort},
		{1 << 20, 1 << 16, 1<<16 - 1, false, nil}, {1 << 20, 1 << 16, 1 << 16, true, nic.ErrTooLong},
	} {
		m := cable(t, one(4, tt.size), one(4, tt.size), false)
		m.mtu = tt.mtu
		a := open(t, m, "a0").Queues[0]
		f := packet.Frame{Data: make([]byte, tt.length)}
		if tt.tagged {
			f.Data[12] = 0x81
		}
		if _, err := a.Send([]packet.Frame{f}); !errors.Is(err, tt.want) {
			t.Errorf("MTU %d, buffers of %d, %d bytes, tagged %v: %v, want %v", tt.mtu, tt.size, tt.length, tt.tagged, err, tt.want)
		}
	}
}

// Wait does not keep the caller when a frame is there, and does not give back what is lent.
func TestWait(t *testing.T) {
	m := cable(t, one(8, 128), one(8, 128), false)
	a, b := open(t, m, "a0").Queues[0], open(t, m, "b0").Queues[0]
	f := make([]packet.Frame, 2)
	for i := range 3 {
		if n, err := a.Send([]packet.Frame{numbered(i, 60)}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	wait := nic.Of(b).Waiter.Wait
	wait(time.Minute)
	if n, err := b.Recv(f); n != 2 || err != nil {
		t.Fatalf("Recv = %d, %v", n, err)
	}
	began := time.Now()
	wait(time.Minute) // one more is there
	if d := time.Since(began); d > 30*time.Second {
		t.Errorf("Wait took %v", d)
	}
	if number(f[0]) != 0 || number(f[1]) != 1 {
		t.Errorf("lent frames became %d and %d", number(f[0]), number(f[1]))
	}
	if n, _ := b.Recv(f); n != 1 || number(f[0]) != 2 {
		t.Errorf("Recv = %d", n)
	}
	wait(time.Millisecond) // asks the kernel, while a frame is lent
	if number(f[0]) != 2 {
		t.Errorf("a lent frame became %d", number(f[0]))
	}
}

// What concerns the interface is told by the first queue; rings that do not move are a link that is down, until they move again.
func TestStatus(t *testing.T) {
	m := cable(t, shape{2, 2, 1, 1, 8, 128}, shape{2, 2, 1, 1, 8, 128}, false)
	m.state = nic.Status{Missed: 5, TxErrors: 6, Downs: 1, TxFrames: 9}
	d := open(t, m, "a0")
	status := func(i int) nic.Status { return nic.Of(d.Queues[i]).Reporter.Status() }
	for i, want := range []nic.Status{{Missed: 5, TxErrors: 6, Downs: 1, TxFrames: -1}, {Downs: 1, TxFrames: -1}} {
		if got := status(i); got != want {
			t.Errorf("queue %d: %+v, want %+v", i, got, want)
		}
	}
	f := []packet.Frame{numbered(1, 60)}
	m.gone = true
	for range 2 {
		if n, err := d.Queues[1].Send(f); n != 1 || !errors.Is(err, nic.ErrDown) || !errors.Is(err, syscall.EIO) {
			t.Errorf("Send = %d, %v; want it taken, and %v", n, err, nic.ErrDown)
		}
	}
	if s := status(1); !s.LinkDown || s.Downs != 1 {
		t.Errorf("rings that do not move: %+v", s)
	}
	m.gone, m.state = false, nic.Status{}
	if n, err := d.Queues[1].Send(f); n != 1 || err != nil {
		t.Errorf("Send = %d, %v", n, err)
	}
	if s := status(1); s.LinkDown || s.Downs != 1 {
		t.Errorf("rings that move again: %+v", s)
	}
	d.Queues[0].Close()
	if s := status(0); !s.LinkDown {
		t.Errorf("closed: %+v", s)
	}
}

// A slot whose buffer is none of the memory's is never written or read.
func TestStrangeBuffers(t *testing.T) {
	m := cable(t, one(8, 128), one(8, 128), false)
	m.complain = func(string, ...any) {}
	a, b := open(t, m, "a0").Queues[0], open(t, m, "b0").Queues[0]
	tx, rx := m.nifs["a0"].rings[0], m.nifs["b0"].rings[2]
	for i := range 4 {
		if n, err := a.Send([]packet.Frame{numbered(i, 60)}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	f := make([]packet.Frame, 4)
	if n, err := b.Recv(f[:1]); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	rx.memory.put32(rx.slot(2), 1<<30)
	if n, err := b.Recv(f); n != 2 || err != nil || number(f[0]) != 1 || number(f[1]) != 3 || nic.Of(b).Reporter.Status().Missed != 1 {
		t.Errorf("Recv = %d, %v; want frames 1 and 3, and one missed", n, err)
	}
	tx.memory.put32(tx.slot(4), 0)
	if n, err := a.Send([]packet.Frame{numbered(4, 60)}); n != 0 || err == nil || err.Error() != "netmap gave a slot whose buffer is none of its memory" {
		t.Errorf("Send = %d, %v", n, err)
	}
}
