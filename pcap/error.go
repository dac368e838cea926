package pcap

import (
	"fmt"
	"io"
)

// An Error says where a capture is wrong.
type Error struct {
	File string // as given to Read; empty when writing

	// Packet is the number of the packet at fault, from 1; between packets of a pcapng, of the one that would be next. So
	// Packet-1 whole packets came before. 0: the beginning of the file, or the file as such.
	Packet int

	Offset   int64 // where its record or block begins, in bytes from where reading began
	Unpacked bool  // the bytes are those of what gzip or zstd has packed
	Err      error
}

// Error has the form "mix.pcap: packet 17 at byte 20480: 1514 bytes promised, 20 there: unexpected EOF".
func (e *Error) Error() string {
	where := ""
	if e.File != "" {
		where = e.File + ": "
	}
	unpacked := ""
	if e.Unpacked {
		unpacked = " unpacked"
	}
	switch {
	case e.Packet > 0 && e.File != "":
		where += fmt.Sprintf("packet %d at byte %d%s: ", e.Packet, e.Offset, unpacked)
	case e.Packet > 0:
		where += fmt.Sprintf("packet %d: ", e.Packet)
	}
	return where + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// head is an error of the file's beginning.
func (r *Reader) head(err error) error { return &Error{File: r.name, Err: err} }

// fail is an error of the record or block that starts where the input stands.
func (r *Reader) fail(err error) *Error {
	return &Error{File: r.name, Packet: int(r.packets) + 1, Offset: r.in.off, Unpacked: r.info.Compression != "", Err: err}
}

// short is the error of a capture that ends too early, or of what kept the reader from going on.
func (r *Reader) short(format string, args ...any) error {
	err := r.in.err
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}
