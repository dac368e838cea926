package afxdp

import (
	"encoding/binary"
	"errors"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loadtest/internal/lab"
	"loadtest/nic"
	"loadtest/packet"
)

// number puts numbers from first on into frames.
func number(frames []packet.Frame, first int) {
	for i, f := range frames {
		binary.BigEndian.PutUint32(f.Data[14:], uint32(first+i))
	}
}

func numberOf(f packet.Frame) int { return int(binary.BigEndian.Uint32(f.Data[14:])) }

// blank is n frames that get numbers.
func blank(n int) []packet.Frame {
	f := make([]packet.Frame, n)
	for i := range f {
		f[i].Data = make([]byte, 60)
		copy(f[i].Data, []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5})
	}
	return f
}

// narrow makes the driver's ring at b overflow: another thread than the sender's empties it.
func narrow(t testing.TB, d *lab.Device) {
	t.Helper()
	ring := "ethtool -K b0 gro on && echo 1 >/sys/class/net/b0/threaded"
	if out, err := exec.Command("ip", "netns", "exec", d.Prefix+"-b", "sh", "-c", ring).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", ring, err, out)
	}
}

// Through a ring that overflows, in batches of many sizes: each frame that Send took arrives once, or was missed by the receiver; none
// that it refused ever does. Who waits for frames at the sender's port changes nothing.
func TestTaken(t *testing.T) {
	lab.Need(t, "netns", "afxdp")
	for name, o := range map[string]Options{"native": {}, "generic": {generic: true}} {
		t.Run(name, func(t *testing.T) {
			wire := lab.Veth(t)
			b := opened(t, wire.B, Options{}).Port()
			a := opened(t, wire.A, o).Port()
			narrow(t, wire)
			const offered = 50_000
			var taken, seen [offered]int
			var ended atomic.Bool
			var wg sync.WaitGroup
			wg.Go(func() {
				for !ended.Load() {
					nic.Of(a).Waiter.Wait(100 * time.Microsecond)
				}
			})
			wg.Go(func() {
				f := make([]packet.Frame, 64)
				for last := time.Now(); !ended.Load() || time.Since(last) < 100*time.Millisecond; {
					n, err := b.Recv(f)
					if err != nil {
						t.Error(err)
						return
					}
					for _, g := range f[:n] {
						seen[numberOf(g)]++
						last = time.Now()
					}
				}
			})
			batch := blank(64)
			refused := 0
			for next, i := 0, 0; next < offered; i++ {
				k := min(offered-next, []int{64, 1, 33, 64, 7}[i%5])
				number(batch[:k], next)
				n, err := a.Send(batch[:k])
				if n < 0 || n > k || err != nil {
					t.Errorf("Send of %d frames = %d, %v", k, n, err)
					break
				}
				for j := range n {
					taken[next+j] = 1
				}
				if n < k {
					refused += k - n
					time.Sleep(20 * time.Microsecond)
				}
				next += k
			}
			ended.Store(true)
			wg.Wait()
			var lost int64
			for i := range taken {
				switch {
				case seen[i] > taken[i]:
					t.Fatalf("frame %d was taken %d times, and came %d times", i, taken[i], seen[i])
				case seen[i] < taken[i]:
					lost++
				}
			}
			missed := nic.Of(b).Reporter.Status().Missed
			t.Logf("offered %d, refused %d, missed %d", offered, refused, missed)
			if lost != missed || refused == 0 {
				t.Errorf("refused %d, lost %d, missed %d", refused, lost, missed)
			}
		})
	}
}

// A port whose link goes down says so, and what it refused then never leaves.
func TestDown(t *testing.T) {
	lab.Need(t, "netns", "afxdp")
	wire := lab.Veth(t)
	a, b := opened(t, wire.A, Options{}).Port(), opened(t, wire.B, Options{}).Port()
	player := nic.Of(a).Player
	if err := player.Load([]nic.Lane{untagged(3)}); err != nil {
		t.Fatal(err)
	}
	batch, f := blank(64), make([]packet.Frame, 64)
	for i, tt := range []struct{ ns, iface string }{{"b", "b0"}, {"a", "a0"}, {"b", "b0"}} {
		wire.IP(tt.ns, "link", "set", tt.iface, "down")
		number(batch, 1000)
		for until := time.Now().Add(3 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			n, err := a.Send(batch)
			if n == 0 && errors.Is(err, nic.ErrDown) {
				break
			}
			if n != 0 || err != nil || time.Now().After(until) { // a lost carrier takes up to 1 s to be told
				t.Fatalf("%s down: Send = %d, %v; want %v", tt.iface, n, err, nic.ErrDown)
			}
		}
		if err := playAll(player); !errors.Is(err, nic.ErrDown) || player.Played(0).Sent != 0 {
			t.Errorf("%s down: played %d, %v; want %v", tt.iface, player.Played(0).Sent, err, nic.ErrDown)
		}
		if s := nic.Of(a).Reporter.Status(); !s.LinkDown || s.Downs != int64(i+1) {
			t.Errorf("%s down: status %+v, want down for the %d. time", tt.iface, s, i+1)
		}
		wire.IP(tt.ns, "link", "set", tt.iface, "up")
		for until := time.Now().Add(3 * time.Second); nic.Of(a).Reporter.Status().LinkDown && time.Now().Before(until); {
			time.Sleep(10 * time.Millisecond)
		}
		for i := range 100 { // one by one: with all that is left over
			number(batch[:1], i)
			if n, err := a.Send(batch[:1]); n != 1 || err != nil {
				t.Fatalf("up again: Send = %d, %v", n, err)
			}
			n := 0
			for until := time.Now().Add(2 * time.Second); n == 0 && time.Now().Before(until); {
				n, _ = b.Recv(f)
			}
			if n != 1 || numberOf(f[0]) != i {
				t.Fatalf("sent number %d, got %d frames", i, n)
			}
		}
	}
	wire.IP("a", "link", "del", "a0")
	if err := playAll(player); !errors.Is(err, nic.ErrDown) {
		t.Errorf("deleted: played %d, %v; want %v", player.Played(0).Sent, err, nic.ErrDown)
	}
}

// untagged is a lane of n packets.
func untagged(n int) nic.Lane {
	l := nic.Lane{Store: made(n, 60), Tags: make([]int32, n), Gaps: make([]int64, n)}
	for i := range n {
		l.Tags[i] = -1
	}
	return l
}

// playAll plays as fast as possible until that fails, 2 s at most.
func playAll(p nic.Player) error {
	began := monotonic()
	if err := p.Begin(nic.Plan{End: 2e9, Credit: 1e9, Lanes: []nic.Load{{Den: 1}}}); err != nil {
		return err
	}
	for {
		switch next, err := p.Play(monotonic() - began); {
		case err != nil:
			return err
		case next == nic.Never:
			return nil
		}
	}
}

// What the sockets of two queues had no room for is missed once, though the driver counts it, too.
func TestMissed(t *testing.T) {
	lab.Need(t, "netns", "afxdp")
	wire := lab.Up(t, "veth.sh", "queues=2")
	a, b := opened(t, wire.A, Options{}), opened(t, wire.B, Options{})
	batch := blank(64)
	var sent, got int64
	for _, q := range a.Queues {
		for range 50 {
			n, err := q.Send(batch)
			if err != nil {
				t.Fatal(err)
			}
			sent += int64(n)
		}
	}
	for _, q := range b.Queues {
		f := make([]packet.Frame, 64)
		here := 0
		for n, _ := q.Recv(f); n > 0; n, _ = q.Recv(f) {
			here += n
		}
		if here != ringFrames {
			t.Errorf("a queue held %d frames, want %d", here, ringFrames)
		}
		got += int64(here)
	}
	if s := nic.Of(b.Port()).Reporter.Status(); s.Missed == 0 || got+s.Missed != sent {
		t.Errorf("sent %d, got %d, status %+v", sent, got, s)
	}
	if s := nic.Of(a.Port()).Reporter.Status(); s.TxFrames != sent || s.TxErrors != 0 {
		t.Errorf("sent %d, status %+v", sent, s)
	}
}
