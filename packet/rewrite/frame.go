package rewrite

import (
	"encoding/binary"
	"slices"

	"loadtest/packet"
)

// headroom is what a frame may grow at its beginning.
const headroom = 64

// A frame is a copy of a record that may be changed.
type frame struct {
	room     []byte // headroom, then the frame, then what it may grow at its end
	from, to int    // where the frame lies in room
}

// load copies a record as an Ethernet frame.
func (f *frame) load(r *packet.Record) error {
	f.room = slices.Grow(f.room[:0], headroom+packet.EtherLen+len(r.Data))[:headroom]
	b, err := r.Ethernet(f.room[headroom:])
	if err != nil {
		return err
	}
	f.room = append(f.room, b...) // in place, where it was made
	f.from, f.to = headroom, len(f.room)
	return nil
}

func (f *frame) bytes() []byte { return f.room[f.from:f.to:f.to] }

// pop takes the outermost tag out.
func (f *frame) pop() {
	copy(f.room[f.from+tagLen:], f.room[f.from:f.from+12])
	f.from += tagLen
}

// push puts a tag before what is the outermost one.
func (f *frame) push(tpid, tci uint16) {
	f.from -= tagLen
	copy(f.room[f.from:], f.room[f.from+tagLen:f.from+tagLen+12])
	binary.BigEndian.PutUint16(f.room[f.from+12:], tpid)
	binary.BigEndian.PutUint16(f.room[f.from+14:], tci)
}
