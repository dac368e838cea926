package nic

import (
	"runtime"
	"sync/atomic"
)

// A Gate lets the halves of a port work until it is closed, by whichever goroutine: then memory and descriptors that they use may go.
// It costs two atomic additions a call.
type Gate struct{ state atomic.Int64 } // how many are inside; far below zero once it is closed

const gateClosed = -1 << 40

// Enter is false once the gate is closed; else Leave is due.
func (g *Gate) Enter() bool {
	if g.state.Add(1) > 0 {
		return true
	}
	g.state.Add(-1)
	return false
}

// Leave ends what Enter began.
func (g *Gate) Leave() { g.state.Add(-1) }

// Closed says whether Close was called.
func (g *Gate) Closed() bool { return g.state.Load() < 0 }

// Close lets nobody in any more and waits until all have left. It is false if the gate was closed before.
func (g *Gate) Close() bool {
	for {
		n := g.state.Load()
		if n < 0 {
			return false
		}
		if g.state.CompareAndSwap(n, n+gateClosed) {
			break
		}
	}
	for g.state.Load() > gateClosed {
		runtime.Gosched()
	}
	return true
}
