//go:build dpdk && cgo && linux

package dpdk

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loadtest/internal/lab"
	"loadtest/nic"
	"loadtest/nic/nictest"
	"loadtest/packet"
)

// open1 opens a device until the test ends.
func open1(t testing.TB, name string, o Options) nic.Device {
	t.Helper()
	all, err := Open([]string{name}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, q := range all[0].Queues {
			if err := q.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return all[0]
}

var rings atomic.Int64 // names of rings are taken once

// ringWire is both ends of a wire of rings with room for size-1 frames.
func ringWire(t testing.TB, size int, o Options) (a, b nic.Device) {
	t.Helper()
	n := rings.Add(1)
	names := []string{fmt.Sprintf("%da", n), fmt.Sprintf("%db", n)}
	if err := ringPair(names[0], names[1], size); err != nil {
		t.Fatal(err)
	}
	return open1(t, "net_ring_"+names[0], o), open1(t, "net_ring_"+names[1], o)
}

func TestRings(t *testing.T) {
	lab.Need(t, "dpdk")
	nictest.Run(t, func(t *testing.T) nictest.Pair {
		a, b := ringWire(t, 1024, Options{})
		return nictest.Pair{A: a.Queues[0], B: b.Queues[0]}
	})
}

func TestKernel(t *testing.T) {
	n := 0
	for driver, need := range map[string]string{"net_af_packet": "afpacket", "net_af_xdp": "afxdp"} {
		t.Run(driver, func(t *testing.T) {
			lab.Need(t, "dpdk", "netns", need)
			nictest.Run(t, func(t *testing.T) nictest.Pair {
				n++
				wire := lab.Veth(t)
				a := open1(t, fmt.Sprintf("%s%d,iface=%s", driver, 2*n, wire.A), Options{})
				b := open1(t, fmt.Sprintf("%s%d,iface=%s", driver, 2*n+1, wire.B), Options{})
				return nictest.Pair{A: a.Queues[0], B: b.Queues[0], Settle: func() { time.Sleep(time.Millisecond) },
					Gone: func() { wire.IP("a", "link", "del", "a0") }}
			})
		})
	}
}

func TestMemif(t *testing.T) {
	lab.Need(t, "dpdk")
	n := 0
	nictest.Run(t, func(t *testing.T) nictest.Pair {
		n++
		socket := t.TempDir() + "/s"
		name := func(i int, role string) string {
			return fmt.Sprintf("net_memif%d,role=%s,socket=%s,socket-abstract=no", 2*n+i, role, socket)
		}
		a, b := open1(t, name(0, "server"), Options{}), open1(t, name(1, "client"), Options{})
		if down := nic.WaitUp(t.Context(), map[string]nic.Device{"a": a, "b": b}, 5*time.Second); len(down) > 0 {
			t.Fatalf("links of %v do not come up", down)
		}
		for _, d := range []nic.Device{a, b} { // who receives tells the other end where to put frames
			if n, err := d.Queues[0].Recv(make([]packet.Frame, 1)); n != 0 || err != nil {
				t.Fatalf("Recv of an empty wire = %d, %v", n, err)
			}
		}
		return nictest.Pair{A: a.Queues[0], B: b.Queues[0]}
	})
}

func TestInfo(t *testing.T) {
	lab.Need(t, "dpdk")
	got := open1(t, "net_null0", Options{Queues: 3})
	want := nic.Info{Name: "dpdk:net_null0", Backend: "dpdk", Driver: "net_null", LineRate: 10e9, MTU: 1500, MaxFrame: 1514}
	if len(got.Queues) != 3 || !strings.HasSuffix(got.Info.Mode, " pages, 3 queues, bursts of 32") && !strings.HasSuffix(got.Info.Mode, "slower, 3 queues, bursts of 32") {
		t.Errorf("%d queues, mode %q", len(got.Queues), got.Info.Mode)
	}
	i := got.Info
	if i.MAC == [6]byte{} {
		t.Error("no MAC")
	}
	i.MAC, i.Mode, i.NUMA = want.MAC, want.Mode, want.NUMA
	if i != want {
		t.Errorf("Info\n got %+v\nwant %+v", i, want)
	}
}

func frame(size int) packet.Frame {
	b := make([]byte, size)
	copy(b, []byte{2, 0, 0, 0, 2, 2, 2, 0, 0, 0, 1, 2, 0x88, 0xb5})
	return packet.Frame{Data: b}
}

// EAL knows 128 threads at once; those that have ended make room for others.
func TestThreads(t *testing.T) {
	lab.Need(t, "dpdk")
	open1(t, "net_null940", Options{})
	for i := range 300 {
		known := make(chan bool)
		go func() {
			runtime.LockOSThread() // for good: the thread ends with this goroutine
			known <- register()
		}()
		if !<-known {
			t.Fatalf("thread %d is not known to EAL", i)
		}
	}
}
