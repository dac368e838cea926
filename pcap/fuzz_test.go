package pcap_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadtest/packet"
	"loadtest/pcap"
)

// FuzzPcap: whatever a pcap holds, the laws of lawful hold; and what was read, written and read again is equal, to the µs with
// Write, to the ns with a Writer. Only times that a pcap cannot hold may be refused.
func FuzzPcap(f *testing.F) {
	fuzz(f, func(c sample) bool { return strings.HasSuffix(c.name, ".pcap") })
}

// FuzzPcapng: the same of a pcapng.
func FuzzPcapng(f *testing.F) {
	fuzz(f, func(c sample) bool { return strings.HasSuffix(c.name, ".pcapng") })
}

func fuzz(f *testing.F, seeds func(sample) bool) {
	f.Add([]byte{})
	for _, c := range samples(f) {
		if seeds(c) {
			f.Add(c.file)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := lawful(t, b)
		if err == nil {
			rewritten(t, all)
		}
	})
}

// FuzzCompressed: the same of what gzip and zstd have packed; and no packed bytes, few as they are, take more than 100 MB beside
// their packets.
func FuzzCompressed(f *testing.F) {
	f.Add([]byte{})
	for _, c := range samples(f) {
		if c.packed {
			f.Add(c.file)
		} else {
			f.Add(gz(f, c.file))
			f.Add(zst(f, c.file))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		kept := uint64(0)
		got := allocated(func() {
			if s, err := pcap.Read("f", bytes.NewReader(b)); err == nil {
				kept = uint64(s.Bytes() + 16*int64(s.Len()))
			}
		})
		if got > 100_000_000+6*kept { // a store grows by copies, as nobody knows how large it gets
			t.Fatalf("%d bytes allocated for %d packed and %d kept", got, len(b), kept)
		}
		if kept < 1<<20 {
			if all, err := lawful(t, b); err == nil {
				rewritten(t, all)
			}
		}
	})
}

// rewritten writes records, of one link type as a pcap has it, and reads them again.
func rewritten(t *testing.T, all []rec) {
	t.Helper()
	s := new(packet.Store)
	writable := true
	var want []pkt
	for _, r := range all {
		s.Append([]byte(r.Data), r.Nanos, r.Wire)
		writable = writable && r.Nanos >= 0 && r.Nanos < 1<<32*1e9
		want = append(want, pkt{r.Data, r.Nanos, max(r.Wire, len(r.Data))}) // a Writer never writes less
	}
	var fine, coarse bytes.Buffer
	err, err2 := writeNanos(&fine, s), pcap.Write(&coarse, s)
	if (err == nil) != writable || (err2 == nil) != writable {
		t.Fatalf("Writer: %v, Write: %v, times that a pcap can hold: %v", err, err2, writable)
	}
	if !writable {
		return
	}
	again(t, want, fine.Bytes())
	for i := range want {
		want[i].Nanos -= want[i].Nanos % 1000
	}
	again(t, want, coarse.Bytes())
}

// again reads what was written, and compares.
func again(t *testing.T, want []pkt, file []byte) {
	t.Helper()
	s, err := readBoth(t, "written", file)
	must(t, err)
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
