package pcap

import (
	"errors"
	"fmt"
	"io"
	"os"

	"loadtest/packet"
)

// ReadOptions are how a capture is read.
type ReadOptions struct {
	// TakeWhole takes the whole records of a file that ends in the middle of one: Next returns io.EOF behind them, and Cut says
	// what is missing.
	TakeWhole bool
}

// A Reader gives the packets of a capture one after the other, from a window of it: it never holds more than one packet, and never
// more than was read.
type Reader struct {
	name    string
	o       ReadOptions
	in      input
	format  format
	info    Info
	packets int64 // given
	size    int64 // of the packed or plain file, in bytes; 0: not known
	end     error // what Next returned at last
	cut     error
	closers []io.Closer
}

// A format reads its next record. It returns io.EOF at a proper end.
type format interface {
	next(*packet.Record) error
}

// Open opens a capture file: pcap or pcapng, packed with gzip or zstd or not. Errors have type *Error; a file that is no capture
// is refused here.
func Open(path string, o ReadOptions) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err // without the path, which Error says already
		}
		return nil, &Error{File: path, Err: fmt.Errorf("open: %w", err)}
	}
	r, err := NewReader(path, f, o)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.closers = append(r.closers, f)
	return r, nil
}

// NewReader begins to read a capture; name is what errors call it. It does not close what it reads from.
func NewReader(name string, from io.Reader, o ReadOptions) (*Reader, error) {
	r := &Reader{name: name, o: o, in: input{r: from, buf: make([]byte, bufferSize)}, size: sizeOf(from)}
	if err := r.begin(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// begin finds out what the capture is, down to its first header.
func (r *Reader) begin() error {
	if err := r.unpack(); err != nil {
		return err
	}
	b := r.in.peek(4)
	if len(b) < 4 {
		switch {
		case r.in.err != io.EOF:
			return r.head(r.in.err)
		case len(b) == 0:
			return r.head(fmt.Errorf("empty file: want pcap or pcapng: %w", io.ErrUnexpectedEOF))
		}
		return r.head(fmt.Errorf("%d bytes are no capture: want pcap or pcapng: %w", len(b), io.ErrUnexpectedEOF))
	}
	if order(false).u32(b) == blockSection {
		return r.beginNG()
	}
	for _, o := range []order{false, true} {
		if k, ok := kinds[o.u32(b)]; ok {
			return r.beginClassic(o, k)
		}
	}
	return r.head(foreign(r.in.peek(512), r.info.Compression))
}

// Next reads the next packet. Its Data is lent until the next call. Next returns io.EOF behind the last one, and an *Error for a
// damaged file, from then on whenever it is asked; errors.Is(err, io.ErrUnexpectedEOF) tells a file that is only cut.
func (r *Reader) Next(to *packet.Record) error {
	if r.end != nil {
		return r.end
	}
	if err := r.format.next(to); err != nil {
		r.end = r.ended(err)
		return r.end
	}
	r.packets++
	to.File, to.Number = 0, r.packets
	return nil
}

// ended is what the end of a capture is to who reads it.
func (r *Reader) ended(err error) error {
	if r.o.TakeWhole && errors.Is(err, io.ErrUnexpectedEOF) {
		r.cut = err
		return io.EOF
	}
	return err
}

// Cut is, with TakeWhole, what was wrong with the end of a file that was cut: an *Error, as Next would return it without. It is
// nil before the end.
func (r *Reader) Cut() error { return r.cut }

// Store reads what is left into a store, whose Link is that of the first packet, without packets that of the first interface. The
// store takes no more memory than the file, if its size is known. There is a store or an error, never both.
func (r *Reader) Store() (*packet.Store, error) {
	s := new(packet.Store)
	var rec packet.Record
	for {
		err := r.Next(&rec)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		s.Link = rec.Link
		s.Append(rec.Data, rec.Nanos, rec.Wire)
		if s.Len() == firstPackets && r.size > r.in.off {
			s.Grow(0, r.room(s))
		}
	}
	if links := s.Links(); len(links) > 0 {
		s.Link = links[0]
	} else {
		s.Link = r.info.link()
	}
	return s, nil
}

// firstPackets tell how much room all of a small file takes; a large one gets as much as it can take, for to move what was read
// would cost more than room that is never written to.
const (
	firstPackets = 256
	largeFile    = 64 << 20
)

// room is what the rest of the file takes. A pcap record has 16 bytes beside its packet as the store has, which makes that exact; a
// block of a pcapng has more, and then the rest is taken to be like the beginning.
func (r *Reader) room(s *packet.Store) int {
	left, stored := r.size-r.in.off, s.Bytes()+16*int64(s.Len())
	if stored+fileHeader >= r.in.off || left >= largeFile {
		return int(left)
	}
	return int(1.02*float64(left)*float64(stored)/float64(r.in.off)) + 1<<10
}

// Close lets go of the file.
func (r *Reader) Close() error {
	var err error
	for _, c := range r.closers {
		err = errors.Join(err, c.Close())
	}
	r.closers = nil
	return err
}

// File is a capture file as a source, which reads it as Open does.
func File(path string, o ReadOptions) packet.Source { return file{path, o} }

type file struct {
	path string
	o    ReadOptions
}

func (f file) Open() (packet.Reader, error) {
	r, err := Open(f.path, f.o)
	if err != nil {
		return nil, err // no Reader that is nil
	}
	return r, nil
}
