package afxdp

import (
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loadtest/internal/lab"
	"loadtest/internal/netns"
	"loadtest/packet"
)

// tap makes an interface of n queues in a namespace, whose driver does not tell how many it uses; a file is each queue's wire.
func tap(t *testing.T, ns, name string, n int) (wires []*os.File) {
	t.Helper()
	err := netns.Within(ns, func() error {
		for range n {
			fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			r, err := unix.NewIfreq(name)
			if err == nil {
				r.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI | unix.IFF_MULTI_QUEUE)
				err = unix.IoctlIfreq(fd, unix.TUNSETIFF, r)
			}
			if err != nil {
				return errors.Join(err, unix.Close(fd))
			}
			f := os.NewFile(uintptr(fd), name) // it can be polled only now
			t.Cleanup(func() { f.Close() })
			wires = append(wires, f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return wires
}

// Where the driver does not tell how many queues it uses each has its socket all the same.
func TestUntoldQueues(t *testing.T) {
	lab.Need(t, "netns", "afxdp", "tun")
	wire := lab.Veth(t)
	wires := tap(t, wire.Prefix+"-a", "tap0", 3)
	wire.IP("a", "link", "set", "tap0", "up")
	d := opened(t, "tap0@"+wire.Prefix+"-a", Options{})
	if len(d.Queues) != len(wires) {
		t.Fatalf("%d queues, want %d; mode %s", len(d.Queues), len(wires), d.Info.Mode)
	}
	f, out := blank(1), make([]packet.Frame, 4)
	for q, w := range wires {
		number(f, q)
		if _, err := w.Write(f[0].Data); err != nil {
			t.Fatal(err)
		}
		n := 0
		for until := time.Now().Add(2 * time.Second); n == 0 && time.Now().Before(until); {
			n, _ = d.Queues[q].Recv(out)
		}
		if n != 1 || numberOf(out[0]) != q {
			t.Errorf("queue %d received %d frames", q, n)
		}
		if n, err := d.Queues[q].Send(f); n != 1 || err != nil {
			t.Fatalf("queue %d: Send = %d, %v", q, n, err)
		}
		got := make([]byte, 100)
		if err := w.SetReadDeadline(time.Now().Add(2 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if n, err := w.Read(got); n != 60 || err != nil || numberOf(packet.Frame{Data: got}) != q {
			t.Errorf("queue %d sent %d bytes, %v", q, n, err)
		}
	}
}
