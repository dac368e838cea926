package packet_test

import (
	"bytes"
	"io"
	"testing"

	"loadtest/packet"
)

// filled is a store of packets of these lengths, every byte of packet i being i+1.
func filled(lengths ...int) *packet.Store {
	s := new(packet.Store)
	for i, n := range lengths {
		s.Append(bytes.Repeat([]byte{byte(i + 1)}, n), int64(i)*1000, n)
	}
	return s
}

// snapped is how many packets were captured short.
func snapped(s *packet.Store) (n int) {
	for i := range s.Len() {
		if s.Wire(i) > s.Size(i) {
			n++
		}
	}
	return n
}

func TestStore(t *testing.T) {
	lengths := []int{60, 0, 1514, 1} // an empty record is a packet too
	s := filled(lengths...)
	if s.Len() != len(lengths) || s.Bytes() != 1575 || snapped(s) != 0 {
		t.Errorf("Len, Bytes, Snapped = %d, %d, %d; want 4, 1575, 0", s.Len(), s.Bytes(), snapped(s))
	}
	for i, n := range lengths {
		f := s.Frame(i)
		if want := bytes.Repeat([]byte{byte(i + 1)}, n); !bytes.Equal(f.Data, want) {
			t.Errorf("Frame(%d) = %x, want %d times %02x", i, f.Data, n, i+1)
		}
		if f.Nanos != int64(i)*1000 {
			t.Errorf("Frame(%d).Nanos = %d, want %d", i, f.Nanos, i*1000)
		}
		if s.Size(i) != n || s.Wire(i) != n {
			t.Errorf("Size(%d), Wire(%d) = %d, %d; want %d", i, i, s.Size(i), s.Wire(i), n)
		}
	}
}

func TestStoreEmpty(t *testing.T) {
	s := new(packet.Store)
	if s.Len() != 0 || s.Bytes() != 0 || snapped(s) != 0 {
		t.Errorf("Len, Bytes, Snapped = %d, %d, %d; want zeros", s.Len(), s.Bytes(), snapped(s))
	}
}

func TestStoreCopies(t *testing.T) {
	var s packet.Store
	data := []byte{1, 2, 3}
	s.Append(data, 0, 3)
	data[0] = 9
	if got := s.Frame(0).Data[0]; got != 1 {
		t.Errorf("after the caller wrote to its own bytes: %d, want 1", got)
	}
}

func TestStoreFrameIsClipped(t *testing.T) {
	s := filled(3, 3)
	f := s.Frame(0)
	if cap(f.Data) != 3 {
		t.Errorf("cap = %d, want 3", cap(f.Data))
	}
	_ = append(f.Data, 99)
	if got := s.Frame(1).Data[0]; got != 2 {
		t.Errorf("append to packet 0 wrote %d into packet 1", got)
	}
}

func TestStoreSnapped(t *testing.T) {
	for _, tt := range []struct {
		name          string
		stored, wire  int
		want, snapped int
	}{
		{"whole", 60, 60, 60, 0},
		{"short", 60, 1514, 1514, 1},
		{"nothing stored", 0, 60, 60, 1},
		{"longer than the wire", 64, 60, 60, 0},
		{"far longer on the wire", 60, 1<<31 - 1, 1<<31 - 1, 1},
		{"far longer than the wire", 600_000, 1, 1, 0},
		{"at the edge", 60, 60 + 1<<19 - 1, 60 + 1<<19 - 1, 1},
		{"behind the edge", 60, 60 + 1<<19, 60 + 1<<19, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := filled(10)
			s.Append(make([]byte, tt.stored), 0, tt.wire)
			if s.Size(1) != tt.stored || s.Wire(1) != tt.want || snapped(s) != tt.snapped {
				t.Errorf("Size, Wire, Snapped = %d, %d, %d; want %d, %d, %d",
					s.Size(1), s.Wire(1), snapped(s), tt.stored, tt.want, tt.snapped)
			}
			if s.Wire(0) != 10 {
				t.Errorf("the neighbour's Wire = %d, want 10", s.Wire(0))
			}
		})
	}
}

// A store of more link types than a mark has room for.
func TestStoreLinks(t *testing.T) {
	s := new(packet.Store)
	for round := range 2 {
		for link := range uint16(20) {
			s.Link = 300 + link
			s.Append([]byte{byte(round), byte(link)}, 0, 2)
		}
	}
	for i := range s.Len() {
		if got, want := s.LinkOf(i), uint16(300+i%20); got != want || s.Wire(i) != 2 {
			t.Errorf("packet %d: link type %d, %d bytes on the wire; want %d, 2", i, got, s.Wire(i), want)
		}
	}
	if n := len(s.Links()); n != 20 {
		t.Errorf("%d link types, want 20", n)
	}
}

func TestStoreReset(t *testing.T) {
	s := filled(10, 20)
	s.Append([]byte{1}, 9, 1<<30)
	s.Reset()
	if s.Len() != 0 || s.Bytes() != 0 || len(s.Links()) != 0 || snapped(s) != 0 {
		t.Errorf("after Reset: %d packets, %d bytes, link types %v", s.Len(), s.Bytes(), s.Links())
	}
	s.Link = packet.LinkRaw
	if n := testing.AllocsPerRun(1, func() { s.Append([]byte{7, 8}, 3, 2) }); n != 0 {
		t.Errorf("Append into the room of before allocates %v times", n)
	}
	if s.Frame(0).Data[1] != 8 || s.Frame(0).Nanos != 3 || s.Wire(0) != 2 || s.LinkOf(0) != packet.LinkRaw {
		t.Errorf("packet 1 is %+v", s.Frame(0))
	}
}

func TestStoreIsASource(t *testing.T) {
	s := filled(10, 20)
	s.Link = packet.LinkRaw
	s.Append([]byte{7}, 5, 100)
	for range 2 {
		r, err := s.Open()
		if err != nil {
			t.Fatal(err)
		}
		var rec packet.Record
		for i := range s.Len() {
			if err := r.Next(&rec); err != nil || !bytes.Equal(rec.Data, s.Frame(i).Data) || rec.Wire != s.Wire(i) || rec.Nanos != s.Frame(i).Nanos ||
				rec.Link != s.LinkOf(i) || rec.Number != int64(i)+1 {
				t.Errorf("record %d: %+v, %v", i+1, rec, err)
			}
		}
		if err := r.Next(&rec); err != io.EOF || r.Close() != nil {
			t.Errorf("behind the last record: %v, want EOF", err)
		}
	}
}

func TestStoreGrow(t *testing.T) {
	s := filled(60, 61)
	s.Append(make([]byte, 5), 7, 50)
	old := s.Frame(1)
	data := make([]byte, 64)
	allocs := testing.AllocsPerRun(1, func() { // runs it twice
		s.Grow(100, 6400)
	})
	if allocs > 3 {
		t.Errorf("Grow allocates %v times, want one for each block", allocs)
	}
	if got := testing.AllocsPerRun(99, func() { s.Append(data, 0, 64) }); got != 0 {
		t.Errorf("Append within what Grow made room for allocates %v times a packet", got)
	}
	if s.Len() != 103 || s.Size(1) != 61 || s.Wire(2) != 50 || s.Frame(2).Nanos != 7 || s.Frame(1).Data[60] != 2 {
		t.Errorf("after Grow the packets are not what they were: Len %d, Size(1) %d, Wire(2) %d, Nanos %d",
			s.Len(), s.Size(1), s.Wire(2), s.Frame(2).Nanos)
	}
	if !bytes.Equal(old.Data, s.Frame(1).Data) {
		t.Error("a view from before Grow shows other bytes")
	}
}

func TestStoreFrameAllocatesNothing(t *testing.T) {
	s := filled(60, 61, 62)
	var n int
	if got := testing.AllocsPerRun(100, func() {
		for i := range s.Len() {
			n += len(s.Frame(i).Data)
		}
	}); got != 0 {
		t.Errorf("Frame allocates %v times", got)
	}
}

// A store of megabytes takes no more than its packets and 16 bytes for each, and moves them whole when it grows.
func TestStoreLarge(t *testing.T) {
	const n, size = 20_000, 500
	data := func(i int) []byte { return bytes.Repeat([]byte{byte(i), byte(i >> 8)}, size/2) }
	s, grown := new(packet.Store), new(packet.Store)
	if got := testing.AllocsPerRun(1, func() { // runs it twice
		s.Reset()
		s.Grow(n, n*size)
	}); got > 1 {
		t.Errorf("Grow allocates %v times, want once", got)
	}
	for i := range n {
		s.Append(data(i), int64(i), size)
		grown.Append(data(i), int64(i), size)
	}
	for i := range n {
		for _, s := range []*packet.Store{s, grown} {
			if f := s.Frame(i); !bytes.Equal(f.Data, data(i)) || f.Nanos != int64(i) || s.Wire(i) != size {
				t.Fatalf("packet %d is not what it was: %d bytes at %d", i, len(f.Data), f.Nanos)
			}
		}
	}
}
