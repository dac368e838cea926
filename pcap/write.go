package pcap

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"loadtest/packet"
)

// defaultSnap is the snap length written, in bytes, when no longer packet is known of.
const defaultSnap = 65535

// Options of a Writer.
type Options struct {
	Link  uint16 // LINKTYPE_ number; default 1, Ethernet
	Snap  int    // longest packet that may be written, in bytes; default 65535
	Nanos bool   // times in ns; default µs
}

// A Writer writes a pcap (little endian, version 2.4) frame by frame, through a buffer: the end must be a Flush.
type Writer struct {
	w       *bufio.Writer
	o       Options
	unit    int64 // ns
	packets int
	head    [recordHeader]byte // here, so that it is not allocated for each frame
}

// NewWriter writes the file's header. It does not close w.
func NewWriter(w io.Writer, o Options) (*Writer, error) {
	if o.Link == 0 {
		o.Link = 1
	}
	if o.Snap == 0 {
		o.Snap = defaultSnap
	}
	if o.Snap < 0 || o.Snap > maxPacket {
		return nil, fmt.Errorf("pcap snap length %d: want 1 to %d", o.Snap, maxPacket)
	}
	magic, unit := uint32(magicMicros), int64(1000)
	if o.Nanos {
		magic, unit = magicNanos, 1
	}
	h := make([]byte, 0, fileHeader)
	h = binary.LittleEndian.AppendUint32(h, magic)
	h = binary.LittleEndian.AppendUint16(h, 2)
	h = binary.LittleEndian.AppendUint16(h, 4)
	h = binary.LittleEndian.AppendUint64(h, 0) // zone and accuracy: always 0
	h = binary.LittleEndian.AppendUint32(h, uint32(o.Snap))
	h = binary.LittleEndian.AppendUint32(h, uint32(o.Link))
	wr := &Writer{w: bufio.NewWriterSize(w, bufferSize), o: o, unit: unit}
	_, err := wr.w.Write(h)
	return wr, err
}

// WriteFrame writes a frame that was wire bytes long on the wire (len(f.Data) if less), at f.Nanos in ns since 1970. It does
// not allocate. An error about the frame (too long, time out of range) writes nothing, and the next frame may still be written.
func (w *Writer) WriteFrame(f packet.Frame, wire int) error {
	n := len(f.Data)
	wire = max(wire, n)
	seconds := f.Nanos / 1e9
	if n > w.o.Snap || int64(wire) > math.MaxInt32 || f.Nanos < 0 || seconds > math.MaxUint32 {
		return w.refuse(n, wire, f.Nanos)
	}
	binary.LittleEndian.PutUint32(w.head[0:], uint32(seconds))
	binary.LittleEndian.PutUint32(w.head[4:], uint32(f.Nanos%1e9/w.unit))
	binary.LittleEndian.PutUint32(w.head[8:], uint32(n))
	binary.LittleEndian.PutUint32(w.head[12:], uint32(wire))
	if _, err := w.w.Write(w.head[:]); err != nil {
		return &Error{Packet: w.packets + 1, Err: err}
	}
	if _, err := w.w.Write(f.Data); err != nil {
		return &Error{Packet: w.packets + 1, Err: err}
	}
	w.packets++
	return nil
}

// refuse says why a frame cannot be written.
func (w *Writer) refuse(n, wire int, nanos int64) error {
	var err error
	switch {
	case n > w.o.Snap:
		err = fmt.Errorf("%d bytes: want at most the snap length, %d", n, w.o.Snap)
	case int64(wire) > math.MaxInt32:
		err = fmt.Errorf("%d bytes on the wire: want at most %d", wire, math.MaxInt32)
	default:
		err = fmt.Errorf("time of %d ns since 1970: a pcap holds the years 1970 to 2106", nanos)
	}
	return &Error{Packet: w.packets + 1, Err: err}
}

// Flush writes what is still buffered.
func (w *Writer) Flush() error { return w.w.Flush() }

// Write writes a store as a pcap. Times are cut to µs; for ns use a Writer.
func Write(w io.Writer, s *packet.Store) error {
	snap := defaultSnap
	for i := range s.Len() {
		snap = max(snap, s.Size(i))
	}
	pw, err := NewWriter(w, Options{Link: s.Link, Snap: snap})
	if err != nil {
		return err
	}
	for i := range s.Len() {
		if err := pw.WriteFrame(s.Frame(i), s.Wire(i)); err != nil {
			return err
		}
	}
	return pw.Flush()
}
