package replay

import (
	"loadtest/packet"
	"loadtest/packet/rewrite"
)

// A chunk is a stretch of a lane's packets in memory, as they are sent: in order, with times that never go back.
type chunk struct {
	store  *packet.Store
	meta   []meta
	varied []rewrite.Place // of each packet, where its passes differ: one for each rule
	tail   int64           // captured time from its last packet to the one behind it, ns
}

// meta is what the sender must know of a packet without looking at its bytes.
type meta struct {
	tag  int32 // offset of its tag, -1: none
	flow int32 // of an untagged packet, in the receiver's table; of a lane whose passes differ in its variety's
}

// load makes one chunk of all packets: the store itself where it is the lane's own, else a copy, and in so many passes that a burst
// holds no packet twice.
func load(s Stream, o Options, own bool, wrap int64, v *variety) *chunk {
	p := s.Packets
	c := &chunk{store: p, tail: wrap}
	if n := p.Len(); !own || n < 2*o.Burst {
		passes := (2*o.Burst + n - 1) / n
		c.store = new(packet.Store)
		c.store.Grow(passes*n, passes*int(p.Bytes()))
		at := p.Frame(0).Nanos
		for i := range passes * n {
			f := p.Frame(i % n)
			c.store.Append(f.Data, at, len(f.Data))
			if at += wrap; i%n < n-1 {
				at += max(0, p.Frame(i%n+1).Nanos-f.Nanos) - wrap
			}
		}
	}
	c.meta = make([]meta, c.store.Len())
	for i := range c.meta {
		b := c.store.Frame(i).Data
		c.meta[i] = metaOf(b, o.Tag)
		if v != nil {
			c.varied = v.places(c.varied, b, s.FromServer != nil && s.FromServer(i%p.Len()))
		}
	}
	return c
}

// metaOf makes room for a packet's tag.
func metaOf(b []byte, mode packet.TagMode) meta {
	m := meta{tag: int32(packet.TagOffset(b, mode)), flow: -1}
	if m.tag >= 0 {
		packet.ClearTag(b, int(m.tag))
	}
	return m
}

// places are where the n rules that make passes differ find their fields in a packet.
func (c *chunk) places(pos, n int) []rewrite.Place { return c.varied[pos*n : (pos+1)*n] }

// gap is the captured time from a packet to the next one.
func (c *chunk) gap(pos int) int64 {
	if pos+1 == len(c.meta) {
		return c.tail
	}
	return max(0, c.store.Frame(pos+1).Nanos-c.store.Frame(pos).Nanos)
}
