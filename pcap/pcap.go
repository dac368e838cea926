// Package pcap reads and writes captures.
//
//	pcap, pcapng ─unpack→ Reader ─Next→ packet.Record, ─Store→ packet.Store ─Write→ pcap ←WriteFrame─ port
//
// The format is known by its content, never by a name. Formats: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng; gzip and zstd
// around them: RFC 1952, RFC 8878.
package pcap

import (
	"fmt"
	"io"
	"math"

	"loadtest/packet"
)

// maxPacket is the longest packet taken, in bytes: far above what any network has. A length above it is a damaged file.
const maxPacket = 1 << 22

// ReadFile reads a whole capture file; see Read.
func ReadFile(path string, o ...ReadOptions) (*packet.Store, error) {
	r, err := Open(path, options(o))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Store()
}

// Read reads a whole capture into a store; name is what errors call it. Packets are as captured, without the FCS where the file
// says that they have one. Errors have type *Error; there is a store or an error, never both.
func Read(name string, r io.Reader, o ...ReadOptions) (*packet.Store, error) {
	in, err := NewReader(name, r, options(o))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return in.Store()
}

func options(o []ReadOptions) ReadOptions {
	if len(o) == 0 {
		return ReadOptions{}
	}
	return o[0]
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

// withoutFCS is a packet whose last fcs bytes on the wire were its FCS, of which some may have been captured.
func withoutFCS(data []byte, wire, fcs int) ([]byte, int) {
	rest := max(0, wire-fcs)
	if len(data) >= wire {
		return data[:max(0, len(data)-fcs)], rest
	}
	return data[:min(len(data), rest)], rest
}
