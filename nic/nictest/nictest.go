// Package nictest is the one conformance test of all ports.
//
//	numbered frames ─Send→ A ═ wire ═ B ─Recv→ checked: order, bytes, lending, full, too long, closed
package nictest

import (
	"encoding/binary"
	"errors"
	"runtime"
	"testing"
	"time"

	"loadtest/nic"
	"loadtest/packet"
)

// A Pair is two ports at the ends of a wire that loses nothing and has room for 256 frames in each direction.
type Pair struct {
	A, B     nic.Port
	MaxFrame int    // longest frame without FCS that both take; 0 is 1514
	Single   bool   // one goroutine drives both ports and the wire: time is simulated
	Gone     func() // takes the wire away for good, as when an interface is deleted; nil: that cannot happen
	Settle   func() // called while a frame is awaited: steps a simulated wire, or sleeps a little; nil yields
}

// Run tests that the ports which open gives keep the contract of nic.Port. Each test opens a pair of its own and closes it.
func Run(t *testing.T, open func(*testing.T) Pair) {
	for _, tt := range []struct {
		name string
		run  func(*testing.T, *wire)
	}{
		{"order", order}, {"both directions", bothDirections}, {"sizes", sizes}, {"lending", lending}, {"full", full},
		{"too long", tooLong}, {"empty batches", emptyBatches}, {"own frames", ownFrames}, {"allocations", allocations},
		{"closed", closed}, {"closed while sending", closedWhileSending}, {"gone while sending", goneWhileSending},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			p := open(t)
			w := &wire{Pair: p, t: t}
			if w.MaxFrame == 0 {
				w.MaxFrame = 1514
			}
			tt.run(t, w)
			for _, port := range []nic.Port{p.A, p.B} {
				if err := port.Close(); err != nil && !errors.Is(err, nic.ErrClosed) {
					t.Errorf("Close: %v", err)
				}
			}
			for i := 0; runtime.NumGoroutine() > before; i++ {
				if i == 100 {
					t.Fatalf("%d goroutines before, %d after Close", before, runtime.NumGoroutine())
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
}

// patience is how long a frame may take from Send to Recv.
const patience = 2 * time.Second

// etherType marks our frames (IEEE 802 local experimental); whatever else arrives is not ours and is skipped.
const etherType = 0x88b5

// A wire is a pair and the test that uses it.
type wire struct {
	Pair
	t *testing.T
}

// frame makes our frame number i: addresses, type, number, then bytes that depend on the number.
func frame(i, size int) packet.Frame {
	b := make([]byte, size)
	copy(b, []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1})
	binary.BigEndian.PutUint16(b[12:], etherType)
	binary.BigEndian.PutUint32(b[14:], uint32(i))
	for k := 18; k < size; k++ {
		b[k] = byte(i*7 + k)
	}
	return packet.Frame{Data: b, Nanos: int64(i + 1)}
}

// frames makes the frames first..first+n-1, their sizes by size.
func frames(first, n int, size func(i int) int) []packet.Frame {
	f := make([]packet.Frame, n)
	for k := range f {
		f[k] = frame(first+k, size(first+k))
	}
	return f
}

func short(int) int { return 60 }

func ours(f packet.Frame) bool {
	return len(f.Data) >= 18 && binary.BigEndian.Uint16(f.Data[12:]) == etherType
}

// check says whether f is our frame number i, of that size, to the byte.
func (w *wire) check(f packet.Frame, i, size int) {
	w.t.Helper()
	if string(f.Data) != string(frame(i, size).Data) {
		w.t.Fatalf("frame %d: got number %d and %d bytes, want %d bytes:\n% x", i, binary.BigEndian.Uint32(f.Data[14:]),
			len(f.Data), size, f.Data[:min(64, len(f.Data))])
	}
}

// settle gives the wire a chance to carry frames.
func (w *wire) settle() {
	if w.Settle != nil {
		w.Settle()
	} else {
		runtime.Gosched()
	}
}

// send sends all frames in batches of the given size.
func (w *wire) send(p nic.Port, f []packet.Frame, batch int) {
	w.t.Helper()
	for until := time.Now().Add(patience); len(f) > 0; {
		n, err := p.Send(f[:min(batch, len(f))])
		if err != nil {
			w.t.Fatalf("Send of %d frames = %d, %v", min(batch, len(f)), n, err)
		}
		f = f[n:]
		if n == 0 {
			if time.Now().After(until) {
				w.t.Fatalf("Send took nothing for %v; %d frames left", patience, len(f))
			}
			w.settle()
		}
	}
}

// recv waits for one burst of up to batch of our frames.
func (w *wire) recv(p nic.Port, batch int) []packet.Frame {
	w.t.Helper()
	f := make([]packet.Frame, batch)
	for until := time.Now().Add(patience); ; {
		n, err := p.Recv(f)
		if err != nil {
			w.t.Fatalf("Recv = %d, %v", n, err)
		}
		mine := f[:0]
		for _, g := range f[:n] {
			if ours(g) {
				mine = append(mine, g)
			}
		}
		if len(mine) > 0 {
			return mine
		}
		if time.Now().After(until) {
			w.t.Fatalf("Recv gave nothing for %v", patience)
		}
		w.settle()
	}
}

// silent checks that none of our frames arrives for a while.
func (w *wire) silent(p nic.Port, why string) {
	w.t.Helper()
	f := make([]packet.Frame, 8)
	for range 20 {
		w.settle()
		n, err := p.Recv(f)
		if err != nil {
			w.t.Fatalf("Recv = %d, %v", n, err)
		}
		for _, g := range f[:n] {
			if ours(g) {
				w.t.Fatalf("%s: got frame %d", why, binary.BigEndian.Uint32(g.Data[14:]))
			}
		}
	}
}
