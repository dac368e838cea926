package pcap_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"loadtest/packet"
	"loadtest/pcap"
)

// A rec is a record as a Reader gives it.
type rec struct {
	Data  string
	Nanos int64
	Wire  int
	Link  uint16
}

// pull reads a capture record by record. err is nil at a proper end, cut what TakeWhole says that is missing.
func pull(t testing.TB, from io.Reader, o pcap.ReadOptions) (all []rec, cut, err error) {
	t.Helper()
	r, err := pcap.NewReader("f", from, o)
	if err != nil {
		pcapError(t, err)
		return nil, nil, err
	}
	defer func() { must(t, r.Close()) }()
	var p packet.Record
	for {
		err := r.Next(&p)
		if err != nil {
			if again := r.Next(&p); again != err {
				t.Fatalf("after %v the reader says %v", err, again)
			}
		}
		switch {
		case err == io.EOF:
			return all, r.Cut(), nil
		case err != nil:
			pcapError(t, err)
			return all, r.Cut(), err
		}
		all = append(all, rec{string(p.Data), p.Nanos, p.Wire, p.Link})
		if p.Number != int64(len(all)) || p.File != 0 {
			t.Fatalf("record %d of file %d, want %d of 0", p.Number, p.File, len(all))
		}
	}
}

// lawful checks what holds of whatever bytes, and returns the records that they hold, and the error.
//
//   - A file, and a stream in pieces of odd sizes, give the same.
//   - So do gzip and zstd around it, but for the word in the error.
//   - Records take no more than the bytes that there are.
//   - A capture is whole, or damaged, or cut; cut, TakeWhole gives the same records, and says what is missing.
//   - A store holds the same records, or there is the same error.
func lawful(t testing.TB, file []byte) ([]rec, error) {
	t.Helper()
	all, cut, err := pull(t, bytes.NewReader(file), pcap.ReadOptions{})
	if cut != nil {
		t.Fatalf("cut %v, with %v, without having been asked", cut, err)
	}
	room := 0
	for _, r := range all {
		room += 16 + len(r.Data)
	}
	if !packed(file) && room > len(file) {
		t.Fatalf("%d bytes hold records of %d", len(file), room)
	}

	streamed, _, err2 := pull(t, &pieces{r: bytes.NewReader(file)}, pcap.ReadOptions{})
	same(t, "a stream", all, streamed, err, err2, false)
	if !packed(file) {
		for name, pack := range map[string]func(testing.TB, []byte) []byte{"gzip": gz, "zstd": zst} {
			inside, _, err2 := pull(t, bytes.NewReader(pack(t, file)), pcap.ReadOptions{})
			same(t, name, all, inside, err, err2, true)
		}
	}

	whole, cut, err2 := pull(t, bytes.NewReader(file), pcap.ReadOptions{TakeWhole: true})
	if e := (*pcap.Error)(nil); errors.As(err, &e) && e.Packet > 0 && errors.Is(err, io.ErrUnexpectedEOF) && cut != nil {
		same(t, "TakeWhole", all, whole, err, cut, false)
		if err2 != nil {
			t.Fatalf("TakeWhole: %v", err2)
		}
	} else {
		same(t, "TakeWhole", all, whole, err, err2, false)
	}

	s, err2 := pcap.Read("f", bytes.NewReader(file))
	if (s == nil) == (err2 == nil) {
		t.Fatalf("a store: %v, and %v", s, err2)
	}
	if s != nil {
		same(t, "a store", all, records(s), err, nil, false)
	} else {
		same(t, "a store", nil, nil, err, err2, false)
	}
	return all, err
}

// same compares two ways to read one thing. Of what was packed an error says that, and where in what is unpacked.
func same(t testing.TB, name string, want, got []rec, wantErr, gotErr error, packed bool) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%s (-file +%s): %s", name, name, d)
	}
	text := func(err error) string {
		if err == nil {
			return "none"
		}
		e := *pcapError(t, err)
		if packed && e.Packet > 0 {
			e.Unpacked = true
		}
		return e.Error()
	}
	w, g := text(wantErr), text(gotErr)
	if packed && wantErr != nil && pcapError(t, wantErr).Packet == 0 { // no capture at all
		for _, packer := range []string{"in gzip: ", "in zstd: "} {
			g = strings.Replace(g, packer, "", 1)
		}
	}
	if w != g {
		t.Fatalf("%s:\n got %s\nwant %s", name, g, w)
	}
}

func records(s *packet.Store) (all []rec) {
	for i := range s.Len() {
		f := s.Frame(i)
		all = append(all, rec{string(f.Data), f.Nanos, s.Wire(i), s.LinkOf(i)})
	}
	return all
}

// pieces is a stream that comes in pieces of 1, 2, 3, … 97 bytes and again.
type pieces struct {
	r io.Reader
	n int
}

func (p *pieces) Read(b []byte) (int, error) {
	p.n = p.n%97 + 1
	return p.r.Read(b[:min(len(b), p.n)])
}

func gz(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(b)
	must(t, err)
	must(t, w.Close())
	return out.Bytes()
}

func zst(t testing.TB, b []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
	must(t, err)
	return w.EncodeAll(b, nil)
}

// packed tells gzip and zstd, as the first bytes do.
func packed(b []byte) bool {
	return bytes.HasPrefix(b, []byte("\x1f\x8b")) || bytes.HasPrefix(b, []byte("\x28\xb5\x2f\xfd")) ||
		len(b) >= 4 && b[0]&0xf0 == 0x50 && string(b[1:4]) == "\x2a\x4d\x18"
}
