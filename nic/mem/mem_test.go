package mem_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"loadtest/internal/clock"
	"loadtest/nic"
	"loadtest/nic/mem"
	"loadtest/nic/nictest"
	"loadtest/packet"
)

func TestPort(t *testing.T) {
	for name, o := range map[string]mem.Options{
		"default":         {},
		"ordinary frames": {Slots: 200, MaxFrame: 1514},
		"filter":          {Slots: 256, AB: mem.Every(1, mem.Pass)},
		"delay":           {Delay: 20 * time.Microsecond, Clock: clock.NewReal().Now},
	} {
		t.Run(name, func(t *testing.T) {
			nictest.Run(t, func(*testing.T) nictest.Pair {
				a, b := mem.New(o)
				return nictest.Pair{A: a.Queues[0], B: b.Queues[0], MaxFrame: a.Info.MaxFrame}
			})
		})
	}
}

// numbered makes n frames whose first byte is their number.
func numbered(n int) []packet.Frame {
	f := make([]packet.Frame, n)
	for i := range f {
		f[i] = packet.Frame{Data: append([]byte{byte(i)}, make([]byte, 59)...), Nanos: int64(i) * 1000}
	}
	return f
}

func TestFilter(t *testing.T) {
	for _, tt := range []struct {
		name   string
		filter mem.Filter
		want   []byte
	}{
		{"none", nil, []byte{0, 1, 2, 3, 4, 5}},
		{"drop each third", mem.Every(3, mem.Drop), []byte{0, 1, 3, 4}},
		{"double each third", mem.Every(3, mem.Twice), []byte{0, 1, 2, 2, 3, 4, 5, 5}},
		{"swap each second", mem.Every(2, mem.Swap), []byte{0, 2, 1, 4, 3}}, // 5 waits for a successor
		{"swap a doubled one", mem.First(mem.Every(3, mem.Twice), mem.Every(2, mem.Swap)), []byte{0, 2, 2, 1, 4, 3, 5, 5}},
		{"two in a row", mem.Every(1, mem.Swap), []byte{1, 0, 3, 2, 5, 4}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := mem.New(mem.Options{Slots: 32, AB: tt.filter})
			if n, err := a.Queues[0].Send(numbered(6)); n != 6 || err != nil {
				t.Fatalf("Send = %d, %v", n, err)
			}
			f := make([]packet.Frame, 32)
			n, err := b.Queues[0].Recv(f)
			if err != nil {
				t.Fatal(err)
			}
			var got []byte
			for _, g := range f[:n] {
				got = append(got, g.Data[0])
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestDelay(t *testing.T) {
	a, b := mem.New(mem.Options{Delay: 50 * time.Microsecond})
	a.Queues[0].Send(numbered(3))
	f := make([]packet.Frame, 8)
	n, _ := b.Queues[0].Recv(f)
	for i, g := range f[:n] {
		if want := int64(i)*1000 + 50000; g.Nanos != want {
			t.Errorf("frame %d arrived at %d, want %d", i, g.Nanos, want)
		}
	}
}

func TestPeerClosed(t *testing.T) {
	a, b := mem.Pair(8)
	a.Queues[0].Send(numbered(2))
	a.Queues[0].Close()
	if n, err := b.Queues[0].Recv(make([]packet.Frame, 8)); n != 2 || err != nil {
		t.Errorf("Recv of what was sent before the close = %d, %v; want 2", n, err)
	}
	if n, err := b.Queues[0].Send(numbered(1)); n != 0 || !errors.Is(err, nic.ErrDown) {
		t.Errorf("Send to a closed end = %d, %v; want %v", n, err, nic.ErrDown)
	}
	if s := nic.Of(b.Queues[0]).Reporter.Status(); !s.LinkDown || s.Downs != 1 {
		t.Errorf("Status = %+v, want a link that went down once", s)
	}
}

// TestTwoThreads has each half in a goroutine of its own; the race detector watches.
func TestTwoThreads(t *testing.T) {
	a, b := mem.Pair(4)
	const total = 100000
	go func() {
		f := numbered(7)
		for sent := 0; sent < total; {
			for i := range f {
				f[i].Data[0], f[i].Nanos = byte(sent+i), int64(sent+i)
			}
			n, _ := a.Queues[0].Send(f[:min(7, total-sent)])
			sent += n
		}
	}()
	f := make([]packet.Frame, 5)
	for got := 0; got < total; {
		n, err := b.Queues[0].Recv(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range f[:n] {
			if g.Data[0] != byte(got) || g.Nanos != int64(got) {
				t.Fatalf("frame %d: got %d at %d", got, g.Data[0], g.Nanos)
			}
			got++
		}
	}
}

func BenchmarkSendRecv(b *testing.B) {
	for _, tt := range []struct {
		name       string
		size, max_ int
	}{{"60 bytes", 60, 9216}, {"60 bytes, slots for 2048", 60, 2048}, {"1514 bytes", 1514, 9216}} {
		b.Run(tt.name, func(b *testing.B) {
			x, y := mem.New(mem.Options{MaxFrame: tt.max_})
			send, recv := numbered(64), make([]packet.Frame, 64)
			for i := range send {
				send[i].Data = make([]byte, tt.size)
			}
			b.ReportAllocs()
			frames := 0
			for b.Loop() {
				n, _ := x.Queues[0].Send(send)
				y.Queues[0].Recv(recv)
				frames += n
			}
			b.ReportMetric(float64(frames)/b.Elapsed().Seconds()/1e6, "Mpps")
		})
	}
}

// With a clock a frame arrives when its delay has passed, not before, and says nothing of the time.
func TestLiveDelay(t *testing.T) {
	now := int64(1000)
	a, b := mem.New(mem.Options{Slots: 16, Delay: 200, Clock: func() int64 { return now }, AB: mem.Every(3, mem.Twice)})
	f := make([]packet.Frame, 16)
	recv := func() (got []byte) {
		n, err := b.Queues[0].Recv(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range f[:n] {
			if f.Nanos != 0 {
				t.Errorf("frame %d says %d, want no stamp", f.Data[0], f.Nanos)
			}
			got = append(got, f.Data[0])
		}
		return got
	}
	send := func(frames []packet.Frame) {
		if n, err := a.Queues[0].Send(frames); n != len(frames) || err != nil {
			t.Fatalf("Send = %d, %v", n, err)
		}
	}
	all := numbered(5)
	send(all[:2])
	now = 1100
	send(all[2:])
	for _, tt := range []struct {
		at   int64
		want []byte
	}{{1100, nil}, {1199, nil}, {1200, []byte{0, 1}}, {1200, nil}, {1299, nil}, {1300, []byte{2, 2, 3, 4}}, {5000, nil}} {
		now = tt.at
		if got := recv(); !slices.Equal(got, tt.want) {
			t.Errorf("at %d: frames %v, want %v", tt.at, got, tt.want)
		}
	}
}
