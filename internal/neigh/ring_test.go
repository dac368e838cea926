package neigh_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"loadtest/internal/neigh"
	"loadtest/nic"
	"loadtest/packet"
)

// TestFull: a port that takes nothing for a while. Answers are dropped and counted, queries and announcements wait.
func TestFull(t *testing.T) {
	var addresses []string
	for vlan := 1; vlan <= 70; vlan++ {
		addresses = append(addresses, fmt.Sprintf("198.18.0.2/16,gw=198.18.0.1,vlan=%d", vlan))
	}
	h := neigh.NewHost(tester(t, addresses...))
	ask := frame(t, all, device, []uint16{70}, arp(1, device, addr("198.18.0.1"), nobody, addr("198.18.0.2")))
	for range 100 {
		h.Hear(ask, 7)
	}
	if c, want := h.Counts(), (neigh.Counts{ARP: 64, Dropped: 36}); c != want {
		t.Errorf("Counts = %+v, want %+v", c, want)
	}
	h.Announce()
	h.Resolve()
	if next := h.Step(10); next != 10+1e6 {
		t.Errorf("Step while nothing has room = %d, want 1 ms later", next)
	}
	s := &sink{room: 10}
	for range 3 { // of which the second one takes no more
		if err := h.Flush(s); err != nil || len(s.frames) != 10 || !h.Pending() {
			t.Fatalf("Flush: %v after %d frames, pending %v; want 10", err, len(s.frames), h.Pending())
		}
	}
	if s.nanos[9] != 7 {
		t.Errorf("an answer leaves at %d, want the time when it was made: 7", s.nanos[9])
	}
	s.room = -1
	now := int64(10 + 1e6)
	for range 3 {
		if err := h.Flush(s); err != nil {
			t.Fatal(err)
		}
		now = h.Step(now)
	}
	if err := h.Flush(s); err != nil || now != 10+2e6+1e9 { // the first query had room after 2 ms; its next try is 1 s later
		t.Errorf("%v; the next step is at %d", err, now)
	}
	count := make(map[string]int)
	for _, f := range s.frames[64:] {
		text := show(t, f)
		_, text, _ = strings.Cut(text, " vlan ")
		count[text]++
	}
	for vlan := 1; vlan <= 70; vlan++ {
		for _, target := range []string{"198.18.0.2", "198.18.0.1"} {
			text := fmt.Sprintf("%d ARP 1: 198.18.0.2 at 02:00:00:00:00:01 to %s at 00:00:00:00:00:00", vlan, target)
			if count[text] != 1 {
				t.Errorf("%q was said %d times", text, count[text])
			}
		}
	}
}

func TestFlushErrors(t *testing.T) {
	h := neigh.NewHost(tester(t, "198.18.0.2/16"))
	long := frame(t, port, device, nil, join(v4("198.18.0.1", "198.18.0.2", 1), icmp(8, strings.Repeat("x", 1000)))...)
	short := frame(t, port, device, nil, join(v4("198.18.0.1", "198.18.0.2", 1), icmp(8, "x"))...)
	for _, f := range [][]byte{long, short, long, short} {
		h.Hear(f, 0)
	}
	if err := h.Flush(&sink{err: nic.ErrDown, room: -1}); !errors.Is(err, nic.ErrDown) || !h.Pending() {
		t.Errorf("Flush while the link is down: %v, pending %v", err, h.Pending())
	}
	s := &sink{max: 100, room: -1}
	if err := h.Flush(s); err != nil || h.Pending() || len(s.frames) != 2 {
		t.Errorf("Flush: %v, %d frames, pending %v; want the 2 short ones, the others gone", err, len(s.frames), h.Pending())
	}
	if c, want := h.Counts(), (neigh.Counts{Ping: 4, Dropped: 2}); c != want {
		t.Errorf("Counts = %+v, want %+v", c, want)
	}
}

// TestDropped: an answer that finds the ring full is counted, whatever it is.
func TestDropped(t *testing.T) {
	for _, name := range []string{"ARP", "NS", "ping", "ping of IPv6"} {
		o := tester(t, "198.18.0.2/16", "2001:db8::2/64")
		o.Serves = served
		h := neigh.NewHost(o)
		for range 65 {
			h.Hear(kinds(t)[name], 0)
		}
		if c := h.Counts(); c.Dropped != 1 || c.ARP+c.ND+c.Ping != 64 {
			t.Errorf("%s 65 times: %+v, want 64 answers", name, c)
		}
	}
	h := neigh.NewHost(tester(t))
	for i := range int64(65) {
		h.Announce()
		if next, want := h.Step(i), i+map[bool]int64{true: 30e9, false: 1e6}[i < 64]; next != want {
			t.Errorf("after %d announcements Step = %d, want %d", i, next, want)
		}
	}
}

func TestMaxFrame(t *testing.T) {
	for _, tt := range []struct {
		max, size int // of a ping, in bytes without VLAN tag
		answered  bool
	}{{0, 1514, true}, {0, 1515, false}, {100, 128, true}, {200, 200, true}, {200, 201, false}, {9014, 9014, true}, {1 << 16, 9216, true}, {1 << 16, 9217, false}} {
		o := tester(t, "198.18.0.2/16", "2001:db8::2/64,vlan=7")
		o.MaxFrame = tt.max
		h := neigh.NewHost(o)
		h.Hear(frame(t, port, device, nil, join(v4("198.18.0.1", "198.18.0.2", 1), icmp(8, strings.Repeat("x", tt.size-42)))...), 0)
		h.Hear(frame(t, port, device, []uint16{7}, join(v6("fe80::1", "2001:db8::2", 64), echo6(128, strings.Repeat("x", tt.size-62)))...), 0)
		got := sent(t, h)
		if want := map[bool]neigh.Counts{true: {Ping: 2}, false: {Dropped: 2}}[tt.answered]; h.Counts() != want || int64(len(got)) != want.Ping {
			t.Errorf("of at most %d bytes: %d answers of %d bytes, %+v; want %+v", tt.max, len(got), tt.size, h.Counts(), want)
		}
	}
}

// TestHalves runs both halves at once; the race detector looks on. Each answer is sent once, whole, in order.
func TestHalves(t *testing.T) {
	h := neigh.NewHost(tester(t, "198.18.0.2/16"))
	const n = 5000
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		ask := frame(t, all, device, nil, arp(1, device, addr("10.0.0.0"), nobody, addr("198.18.0.2")))
		for i := range int64(n) {
			ask[30], ask[31] = byte(i>>8), byte(i) // the asker's address
			for before := h.Counts().ARP; h.Counts().ARP == before && ctx.Err() == nil; {
				h.Hear(ask, i)
				runtime.Gosched()
			}
		}
	})
	var next int64
	p := tap(func(f packet.Frame) {
		if got := int64(f.Data[40])<<8 | int64(f.Data[41]); got != next&0xffff || f.Nanos != next {
			t.Errorf("answer %d is to asker %d of %d", next, got, f.Nanos)
		}
		next++
	})
	for ; next < n && !t.Failed(); runtime.Gosched() {
		if h.Pending() {
			if err := h.Flush(p); err != nil {
				t.Error(err)
			}
		}
	}
	cancel()
	wg.Wait()
}

// A tap is a port that hands over each frame that is sent.
type tap func(packet.Frame)

func (p tap) Send(frames []packet.Frame) (int, error) {
	for _, f := range frames {
		p(f)
	}
	return len(frames), nil
}
func (p tap) Recv([]packet.Frame) (int, error) { return 0, nil }
func (p tap) Close() error                     { return nil }
