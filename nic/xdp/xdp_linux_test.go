package xdp_test

import (
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"loadtest/internal/clock"
	"loadtest/internal/lab"
	"loadtest/nic"
	"loadtest/nic/afpacket"
	"loadtest/nic/nictest"
	"loadtest/nic/xdp"
	"loadtest/packet"
	"loadtest/replay"
	"loadtest/trial"
)

// open opens a port above a packet socket; it is closed when the test ends.
func open(t testing.TB, name string, c *clock.Real, queues int) nic.Device {
	t.Helper()
	under, err := afpacket.Open(name, afpacket.Options{Epoch: c.Epoch()})
	if err != nil {
		t.Fatal(err)
	}
	d, err := xdp.Open(name, under, xdp.Options{Epoch: c.Epoch(), Queues: queues})
	if err != nil {
		under.Queues[0].Close()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, q := range d.Queues {
			if err := q.Close(); err != nil {
				t.Errorf("close %s: %v", name, err)
			}
		}
	})
	return d
}

func TestPort(t *testing.T) {
	lab.Need(t, "netns", "afpacket", "xdp")
	wire := lab.Veth(t)
	c := clock.NewReal()
	nictest.Run(t, func(t *testing.T) nictest.Pair {
		a, b := open(t, wire.A, c, 1), open(t, wire.B, c, 1)
		return nictest.Pair{A: a.Queues[0], B: b.Queues[0], MaxFrame: a.Info.MaxFrame, Settle: func() { time.Sleep(time.Millisecond) },
			Gone: func() { wire.IP("a", "link", "del", "a0") }}
	})
}

// made is n packets of a size, each of its own flow, with room for a tag.
func made(n int, sizes ...int) *packet.Store {
	s := &packet.Store{}
	for i := range n {
		size := sizes[i%len(sizes)]
		b := make([]byte, size)
		copy(b, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0})
		ip := size - 14
		b[16], b[17], b[22], b[23] = byte(ip>>8), byte(ip), 64, 17
		copy(b[26:], []byte{198, 18, 0, 1, 198, 19, byte(i >> 8), byte(i), 0, 7, 0, 9, byte((ip - 20) >> 8), byte(ip - 20)})
		var sum uint32 // RFC 1071
		for at := 14; at < 34; at += 2 {
			sum += uint32(b[at])<<8 | uint32(b[at+1])
		}
		sum = ^(sum>>16 + sum&0xffff)
		b[24], b[25] = byte(sum>>8), byte(sum)
		s.Append(b, int64(i)*1e5, size)
	}
	return s
}

func play(t testing.TB, ports map[string]nic.Device, c *clock.Real, s trial.Spec, streams ...replay.Stream) trial.Result {
	t.Helper()
	r, err := replay.New(replay.Options{Clock: c, Ports: ports, Streams: streams, Credit: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Run(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func packets(load float64, d time.Duration) trial.Spec {
	return trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: load}}, Duration: d}
}

// whole checks that a stream's packets all came back in order, and each once.
func whole(t *testing.T, s *trial.Stream) {
	t.Helper()
	if s.Lost() != 0 || s.Duplicated+s.Reordered+s.Late+s.Corrupt+s.Surplus != 0 || s.Latency.Count != s.Received || s.Sent == 0 {
		t.Errorf("%s: sent %d, lost %d; duplicated %d, reordered %d, late %d, corrupt %d, surplus %d; %d times", s.Name, s.Sent, s.Lost(),
			s.Duplicated, s.Reordered, s.Late, s.Corrupt, s.Surplus, s.Latency.Count)
	}
}

// What is played arrives, to the last packet and bit, at any load: the classifier says so, and so does Go by a packet socket.
func TestPlayed(t *testing.T) {
	lab.Need(t, "netns", "afpacket", "xdp")
	for _, classifies := range []bool{true, false} {
		wire := lab.Veth(t)
		c := clock.NewReal()
		ports := map[string]nic.Device{"a": open(t, wire.A, c, 1)}
		far := open(t, wire.B, c, 1)
		if !classifies { // the program stays, for the wire to take live frames; it is never told what to await
			far.Queues = []nic.Port{struct{ nic.Port }{far.Queues[0]}}
		}
		ports["b"] = far
		for _, tt := range []struct {
			name  string
			spec  trial.Spec
			sizes []int
		}{
			{"1 kpps", packets(1e3, 200*time.Millisecond), []int{60}},
			{"100 kpps", packets(100e3, 200*time.Millisecond), []int{60}},
			{"mixed sizes, by bits", trial.Spec{Load: []trial.Point{{Load: 200e6}}, Duration: 200 * time.Millisecond}, []int{60, 590, 61, 1514, 63}},
			{"captured pace", trial.Spec{Unit: trial.Factor, Load: []trial.Point{{Load: 3}}, Duration: 200 * time.Millisecond}, []int{60, 61}},
			{"loops", trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 50e3}}, Loops: 99}, []int{60}},
			{"with a pre-roll", trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 50e3}}, Duration: 100 * time.Millisecond, Preroll: 50 * time.Millisecond}, []int{60}},
		} {
			t.Run(fmt.Sprintf("%s, classified %v", tt.name, classifies), func(t *testing.T) {
				store := made(100, tt.sizes...)
				res := play(t, ports, c, tt.spec, replay.Stream{Name: "s", Packets: store, TX: "a", RX: "b"})
				s := &res.Streams[0]
				whole(t, s)
				if s.SentBytes != s.ReceivedBytes || s.SentWireBits != s.RecvWireBits || s.Lateness.Count != s.Sent {
					t.Errorf("%d of %d bytes, %d of %d bits, %d times", s.ReceivedBytes, s.SentBytes, s.RecvWireBits, s.SentWireBits, s.Lateness.Count)
				}
				if tt.spec.Loops > 0 && s.Intended != 9900 {
					t.Errorf("%d intended, want 9900", s.Intended)
				}
				if foreign := res.Foreign(); foreign != 0 || res.Missed() != 0 {
					t.Errorf("%d foreign, %d missed: %+v", foreign, res.Missed(), res.Ports)
				}
			})
		}
	}
}

// Two streams with rates of their own out of one port, and both ways at once.
func TestStreams(t *testing.T) {
	lab.Need(t, "netns", "afpacket", "xdp")
	wire := lab.Veth(t)
	c := clock.NewReal()
	ports := map[string]nic.Device{"a": open(t, wire.A, c, 1), "b": open(t, wire.B, c, 1)}
	spec := packets(20e3, 300*time.Millisecond)
	spec.Share = map[string]float64{"slow": 0.1, "third": 1. / 3}
	res := play(t, ports, c, spec, replay.Stream{Name: "fast", Packets: made(10, 60), TX: "a", RX: "b"}, replay.Stream{Name: "slow", Packets: made(9, 90), TX: "a", RX: "b"},
		replay.Stream{Name: "third", Packets: made(7, 200), TX: "a", RX: "b"}, replay.Stream{Name: "back", Packets: made(8, 70), TX: "b", RX: "a"})
	for i, want := range []int64{6000, 600, 2000, 6000} {
		s := &res.Streams[i]
		whole(t, s)
		if s.Intended < want || s.Intended > want+1 {
			t.Errorf("%s: intended %d, want %d", s.Name, s.Intended, want)
		}
	}
}

// What the driver refuses is unsent, never lost: a peer that takes no live frames, a link that goes down on the way, rings that overflow.
func TestRefused(t *testing.T) {
	lab.Need(t, "netns", "afpacket", "xdp")
	c := clock.NewReal()
	stream := func() replay.Stream { return replay.Stream{Name: "s", Packets: made(100, 60), TX: "a", RX: "b"} }
	t.Run("peer without a program", func(t *testing.T) {
		wire := lab.Veth(t)
		b, err := afpacket.Open(wire.B, afpacket.Options{Epoch: c.Epoch()})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Queues[0].Close()
		res := play(t, map[string]nic.Device{"a": open(t, wire.A, c, 1), "b": b}, c, packets(20e3, 100*time.Millisecond), stream())
		if s := &res.Streams[0]; s.Intended != 2000 || s.Sent != 0 || s.Lost() != 0 {
			t.Errorf("intended %d, sent %d, lost %d; want 2000, 0, 0", s.Intended, s.Sent, s.Lost())
		}
	})
	t.Run("link down and up", func(t *testing.T) {
		wire := lab.Veth(t)
		ports := map[string]nic.Device{"a": open(t, wire.A, c, 1), "b": open(t, wire.B, c, 1)}
		for i, end := range []string{"a", "b"} {
			spec := packets(20e3, 600*time.Millisecond)
			spec.Interval = 100 * time.Millisecond
			r, err := replay.New(replay.Options{Clock: c, Ports: ports, Streams: []replay.Stream{stream()}})
			if err != nil {
				t.Fatal(err)
			}
			var once sync.Once
			res, err := r.Run(t.Context(), spec, func(s trial.Sample) {
				if s.Streams[0].Sent > 0 {
					once.Do(func() {
						wire.IP(end, "link", "set", end+"0", "down")
						time.Sleep(50 * time.Millisecond)
						wire.IP(end, "link", "set", end+"0", "up")
					})
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			s := &res.Streams[0]
			if s.Intended != 12000 || s.Unsent() < 100 || s.Received < 100 || !res.Ports[0].Down && !res.Ports[1].Down {
				t.Errorf("%s: intended %d, unsent %d, received %d, ports %+v", end, s.Intended, s.Unsent(), s.Received, res.Ports)
			}
			if lost := s.Lost(); i == 0 && lost != 0 || lost > 256 { // what is in the ring when the peer goes down is lost
				t.Errorf("%s: %d lost", end, lost)
			}
		}
	})
	t.Run("as fast as possible", func(t *testing.T) {
		wire := lab.Veth(t)
		ports := map[string]nic.Device{"a": open(t, wire.A, c, 1), "b": open(t, wire.B, c, 1)}
		for range 3 {
			res := play(t, ports, c, packets(math.Inf(1), 200*time.Millisecond), stream())
			if s := &res.Streams[0]; s.Unsent() != 0 || s.Sent < 1000 {
				t.Errorf("sent %d, unsent %d", s.Sent, s.Unsent())
			}
			whole(t, &res.Streams[0])
			res = play(t, ports, c, packets(50e6, 200*time.Millisecond), stream()) // more than any machine does
			if s := &res.Streams[0]; s.Unsent() == 0 || s.Sent < 1000 {
				t.Errorf("sent %d, unsent %d of 50 Mpps", s.Sent, s.Unsent())
			}
			whole(t, &res.Streams[0])
		}
	})
}

// The truth of a router that drops every 1000th packet is its own counter.
func TestRouterEvery(t *testing.T) {
	lab.Need(t, "netns", "afpacket", "xdp", "nft")
	d := lab.Up(t, "linux-router.sh", "every=1000")
	taken(t, d, "ra", "rb")
	c := clock.NewReal()
	ports := map[string]nic.Device{"a": open(t, d.A, c, 1), "b": open(t, d.B, c, 1)}
	before, _ := d.Drops()
	store := made(100, 60)
	for i := range store.Len() {
		copy(store.Frame(i).Data, []byte{2, 0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 2})
	}
	res := play(t, ports, c, packets(50e3, 400*time.Millisecond), replay.Stream{Name: "s", Packets: store, TX: "a", RX: "b"})
	after, _ := d.Drops()
	s := &res.Streams[0]
	if s.Lost() != after-before || s.Lost() != (s.Sent+999)/1000 || s.Sent == 0 || s.Duplicated+s.Reordered+s.Surplus != 0 { // it drops the first one
		t.Errorf("lost %d of %d, the router dropped %d; duplicated %d, reordered %d, surplus %d, unsent %d", s.Lost(), s.Sent, after-before, s.Duplicated,
			s.Reordered, s.Surplus, s.Unsent())
	}
}

// taken makes the ends of veth pairs in a device take live frames.
func taken(t *testing.T, d *lab.Device, ends ...string) {
	t.Helper()
	for _, end := range ends {
		if out, err := exec.Command("ip", "netns", "exec", d.Prefix+"-r", "ethtool", "-K", end, "gro", "on").CombinedOutput(); err != nil {
			t.Fatalf("ethtool: %v: %s", err, out)
		}
	}
}

// A port that is deleted while it plays ends the trial with an error or a link that is down, and its books balance.
func TestGoneWhilePlaying(t *testing.T) {
	lab.Need(t, "netns", "afpacket", "xdp")
	wire := lab.Veth(t)
	c := clock.NewReal()
	ports := map[string]nic.Device{"a": open(t, wire.A, c, 1), "b": open(t, wire.B, c, 1)}
	r, err := replay.New(replay.Options{Clock: c, Ports: ports, Streams: []replay.Stream{{Name: "s", Packets: made(100, 60), TX: "a", RX: "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	spec := packets(100e3, 300*time.Millisecond)
	spec.Interval = 50 * time.Millisecond
	var once sync.Once
	res, err := r.Run(t.Context(), spec, func(s trial.Sample) {
		if s.Streams[0].Sent > 0 {
			once.Do(func() { wire.IP("a", "link", "del", "a0") })
		}
	})
	s := &res.Streams[0]
	if err == nil && !res.Ports[0].Down {
		t.Errorf("no error, and the link is up: %+v", res.Ports)
	}
	if s.Received == 0 || s.Unsent() == 0 || s.Lost() > 256 {
		t.Errorf("intended %d, sent %d, lost %d", s.Intended, s.Sent, s.Lost())
	}
}

// What the kernel cannot play is sent by the packet socket.
func TestNotPlayed(t *testing.T) {
	lab.Need(t, "netns", "afpacket", "xdp")
	wire := lab.Up(t, "veth.sh", "mtu=3498")
	c := clock.NewReal()
	a := open(t, wire.A, c, 1)
	p := nic.Of(a.Queues[0]).Player
	if err := p.Load([]nic.Lane{lane(1, 3409)}); !errors.Is(err, nic.ErrNotPlayed) || !strings.Contains(err.Error(), "a packet of 3409 bytes, the kernel plays up to 3408") {
		t.Errorf("a long packet: %v", err)
	}
	if err := p.Load(make([]nic.Lane, 17)); !errors.Is(err, nic.ErrNotPlayed) || !strings.Contains(err.Error(), "17 streams out of one queue, the kernel plays 16") {
		t.Errorf("many lanes: %v", err)
	}
	res := play(t, map[string]nic.Device{"a": a, "b": open(t, wire.B, c, 1)}, c, packets(10e3, 100*time.Millisecond),
		replay.Stream{Name: "s", Packets: made(10, 60, 3500), TX: "a", RX: "b"})
	if s := &res.Streams[0]; s.Intended != 1000 {
		t.Errorf("intended %d, want 1000", s.Intended)
	}
	whole(t, &res.Streams[0])
}

// Two queues on one interface, each with a thread.
func TestQueues(t *testing.T) {
	lab.Need(t, "netns", "afpacket", "xdp")
	wire := lab.Up(t, "veth.sh", "queues=2")
	c := clock.NewReal()
	ports := map[string]nic.Device{"a": open(t, wire.A, c, 2), "b": open(t, wire.B, c, 2)}
	res := play(t, ports, c, packets(60e3, 300*time.Millisecond), replay.Stream{Name: "s", Packets: made(100, 60), TX: "a", RX: "b"})
	s := &res.Streams[0]
	whole(t, s)
	if s.Intended != 18000 {
		t.Errorf("intended %d, want 18000", s.Intended)
	}
}

// Loops without a pace end when all of them have left, however often the driver had no room.
func TestLoopsThroughAFullRing(t *testing.T) {
	lab.Need(t, "netns", "afpacket", "xdp")
	wire := lab.Veth(t)
	c := clock.NewReal()
	ports := map[string]nic.Device{"a": open(t, wire.A, c, 1), "b": open(t, wire.B, c, 1)}
	narrow(t, wire)
	for range 3 {
		spec := trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: math.Inf(1)}}, Loops: 1000, Drain: time.Second} // another thread empties the ring
		res := play(t, ports, c, spec, replay.Stream{Name: "one", Packets: made(100, 60), TX: "a", RX: "b"},
			replay.Stream{Name: "two", Packets: made(77, 90), TX: "a", RX: "b"})
		for i, want := range []int64{100e3, 77e3} {
			s := &res.Streams[i]
			if s.Intended != want || s.Sent != want {
				t.Errorf("%s: intended %d, sent %d; want %d", s.Name, s.Intended, s.Sent, want)
			}
			whole(t, s)
		}
	}
}

// As many lanes as a queue may have, each with a rate of its own.
func TestManyStreams(t *testing.T) {
	lab.Need(t, "netns", "afpacket", "xdp")
	wire := lab.Veth(t)
	c := clock.NewReal()
	ports := map[string]nic.Device{"a": open(t, wire.A, c, 1), "b": open(t, wire.B, c, 1)}
	spec := packets(5e3, 200*time.Millisecond)
	spec.Share = map[string]float64{}
	var streams []replay.Stream
	for i := range 16 {
		name := fmt.Sprint(i)
		spec.Share[name] = float64(i+1) / 16
		streams = append(streams, replay.Stream{Name: name, Packets: made(i+1, 60+i), TX: "a", RX: "b"})
	}
	p := nic.Of(ports["a"].Queues[0]).Player
	var all []nic.Lane
	for range streams {
		all = append(all, lane(1, 60))
	}
	if err := p.Load(all); err != nil {
		t.Fatalf("%d lanes: %v", len(all), err)
	}
	res := play(t, ports, c, spec, streams...)
	for i := range res.Streams {
		s := &res.Streams[i]
		whole(t, s)
		if want := int64(1000) * int64(i+1) / 16; s.Intended < want || s.Intended > want+1 {
			t.Errorf("%s: intended %d, want %d", s.Name, s.Intended, want)
		}
	}
}
