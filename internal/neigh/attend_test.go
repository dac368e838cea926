package neigh_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"loadtest/internal/clock"
	"loadtest/internal/neigh"
	"loadtest/nic"
	"loadtest/nic/mem"
	"loadtest/packet"
)

// A scripted port hands out its frames one by one, and takes none while down. It can wait.
type scripted struct {
	sink
	in     [][]byte
	out    [1]packet.Frame
	closed bool
	waits  []time.Duration
}

func (s *scripted) Recv(frames []packet.Frame) (int, error) {
	if s.closed {
		return 0, nic.ErrClosed
	}
	n := copy(frames, s.out[:min(1, len(s.in))])
	if n > 0 {
		frames[0].Data, s.in = s.in[0], s.in[1:]
	}
	return n, nil
}

func (s *scripted) Wait(d time.Duration) { s.waits = append(s.waits, d) }

func TestAttendantOnRealClock(t *testing.T) {
	h := neigh.NewHost(tester(t, "198.18.0.2/16,gw=198.18.0.1"))
	ask := frame(t, all, device, nil, arp(1, device, addr("198.18.0.1"), nobody, addr("198.18.0.2")))
	p := &scripted{sink: sink{room: -1}, in: [][]byte{ask}}
	type glance struct {
		at  int64
		own bool
	}
	var seen []glance
	a := &neigh.Attendant{Host: h, Port: p, See: func(b []byte, at int64, own bool) { seen = append(seen, glance{at, own}) }}
	now := int64(100 * ms)
	if next := a.Step(now); next != now || len(p.frames) != 1 {
		t.Errorf("Step = %d after %d answers; want at once, 1", next, len(p.frames))
	}
	h.Announce()
	a.Step(now)
	p.in = [][]byte{p.frames[1]} // a bridge brings the announcement back
	a.Step(now + 1)
	a.Step(now + 30e9 - 3e5)
	if want := []glance{{now, false}, {now + 1, true}}; !slices.Equal(seen, want) {
		t.Errorf("saw %v, want %v", seen, want)
	}
	if want := []time.Duration{1e6, 1e6, 1e6, 3e5}; !slices.Equal(p.waits, want) {
		t.Errorf("waited %v, want %v", p.waits, want)
	}
}

// TestAttendantWithoutWaiter comes back in time; so does one on a virtual clock, where nobody waits.
func TestAttendantWithoutWaiter(t *testing.T) {
	waiting := &scripted{sink: sink{room: -1}}
	for _, a := range []*neigh.Attendant{{Port: deaf{}}, {Port: waiting, Virtual: true}} {
		a.Host = neigh.NewHost(tester(t))
		a.Host.Announce()
		for _, tt := range []struct{ now, next int64 }{{0, ms}, {7 * ms, 8 * ms}, {30e9 - 4, 30e9}, {30e9, 30e9 + ms}} {
			if next := a.Step(tt.now); next != tt.next {
				t.Errorf("Step(%d) = %d, want %d", tt.now, next, tt.next)
			}
		}
	}
	if waiting.waits != nil || len(waiting.frames) != 2 {
		t.Errorf("on a virtual clock waited %v and sent %d frames, want none and 2", waiting.waits, len(waiting.frames))
	}
}

// TestAttendantTakesBursts: what comes faster than it is taken is taken at once.
func TestAttendantTakesBursts(t *testing.T) {
	here, there := mem.Pair(256)
	a := &neigh.Attendant{Host: neigh.NewHost(tester(t)), Port: here.Queues[0], Virtual: true}
	seen := 0
	a.See = func([]byte, int64, bool) { seen++ }
	if n, err := there.Queues[0].Send(slices.Repeat([]packet.Frame{{Data: make([]byte, 60)}}, 100)); n != 100 || err != nil {
		t.Fatal(n, err)
	}
	if next := a.Step(5); next != 5 || seen != 64 {
		t.Errorf("Step = %d after %d frames, want at once, 64", next, seen)
	}
	if next := a.Step(5); next != 5+ms || seen != 100 {
		t.Errorf("Step = %d after %d frames, want 1 ms later, 100", next, seen)
	}
}

func TestAttendantEnds(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name string
		port *scripted
		want error
		at   int64 // of the end
		sent int
	}{
		{"until", &scripted{sink: sink{room: -1}}, nil, 50 * ms, 6},
		{"closed", &scripted{closed: true}, nic.ErrClosed, 0, 0},
		{"closed for sending", &scripted{sink: sink{err: nic.ErrClosed}}, nic.ErrClosed, 0, 0},
		{"broken", &scripted{sink: sink{err: broken}}, broken, 0, 0},
		{"down", &scripted{sink: sink{err: nic.ErrDown, room: -1}}, nil, 50 * ms, 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := tester(t, "198.18.0.2/16")
			o.Every = 10 * time.Millisecond
			a := &neigh.Attendant{Host: neigh.NewHost(o), Port: tt.port, Virtual: true, Until: func(now int64) bool {
				if errors.Is(tt.port.err, nic.ErrDown) && now >= 25*ms {
					tt.port.err = nil // the link comes back, and what waited is sent
				}
				return now >= 50*ms
			}}
			a.Host.Announce()
			c := clock.NewVirtual()
			if err := c.Run(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			if a.Err != tt.want || c.Now() != tt.at || len(tt.port.frames) != tt.sent {
				t.Errorf("ended at %d with %v after %d frames; want %d, %v, %d", c.Now(), a.Err, len(tt.port.frames), tt.at, tt.want, tt.sent)
			}
		})
	}
}
