package pcap_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadtest/packet"
	"loadtest/pcap"
)

// FuzzRead: there is a store or an error, the same from a file and a stream; and a store written and read again is equal, to
// the µs with Write, to the ns with a Writer. Only times that a pcap cannot hold may be refused.
func FuzzRead(f *testing.F) {
	f.Add([]byte{})
	for _, c := range samples() {
		f.Add(c.file)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := readBoth(t, "fuzz", b)
		if err != nil {
			pcapError(t, err)
			return
		}
		want := packets(s)
		writable := true
		for _, p := range want {
			writable = writable && p.Nanos >= 0 && p.Nanos < 1<<32*1e9
		}
		var fine, coarse bytes.Buffer
		err, err2 := writeNanos(&fine, s), pcap.Write(&coarse, s)
		if (err == nil) != writable || (err2 == nil) != writable {
			t.Fatalf("Writer: %v, Write: %v, times that a pcap can hold: %v", err, err2, writable)
		}
		if !writable {
			return
		}
		again(t, s.Link, want, fine.Bytes())
		for i := range want {
			want[i].Nanos -= want[i].Nanos % 1000
		}
		again(t, s.Link, want, coarse.Bytes())
	})
}

// again reads what was written, and compares.
func again(t *testing.T, link uint16, want []pkt, file []byte) {
	t.Helper()
	s, err := readBoth(t, "written", file)
	must(t, err)
	if s.Link != link {
		t.Fatalf("link type %d, was %d", s.Link, link)
	}
	if d := cmp.Diff(want, packets(s)); d != "" {
		t.Fatalf("written and read again (-was +is): %s", d)
	}
}

// writeNanos writes a store with times in ns.
func writeNanos(out *bytes.Buffer, s *packet.Store) error {
	o := pcap.Options{Link: s.Link, Nanos: true}
	for i := range s.Len() {
		o.Snap = max(o.Snap, s.Size(i))
	}
	w, err := pcap.NewWriter(out, o)
	if err != nil {
		return err
	}
	for i := range s.Len() {
		if err := w.WriteFrame(s.Frame(i), s.Wire(i)); err != nil {
			return err
		}
	}
	return w.Flush()
}
