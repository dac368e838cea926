package mem_test

import (
	"bytes"
	"errors"
	"testing"

	"loadtest/nic"
	"loadtest/nic/mem"
	"loadtest/packet"
	"loadtest/pcap"
)

// file is a file in memory whose end is an error.
type file struct {
	bytes.Buffer
	closed int
}

func (f *file) Close() error { f.closed++; return errors.New("disk full") }

func TestCapture(t *testing.T) {
	var w file
	d, err := mem.Capture("out.pcap", &w, 5e9)
	if err != nil {
		t.Fatal(err)
	}
	p := d.Queues[0]
	sent := append(numbered(3), packet.Frame{Data: make([]byte, 9000), Nanos: 7}, packet.Frame{Data: make([]byte, 70000)})
	if n, err := p.Send(sent); n != 4 || !errors.Is(err, nic.ErrTooLong) {
		t.Fatalf("Send = %d, %v; want 4, %v", n, err, nic.ErrTooLong)
	}
	if n, err := p.Recv(make([]packet.Frame, 4)); n != 0 || err != nil {
		t.Errorf("Recv = %d, %v", n, err)
	}
	if n := testing.AllocsPerRun(10, func() { p.Send(sent[:1]) }); n != 0 {
		t.Errorf("Send: %v allocations", n)
	}
	if err := p.Close(); err == nil || err.Error() != "disk full" {
		t.Errorf("Close = %v", err)
	}
	if err := p.Close(); err != nil || w.closed != 1 {
		t.Errorf("second Close = %v, file closed %d times", err, w.closed)
	}
	if n, err := p.Send(sent); n != 0 || !errors.Is(err, nic.ErrClosed) {
		t.Errorf("Send after Close = %d, %v", n, err)
	}
	s, err := pcap.Read("out.pcap", &w)
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != 4+11 {
		t.Errorf("%d packets written", s.Len())
	}
	for i, f := range sent[:4] {
		if g := s.Frame(i); !bytes.Equal(g.Data, f.Data) || g.Nanos != f.Nanos+5e9 {
			t.Errorf("packet %d: %d bytes at %d, want %d bytes at %d", i, len(g.Data), g.Nanos, len(f.Data), f.Nanos+5e9)
		}
	}
}
