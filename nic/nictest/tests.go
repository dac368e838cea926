package nictest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"loadtest/nic"
	"loadtest/packet"
)

// order: frames arrive as they were sent, whatever the batches, and stamps do not run backwards.
func order(t *testing.T, w *wire) {
	next := 0
	for _, batch := range []int{1, 3, 7, 33, 64, 65} {
		var stamp int64
		for range 5 {
			w.send(w.A, frames(next, batch, short), batch)
			for got := 0; got < batch; {
				for _, f := range w.recv(w.B, batch) {
					w.check(f, next, 60)
					if f.Nanos != 0 && f.Nanos < stamp {
						t.Fatalf("frame %d arrived at %d, after one at %d", next, f.Nanos, stamp)
					}
					stamp = f.Nanos
					next++
					got++
				}
			}
		}
	}
}

// bothDirections: the two ways do not mix.
func bothDirections(t *testing.T, w *wire) {
	const n = 100
	for i := 0; i < n; i += 10 {
		w.send(w.A, frames(i, 10, short), 10)
		w.send(w.B, frames(1000+i, 10, short), 10)
	}
	for _, tt := range []struct {
		p     nic.Port
		first int
	}{{w.B, 0}, {w.A, 1000}} {
		for got := 0; got < n; {
			for _, f := range w.recv(tt.p, 64) {
				w.check(f, tt.first+got, 60)
				got++
			}
		}
	}
}

// sizes: every length from 60 to MaxFrame arrives to the byte (jumbo lengths in steps).
func sizes(t *testing.T, w *wire) {
	step := max(1, w.MaxFrame/1500)
	next := 0
	for size := 60; size <= w.MaxFrame; size += step {
		if size+step > w.MaxFrame {
			size = w.MaxFrame
		}
		w.send(w.A, []packet.Frame{frame(next, size)}, 1)
		if f := w.recv(w.B, 4); len(f) != 1 {
			t.Fatalf("sent one frame of %d bytes, got %d", size, len(f))
		} else {
			w.check(f[0], next, size)
		}
		next++
	}
}

// lending: bytes hold still until the next Recv, whatever is sent meanwhile; Send does not keep what it borrowed; a lent frame
// cannot be appended into its neighbour.
func lending(t *testing.T, w *wire) {
	sent := frames(0, 8, short)
	w.send(w.A, sent, 8)
	for i := range sent {
		clear(sent[i].Data)
	}
	var kept [][]byte
	for got := 0; got < 8; {
		lent := w.recv(w.B, 3)
		w.send(w.A, frames(100, 8, short), 8)
		for range 5 {
			w.settle()
		}
		for _, f := range lent {
			if got < 8 {
				w.check(f, got, 60)
				if cap(f.Data) != len(f.Data) {
					t.Fatalf("lent %d bytes with a capacity of %d", len(f.Data), cap(f.Data))
				}
				kept = append(kept, append([]byte(nil), f.Data...))
				got++
			}
		}
	}
	for i, b := range kept {
		w.check(packet.Frame{Data: b}, i, 60)
	}
}

// full: a port that has no room takes less and says nothing; what it took arrives, or is counted as missed.
func full(t *testing.T, w *wire) {
	const most = 40000
	batch := frames(0, 64, func(int) int { return w.MaxFrame })
	var taken, got int64
	refused := false
	for taken < most && !refused {
		n, err := w.A.Send(batch)
		if err != nil {
			t.Fatalf("Send of a full port = %d, %v; want no error", n, err)
		}
		taken += int64(n)
		refused = n < len(batch)
	}
	f := make([]packet.Frame, 64)
	var missed int64
	for until := time.Now().Add(patience); got+missed < taken && time.Now().Before(until); {
		n, err := w.B.Recv(f)
		if err != nil {
			t.Fatalf("Recv = %d, %v", n, err)
		}
		for _, g := range f[:n] {
			if ours(g) {
				got++
			}
		}
		if n == 0 {
			w.settle()
			if r := nic.Of(w.B).Reporter; r != nil {
				missed = r.Status().Missed
			}
		}
	}
	if got+missed != taken {
		t.Fatalf("took %d frames, gave %d and missed %d: %d lost silently", taken, got, missed, taken-got-missed)
	}
	t.Logf("took %d frames before it %s, missed %d", taken, map[bool]string{true: "was full", false: "was left alone"}[refused], missed)
	w.silent(w.B, "after the last one") // and gives back what was lent
	w.send(w.A, frames(5, 1, short), 1)
	w.check(w.recv(w.B, 1)[0], 5, 60)
}

// tooLong: the error is about frames[n]; those before it are on their way, those after it may be sent.
func tooLong(t *testing.T, w *wire) {
	for at := range 3 {
		f := frames(0, 3, short)
		f[at] = frame(at, w.MaxFrame+100)
		n, err := w.A.Send(f)
		if n != at || !errors.Is(err, nic.ErrTooLong) {
			t.Fatalf("Send with frame %d of %d bytes = %d, %v; want %d, %v", at, w.MaxFrame+100, n, err, at, nic.ErrTooLong)
		}
		w.send(w.A, f[at+1:], 3)
		for i := range 3 {
			if i != at {
				w.check(w.recv(w.B, 1)[0], i, 60)
			}
		}
	}
}

func emptyBatches(t *testing.T, w *wire) {
	for name, call := range map[string]func([]packet.Frame) (int, error){"Send": w.A.Send, "Recv": w.B.Recv} {
		if n, err := call(nil); n != 0 || err != nil {
			t.Errorf("%s(nil) = %d, %v", name, n, err)
		}
	}
}

// ownFrames: a port does not hear itself.
func ownFrames(t *testing.T, w *wire) {
	w.send(w.A, frames(0, 20, short), 20)
	for got := 0; got < 20; {
		got += len(w.recv(w.B, 20))
	}
	w.silent(w.A, "sent by this port itself")
}

// allocations: Send and Recv make no garbage.
func allocations(t *testing.T, w *wire) {
	batch, f := frames(0, 8, short), make([]packet.Frame, 64)
	for name, call := range map[string]func(){
		"Send": func() { w.A.Send(batch) },
		"Recv": func() { w.B.Recv(f) },
	} {
		if n := testing.AllocsPerRun(50, call); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	if o := nic.Of(w.B); o.Waiter != nil {
		if n := testing.AllocsPerRun(5, func() { o.Waiter.Wait(time.Millisecond) }); n != 0 {
			t.Errorf("Wait: %v allocations", n)
		}
	}
}

// closed: both halves say so, and closing again does no harm.
func closed(t *testing.T, w *wire) {
	w.send(w.A, frames(0, 4, short), 4)
	w.recv(w.B, 4)
	if err := w.A.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	for range 2 {
		if n, err := w.A.Send(frames(0, 1, short)); n != 0 || !errors.Is(err, nic.ErrClosed) {
			t.Errorf("Send on a closed port = %d, %v; want %v", n, err, nic.ErrClosed)
		}
		if n, err := w.A.Recv(make([]packet.Frame, 1)); n != 0 || !errors.Is(err, nic.ErrClosed) {
			t.Errorf("Recv on a closed port = %d, %v; want %v", n, err, nic.ErrClosed)
		}
		if err := w.A.Close(); err != nil && fmt.Sprint(err) != nic.ErrClosed.Error() {
			t.Errorf("Close of a closed port: %v", err)
		}
	}
}

// closedWhileSending: another goroutine may close a port at any time; its halves learn of it and touch nothing any more.
func closedWhileSending(t *testing.T, w *wire) {
	if w.Single {
		t.Skip("one goroutine drives these ports: nobody else closes them")
	}
	halves := make(chan error, 2)
	busy := make(chan struct{}, 1)
	batch, f := frames(0, 33, short), make([]packet.Frame, 33)
	for _, half := range []func() error{
		func() error { _, err := w.A.Send(batch); return err },
		func() error { _, err := w.A.Recv(f); return err },
	} {
		go func() {
			for until := time.Now().Add(patience); time.Now().Before(until); {
				if err := half(); err != nil {
					halves <- err
					return
				}
				select {
				case busy <- struct{}{}:
				default:
				}
			}
			halves <- nil
		}()
	}
	<-busy
	time.Sleep(5 * time.Millisecond)
	if err := w.A.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	for range 2 {
		if err := <-halves; !errors.Is(err, nic.ErrClosed) {
			t.Errorf("a half that was at work says %v, want %v", err, nic.ErrClosed)
		}
	}
}

// goneWhileSending: a port whose wire is gone says so, and takes nothing more.
func goneWhileSending(t *testing.T, w *wire) {
	if w.Gone == nil {
		t.Skip("this wire cannot go")
	}
	batch := frames(0, 33, short)
	w.send(w.A, batch, 33)
	w.Gone()
	for until := time.Now().Add(patience); ; {
		n, err := w.A.Send(batch)
		if err != nil {
			if !errors.Is(err, nic.ErrDown) && !errors.Is(err, nic.ErrClosed) {
				t.Errorf("Send = %d, %v; want %v", n, err, nic.ErrDown)
			}
			break
		}
		if time.Now().After(until) {
			t.Fatal("Send still takes frames")
		}
	}
	if r := nic.Of(w.A).Reporter; r != nil && !r.Status().LinkDown {
		t.Error("Status says the link is up")
	}
	if _, err := w.A.Recv(make([]packet.Frame, 8)); err != nil && !errors.Is(err, nic.ErrDown) && !errors.Is(err, nic.ErrClosed) {
		t.Errorf("Recv: %v", err)
	}
}
