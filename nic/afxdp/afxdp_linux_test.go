package afxdp

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"loadtest/internal/clock"
	"loadtest/internal/lab"
	"loadtest/nic"
	"loadtest/nic/afpacket"
	"loadtest/nic/nictest"
	"loadtest/packet"
	"loadtest/replay"
	"loadtest/trial"
)

func opened(t testing.TB, name string, o Options) nic.Device {
	t.Helper()
	d, err := Open(name, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Port().Close(); err != nil {
			t.Errorf("close %s: %v", name, err)
		}
	})
	return d
}

func TestPort(t *testing.T) {
	lab.Need(t, "netns", "afxdp")
	for _, tt := range []struct {
		name    string
		o       Options
		up      []string
		mode    string
		longest int
	}{
		{"native", Options{}, nil, "native copy, rings of 2048, may not see VLAN tags", 1514},
		{"generic", Options{generic: true}, nil, "generic copy, rings of 2048, may not see VLAN tags", 1514},
		{"two queues as one port", Options{}, []string{"queues=2"}, "native copy, 2 queues, rings of 2048, may not see VLAN tags", 1514},
		{"long frames", Options{}, []string{"mtu=3400"}, "native copy, rings of 2048, may not see VLAN tags", 3414},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wire := lab.Up(t, "veth.sh", tt.up...)
			nictest.Run(t, func(t *testing.T) nictest.Pair {
				a, b := opened(t, wire.A, tt.o), opened(t, wire.B, tt.o)
				if a.Info.Mode != tt.mode || a.Info.MaxFrame != tt.longest || a.Info.Backend != "afxdp" {
					t.Errorf("mode %q, longest %d; want %q, %d", a.Info.Mode, a.Info.MaxFrame, tt.mode, tt.longest)
				}
				return nictest.Pair{A: a.Port(), B: b.Port(), MaxFrame: a.Info.MaxFrame, Settle: func() { time.Sleep(time.Millisecond) },
					Gone: func() { wire.IP("a", "link", "del", "a0") }}
			})
		})
	}
}

// made is n packets of some sizes, each of its own flow, with room for a tag.
func made(n int, sizes ...int) *packet.Store {
	s := &packet.Store{}
	for i := range n {
		size := sizes[i%len(sizes)]
		b := make([]byte, size)
		copy(b, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0})
		ip := size - 14
		b[16], b[17], b[22], b[23] = byte(ip>>8), byte(ip), 64, 17
		copy(b[26:], []byte{198, 18, 0, 1, 198, 19, byte(i >> 8), byte(i), 0, 7, 0, 9, byte((ip - 20) >> 8), byte(ip - 20)})
		s.Append(b, int64(i)*1e5, size)
	}
	return s
}

// What is played arrives, each packet once, whole and in order: chunks are written again only when they have left. Small captures are
// where that would go wrong first.
func TestPlayed(t *testing.T) {
	lab.Need(t, "netns", "afxdp")
	for _, queues := range []int{1, 2} {
		wire := lab.Up(t, "veth.sh", fmt.Sprintf("queues=%d", queues))
		c := clock.NewReal()
		ports := map[string]nic.Device{"a": opened(t, wire.A, Options{}), "b": opened(t, wire.B, Options{})}
		if n := len(ports["a"].Queues); n != queues {
			t.Fatalf("%d queues, want %d", n, queues)
		}
		for _, tt := range []struct {
			name  string
			spec  trial.Spec
			sizes []int
			n     int
		}{
			{"50 kpps", trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 50e3}}, Duration: 300 * time.Millisecond}, []int{60}, 100},
			{"three packets", trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 50e3}}, Duration: 300 * time.Millisecond}, []int{60}, 3},
			{"mixed sizes, by bits", trial.Spec{Load: []trial.Point{{Load: 100e6}}, Duration: 300 * time.Millisecond}, []int{60, 590, 61, 1514}, 100},
			{"loops", trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 30e3}}, Loops: 50}, []int{60}, 100},
			{"more than is kept", trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 50e3}}, Duration: 300 * time.Millisecond}, []int{60}, 40000},
		} {
			t.Run(fmt.Sprintf("%s, %d queues", tt.name, queues), func(t *testing.T) {
				r, err := replay.New(replay.Options{Clock: c, Ports: ports, Credit: 200 * time.Millisecond,
					Streams: []replay.Stream{{Name: "s", Packets: made(tt.n, tt.sizes...), TX: "a", RX: "b"}}})
				if err != nil {
					t.Fatal(err)
				}
				res, err := r.Run(t.Context(), tt.spec, nil)
				if err != nil {
					t.Fatal(err)
				}
				s := &res.Streams[0]
				if s.Lost() != 0 || s.Duplicated+s.Late+s.Corrupt+s.Surplus != 0 || s.Sent < 5000 || s.SentBytes != s.ReceivedBytes || s.Reordered > 0 {
					t.Errorf("intended %d, sent %d, lost %d; duplicated %d, reordered %d, late %d, corrupt %d, surplus %d; %d of %d bytes", s.Intended, s.Sent, s.Lost(),
						s.Duplicated, s.Reordered, s.Late, s.Corrupt, s.Surplus, s.ReceivedBytes, s.SentBytes)
				}
				if tt.spec.Loops > 0 && s.Intended != 5000 {
					t.Errorf("intended %d, want 5000", s.Intended)
				}
			})
		}
	}
}

// As fast as possible into a peer whose rings overflow: what the driver drops is known, and is not lost.
func TestRefused(t *testing.T) {
	lab.Need(t, "netns", "afxdp")
	wire := lab.Veth(t)
	c := clock.NewReal()
	ports := map[string]nic.Device{"a": opened(t, wire.A, Options{}), "b": opened(t, wire.B, Options{})}
	for _, never := range []bool{false, true} { // tags: played; by flow: sent
		tag := packet.TagAuto
		if never {
			tag = packet.TagNever
		}
		r, err := replay.New(replay.Options{Clock: c, Ports: ports, Tag: tag, Streams: []replay.Stream{{Name: "s", Packets: made(1000, 60), TX: "a", RX: "b"}}})
		if err != nil {
			t.Fatal(err)
		}
		res, err := r.Run(t.Context(), trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 20e6}}, Duration: 300 * time.Millisecond}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := &res.Streams[0]
		t.Logf("sent %d, unsent %d, lost %d, missed %d", s.Sent, s.Unsent(), s.Lost(), res.Missed())
		if s.Lost() > res.Missed() || s.Unsent() == 0 || s.Sent == 0 || s.Duplicated+s.Surplus != 0 {
			t.Errorf("sent %d, unsent %d, lost %d, missed %d, duplicated %d, surplus %d", s.Sent, s.Unsent(), s.Lost(), res.Missed(), s.Duplicated, s.Surplus)
		}
	}
}

// Frames with a VLAN tag keep it, and may be four bytes longer.
func TestVLAN(t *testing.T) {
	lab.Need(t, "netns", "afxdp", "afpacket")
	wire := lab.Veth(t)
	a := opened(t, wire.A, Options{}).Port()
	b, err := afpacket.Open(wire.B, afpacket.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Port().Close()
	data := made(1, 1518).Frame(0).Data
	copy(data[12:], []byte{0x81, 0, 0, 7, 0x88, 0xb5})
	if n, err := a.Send([]packet.Frame{{Data: data}}); n != 1 || err != nil {
		t.Fatalf("Send = %d, %v", n, err)
	}
	f := make([]packet.Frame, 4)
	for until := time.Now().Add(2 * time.Second); ; time.Sleep(time.Millisecond) {
		n, err := b.Port().Recv(f)
		if err != nil || time.Now().After(until) {
			t.Fatalf("nothing came: %v", err)
		}
		if n > 0 {
			break
		}
	}
	if !bytes.Equal(f[0].Data, data) {
		t.Errorf("got %d bytes\n% x", len(f[0].Data), f[0].Data[:40])
	}
}
