// Package pcap reads and writes captures.
//
//	pcap, pcapng ─Read→ packet.Store ─Write→ pcap ←WriteFrame─ port
//
// The format is known by its content, never by a name. Formats: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng.
package pcap

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"loadtest/packet"
)

// maxPacket is the longest packet taken, in bytes: no link type has longer ones (D-Bus and USB allow these 128 MiB). A length
// above it is a damaged file.
const maxPacket = 1 << 27

// ReadFile reads a whole capture file; see Read.
func ReadFile(path string) (*packet.Store, error) {
	f, err := os.Open(path)
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err // without the path, which Error says already
		}
		return nil, &Error{File: path, Err: fmt.Errorf("open: %w", err)}
	}
	defer f.Close()
	return Read(path, f)
}

// Read reads a whole capture, pcap or pcapng, into a store; name is what errors call it. Packets are as captured, without the
// FCS where the file says that they have one. Errors have type *Error; there is a store or an error, never both.
//
// What can seek is read twice: once to check and count, then into a store of exactly that size.
func Read(name string, r io.Reader) (*packet.Store, error) {
	in := input{r: r, buf: make([]byte, bufferSize)}
	store := new(packet.Store)
	if seeker, ok := r.(io.Seeker); ok {
		if start, err := seeker.Seek(0, io.SeekCurrent); err == nil { // a pipe is a Seeker that cannot
			count := scan{name: name, in: in}
			if err := count.run(); err != nil {
				return nil, err
			}
			if _, err := seeker.Seek(start, io.SeekStart); err != nil {
				return nil, &Error{File: name, Err: fmt.Errorf("rewind: %w", err)}
			}
			store.Grow(count.packets, count.bytes)
			in.buf = count.in.buf
		}
	}
	fill := scan{name: name, in: in, store: store}
	if err := fill.run(); err != nil {
		return nil, err
	}
	store.Link = fill.link
	return store, nil
}

// A scan is one pass over a capture.
type scan struct {
	name  string
	in    input
	store *packet.Store // nil: only count

	packets, bytes int
	link           uint16 // 0: not known yet
}

// run reads the capture in whichever format it has.
func (s *scan) run() error {
	b := s.in.peek(4)
	if len(b) < 4 {
		if s.in.err != io.EOF {
			return s.head(s.in.err)
		}
		if len(b) == 0 {
			return s.head(fmt.Errorf("empty file: want pcap or pcapng: %w", io.ErrUnexpectedEOF))
		}
		return s.head(fmt.Errorf("%d bytes are no capture: want pcap or pcapng: %w", len(b), io.ErrUnexpectedEOF))
	}
	if order(false).u32(b) == blockSection {
		return s.ng()
	}
	for _, swap := range []order{false, true} {
		switch swap.u32(b) {
		case magicMicros:
			return s.classic(swap, 1000)
		case magicNanos:
			return s.classic(swap, 1)
		}
	}
	return s.head(foreign(s.in.peek(512)))
}

// take keeps a packet: wire is its length with fcs bytes of FCS, data what was captured of it.
func (s *scan) take(data []byte, nanos int64, wire, fcs int) {
	if fcs > 0 {
		wire = max(0, max(wire, len(data))-fcs)
		data = data[:min(len(data), wire)]
	}
	s.packets++
	s.bytes += len(data)
	if s.store != nil {
		s.store.Append(data, nanos, wire)
	}
}

// lengths checks what a record says about a packet.
func lengths(captured, wire uint32) error {
	switch {
	case captured > maxPacket:
		return fmt.Errorf("%d bytes promised: want at most %d", captured, maxPacket)
	case wire > math.MaxInt32:
		return fmt.Errorf("%d bytes on the wire: want at most %d", wire, math.MaxInt32)
	}
	return nil
}
