package timeline

import (
	"errors"
	"io"
	"math"
	"slices"

	"loadtest/packet"
)

// A file is an open one.
type file struct {
	packet.Reader
	clock
	index uint16
	head  packet.Record
	back  uint64 // of head's time
	began bool   // head has the first time of the file
}

// read gets the next record.
func (f *file) read() error {
	err := f.Next(&f.head)
	if err == nil {
		before := f.ticking
		f.back = f.tick(f.head.Nanos)
		f.began = f.ticking && !before
	}
	return err
}

// before says whether f's record comes before g's, which is of a later file. What has no time yet comes at once.
func (f *file) before(g *file) bool { return !f.ticking || g.ticking && f.now <= g.now }

// A reader is one pass.
type reader struct {
	line  *Line
	next  int     // file to be opened
	files []*file // that are open, in their order; in sequence one at most
	from  *file   // of the latest record

	out   int64 // time of the latest record
	shown int64 // by the clock then
	timed bool  // a clock has shown something
	most  int64 // time behind which the line cannot go

	begun   int64 // in sequence: time of the file's first record
	packets int64 // and how many of it were read
	told    Told
}

// Next gives the next record at the time of its replay.
func (r *reader) Next(to *packet.Record) error {
	f, err := r.pick()
	if err != nil {
		if err == io.EOF {
			r.end()
		}
		return err
	}
	*to = f.head
	to.File = f.index
	at := Place{File: f.index, Number: f.head.Number}
	if f.back > 0 {
		r.told.Back.add(at, f.back)
	}
	switch {
	case f.head.Nanos == 0:
		r.told.Untimed++
	case f.began && FromZero(f.now):
		r.told.Untimed -= f.zeros
	}
	r.step(f, at)
	to.Nanos = r.out
	return nil
}

// pick reads on in the file of the latest record, and is the file whose record is the next.
func (r *reader) pick() (*file, error) {
	if f := r.from; f != nil {
		if err := f.read(); err == io.EOF {
			r.files = slices.DeleteFunc(r.files, func(g *file) bool { return f == g })
			if err := f.Close(); err != nil {
				return nil, err
			}
		} else if err != nil {
			return nil, err
		}
	}
	for !r.line.options.Merge && len(r.files) == 0 && r.next < len(r.line.files) {
		if err := r.open(); err != nil {
			return nil, err
		}
	}
	if len(r.files) == 0 {
		r.from = nil
		return nil, io.EOF
	}
	first := r.files[0]
	for _, f := range r.files[1:] {
		if !first.before(f) {
			first = f
		}
	}
	return first, nil
}

// open opens the next file and reads its first record. It leaves out a file without any.
func (r *reader) open() error {
	rd, err := r.line.files[r.next].Open()
	if err != nil {
		return err
	}
	f := &file{Reader: rd, index: uint16(r.next)}
	r.next++
	switch err := f.read(); {
	case err == io.EOF:
		return f.Close()
	case err != nil:
		return errors.Join(err, f.Close())
	}
	r.files = append(r.files, f)
	return nil
}

// step moves the time to that of f's record.
func (r *reader) step(f *file, at Place) {
	switch same := f == r.from; {
	case r.told.Packets == 0:
		r.out = f.now
		r.most = math.MaxInt64 + min(0, f.now)
		r.begun, r.told.Start = r.out, r.out
	case !r.line.options.Merge && !same:
		r.wait(uint64(mean(r.out-r.begun, r.packets)), at)
		r.begun, r.packets, r.timed = r.out, 0, false
	case r.timed && f.ticking:
		r.wait(span(r.shown, f.now), at)
	case FromZero(f.now): // all before it had 0
		r.wait(uint64(f.now), at)
	}
	if f.ticking {
		r.shown, r.timed = f.now, true
	}
	r.from = f
	r.packets++
	r.told.Packets++
}

// wait lets the time of a gap go by, or what is allowed of it.
func (r *reader) wait(gap uint64, at Place) {
	if long := clip(gap); long > r.told.Longest.Nanos {
		r.told.Longest = Gap{Place: at, Nanos: long}
	}
	limit := span(r.out, r.most)
	if most := r.line.options.MaxGap; most > 0 {
		limit = min(limit, uint64(most))
	}
	if gap > limit {
		r.told.Capped.add(at, gap, limit)
		gap = limit
	}
	r.out += int64(gap)
}

// end says what the pass has seen.
func (r *reader) end() {
	r.told.Span = r.out - r.told.Start
	r.told.Mean = mean(r.told.Span, r.told.Packets)
	r.line.mu.Lock()
	defer r.line.mu.Unlock()
	r.line.told = r.told
}

// mean is the mean gap of packets that take a span.
func mean(span, packets int64) int64 {
	if packets < 2 {
		return 0
	}
	return span / (packets - 1)
}

// Close closes what is open. The pass has told nothing if it did not come to its end.
func (r *reader) Close() (err error) {
	for _, f := range r.files {
		err = errors.Join(err, f.Close())
	}
	r.files, r.next = nil, len(r.line.files)
	return err
}
