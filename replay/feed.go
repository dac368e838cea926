package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"loadtest/packet"
)

// Of what is read ahead of the sender, for each lane.
const (
	chunkBytes = 4 << 20
	chunks     = 16

	// ReadAhead is the memory, in bytes, that a stream from disk takes for its packets.
	ReadAhead = chunks * (chunkBytes + 1<<17)
)

// A feed reads a lane's packets from disk while they are sent, chunk by chunk, in a thread of its own. What was sent is filled again:
//
//	Source → full ─nextChunk→ cur → before ─nextChunk→ free → full
type feed struct {
	stream Stream
	mode   packet.TagMode
	vary   *variety
	least  int              // packets of a chunk: the burst at hand is in two of them at most
	flows  map[uint64]int32 // of packets without a tag: packet.Flow as sent → the receiver's number

	full, free chan *chunk
	ahead      chan struct{} // closed when all chunks are full, or nothing is left to read
	stop       chan struct{}
	stopped    atomic.Bool // stop is closed: cheaper to ask for each packet
	err        error       // why there is no further chunk; to be read once full is closed
}

// An Untagged is what a sender must know beforehand of the packets of a stream that it reads from disk: one packet of each flow that
// gets no tag.
type Untagged struct {
	Packets int64 // without a tag, in one pass
	seen    map[uint64]bool
	store   packet.Store
	server  []bool // of each packet of store
}

// Add looks at a packet as it will be sent.
func (u *Untagged) Add(r *packet.Record, mode packet.TagMode) {
	b := r.Data
	if packet.TagOffset(b, mode) >= 0 {
		return
	}
	u.Packets++
	if u.seen == nil {
		u.seen = make(map[uint64]bool)
	}
	if flow := packet.Flow(b); !u.seen[flow] {
		u.seen[flow] = true
		u.store.Append(b, 0, len(b))
		u.server = append(u.server, r.Server)
	}
}

func newFeed(s Stream, o Options, v *variety) *feed {
	f := &feed{stream: s, mode: o.Tag, vary: v, least: 2 * o.Burst, flows: make(map[uint64]int32), free: make(chan *chunk, chunks)}
	for range chunks {
		c := &chunk{store: new(packet.Store)}
		c.store.Grow(f.least, chunkBytes+1<<17)
		f.free <- c
	}
	return f
}

// begin starts to read, so many passes (0: without end), and returns when it is as far ahead as it will be.
func (f *feed) begin(ctx context.Context, passes int64) error {
	f.full, f.ahead, f.stop, f.err = make(chan *chunk, chunks), make(chan struct{}), make(chan struct{}), nil
	f.stopped.Store(false)
	go f.run(passes)
	select {
	case <-f.ahead:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// end stops reading; cur and before come back, and what was read and not sent.
func (f *feed) end(held ...*chunk) {
	if f.stop == nil {
		return
	}
	f.stopped.Store(true)
	close(f.stop)
	for c := range f.full {
		held = append(held, c)
	}
	for _, c := range held {
		if c != nil {
			f.free <- c
		}
	}
	f.stop = nil
}

var errEnough = errors.New("enough")

// run fills chunks until all passes are read or end is called.
func (f *feed) run(passes int64) {
	defer close(f.full)
	w := &filler{feed: f}
	for n := int64(0); passes == 0 || n < passes; n++ {
		if f.err = w.pass(n); f.err != nil {
			break
		}
	}
	if f.err == nil && w.at != nil {
		w.at.tail = f.stream.Span*passes + f.stream.Packets.Frame(0).Nanos - f.stream.Epoch - w.last // to where it would be next
		w.push()
	}
	if w.at != nil {
		f.free <- w.at
	}
	w.arrived()
	if errors.Is(f.err, errEnough) {
		f.err = nil
	}
}

// A filler is a feed at work.
type filler struct {
	*feed
	at    *chunk // being filled
	last  int64  // time of its last packet, since the first pass began
	ready bool   // ahead is closed
}

func (w *filler) arrived() {
	if !w.ready {
		w.ready = true
		close(w.feed.ahead)
	}
}

// pass reads the source once; times go on behind the passes before it.
func (w *filler) pass(n int64) error {
	r, err := w.stream.Disk.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	var rec packet.Record
	for i := int64(0); ; i++ {
		if w.stopped.Load() {
			return errEnough
		}
		switch err := r.Next(&rec); {
		case err == io.EOF && i == w.stream.Count:
			return nil
		case err == io.EOF:
			return fmt.Errorf("%s ended after %d packets; it had %d when it was looked at", w.stream.Source, i, w.stream.Count)
		case err != nil:
			return err
		case i == w.stream.Count:
			return fmt.Errorf("%s has grown beyond the %d packets that it had when it was looked at", w.stream.Source, i)
		}
		if err := w.add(&rec, max(w.last, n*w.stream.Span+rec.Nanos-w.stream.Epoch)); err != nil {
			return err
		}
	}
}

// add keeps a packet that is due at t.
func (w *filler) add(rec *packet.Record, t int64) error {
	if w.at != nil && len(w.at.meta) >= w.least && w.at.store.Bytes() >= chunkBytes {
		w.at.tail = t - w.last
		w.push()
	}
	if w.at == nil {
		select {
		case w.at = <-w.free:
		default:
			w.arrived()
			select {
			case w.at = <-w.free:
			case <-w.stop:
				return errEnough
			}
		}
		w.at.store.Reset()
		w.at.meta, w.at.varied = w.at.meta[:0], w.at.varied[:0]
	}
	c := w.at
	c.store.Append(rec.Data, t, len(rec.Data))
	b := c.store.Frame(c.store.Len() - 1).Data
	m := metaOf(b, w.mode)
	if w.vary != nil {
		c.varied = w.vary.places(c.varied, b, rec.Server)
	}
	if m.tag < 0 {
		if n, ok := w.flows[packet.Flow(b)]; ok {
			m.flow = n
		}
	}
	c.meta = append(c.meta, m)
	w.last = t
	return nil
}

// push hands the chunk on; there is room for all.
func (w *filler) push() {
	w.full <- w.at
	w.at = nil
}

// nextChunk goes on to the next chunk. Of the burst at hand packets may be in the one that ends here, not in the one before.
func (l *lane) nextChunk() {
	if l.before != nil {
		l.feed.free <- l.before
	}
	l.before, l.cur = l.cur, nil
	if l.left > 0 {
		l.fetch(false)
	}
}

// fetch takes the next chunk if it is there, or waits for it.
func (l *lane) fetch(wait bool) (ok bool) {
	if wait {
		l.cur, ok = <-l.feed.full
		return ok
	}
	select {
	case l.cur, ok = <-l.feed.full:
		return ok
	default:
		return true
	}
}
