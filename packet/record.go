package packet

import "io"

// A Record is a packet of a capture on its way from a file to a port.
type Record struct {
	Data   []byte // from its link-layer header on, without FCS; lent until the reader's next record, never to be written to
	Nanos  int64  // capture time, ns since 1970; 0: none
	Wire   int    // length that it had on the wire, without FCS: more than len(Data) where it was captured short
	Link   uint16 // LINKTYPE_ number of its header; 0 (made here) is Ethernet too
	File   uint16 // of a source of several files, from 0
	Number int64  // in its file, from 1
	Server bool   // sent by the side that answers, where somebody has decided that
}

// A Reader gives the records of a capture one after the other. Next returns io.EOF behind the last one.
type Reader interface {
	Next(*Record) error
	io.Closer
}

// A Source can be read from its beginning as often as is wanted, by several readers at once.
type Source interface {
	Open() (Reader, error)
}

// Open makes a Store a Source.
func (s *Store) Open() (Reader, error) { return &storeReader{store: s}, nil }

type storeReader struct {
	store *Store
	next  int
}

func (r *storeReader) Next(to *Record) error {
	i := r.next
	if i == r.store.Len() {
		return io.EOF
	}
	r.next++
	f := r.store.Frame(i)
	*to = Record{Data: f.Data, Nanos: f.Nanos, Wire: r.store.Wire(i), Link: r.store.LinkOf(i), Number: int64(i) + 1}
	return nil
}

func (r *storeReader) Close() error { return nil }
