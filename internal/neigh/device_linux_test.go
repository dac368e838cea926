package neigh_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loadtest/internal/clock"
	"loadtest/internal/lab"
	"loadtest/internal/neigh"
	"loadtest/nic/afpacket"
)

// TestKernel has the kernel at the other end of a veth pair as neighbour: each asks the other, pings, and believes what it is told.
func TestKernel(t *testing.T) {
	lab.Need(t, "netns", "afpacket")
	k := kernel{t, lab.Veth(t)}
	k.run("sysctl", "-qw", "net.ipv6.conf.b0.disable_ipv6=0", "net.ipv4.ping_group_range=0 0")
	k.run("ip", "address", "add", "198.18.0.1/16", "dev", "b0")
	k.run("ip", "address", "add", "2001:db8::1/64", "dev", "b0", "nodad")
	c := clock.NewReal()
	d, err := afpacket.Open(k.lab.A, afpacket.Options{Epoch: c.Epoch()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Queues[0].Close() })
	o := tester(t, "198.18.0.2/16,gw=198.18.0.1", "2001:db8::2/64,gw=2001:db8::1")
	o.MAC, o.MaxFrame = d.Info.MAC, d.Info.MaxFrame
	o.Own = nil
	h := neigh.NewHost(o)

	if err := neigh.Resolve(k.soon(), c, []neigh.Attended{{Name: "a0", Port: d.Queues[0], Host: h}}, nil); err != nil {
		t.Fatal(err)
	}
	for _, g := range h.Gateways() {
		if want := [6]byte{2, 0, 0, 0, 2, 2}; !g.Known || g.MAC != want {
			t.Errorf("gateway %s is %x, known: %v; want %x", g.Gateway, g.MAC, g.Known, want)
		}
	}

	k.run("ip", "neighbour", "flush", "all") // it has learned from our questions
	k.attend(c, &neigh.Attendant{Host: h, Port: d.Queues[0]}, func() {
		for _, size := range []int{0, 1, 1400} {
			k.ping(unix.AF_INET, &unix.SockaddrInet4{Addr: [4]byte{198, 18, 0, 2}}, size)
			k.ping(unix.AF_INET6, &unix.SockaddrInet6{Addr: addr("2001:db8::2").As16()}, size)
		}
		for _, ip := range []string{"198.18.0.2 dev b0", "2001:db8::2 dev b0"} {
			k.knows(ip)
		}
		k.run("ip", "address", "add", "2001:db8::2/64", "dev", "b0") // the kernel looks whether it is free
		k.see("2001:db8::2/64 scope global dadfailed", "ip", "-6", "address", "show", "dev", "b0")
		k.run("ip", "address", "del", "2001:db8::2/64", "dev", "b0")
	})
	if counts := h.Counts(); counts.Ping != 6 || counts.ARP == 0 || counts.ND < 2 || counts.Dropped != 0 || len(h.Conflicts()) > 0 {
		t.Errorf("%+v, conflicts %v; want 6 pings, ARP, 2 ND or more, nothing else", counts, h.Conflicts())
	}

	for _, ip := range []string{"198.18.0.2 dev b0", "2001:db8::2 dev b0"} {
		k.run("ip", strings.Fields("neighbour replace "+ip+" lladdr 02:00:00:00:00:99 nud stale")...)
	}
	h.Announce()
	k.attend(c, &neigh.Attendant{Host: h, Port: d.Queues[0]}, func() {
		for _, ip := range []string{"198.18.0.2 dev b0", "2001:db8::2 dev b0"} {
			k.knows(ip)
		}
	})
}

// A kernel is the one in namespace b of a veth pair.
type kernel struct {
	t   *testing.T
	lab *lab.Device
}

func (k *kernel) soon() context.Context {
	ctx, cancel := context.WithTimeout(k.t.Context(), time.Minute)
	k.t.Cleanup(cancel)
	return ctx
}

// attend runs an attendant while f runs.
func (k *kernel) attend(c clock.Clock, a *neigh.Attendant, f func()) {
	var over atomic.Bool
	a.Until = func(int64) bool { return over.Load() }
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := c.Run(k.soon(), a); err != nil || a.Err != nil {
			k.t.Error(err, a.Err)
		}
	})
	defer wg.Wait()
	defer over.Store(true)
	f()
}

// run runs a command in the kernel's namespace.
func (k *kernel) run(name string, args ...string) string {
	k.t.Helper()
	args = append([]string{"netns", "exec", k.lab.Prefix + "-b", name}, args...)
	out, err := exec.CommandContext(k.soon(), "ip", args...).CombinedOutput()
	if err != nil {
		k.t.Errorf("ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// see waits until a command says something.
func (k *kernel) see(want, name string, args ...string) {
	k.t.Helper()
	got := ""
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if got = k.run(name, args...); strings.Contains(got, want) {
			return
		}
	}
	k.t.Errorf("%s %s: says\n%s, want %q", name, strings.Join(args, " "), got, want)
}

// knows waits until the kernel has the tester's MAC address for an IP address.
func (k *kernel) knows(ip string) {
	k.t.Helper()
	k.see(ip+" lladdr 02:00:00:00:01:02", "ip", strings.Fields("neighbour get "+ip)...)
}

// ping sends an echo request of so many bytes from a socket that gets only replies whose checksum the kernel finds right.
func (k *kernel) ping(family int, to unix.Sockaddr, size int) {
	k.t.Helper()
	proto, kind := unix.IPPROTO_ICMP, byte(8)
	if family == unix.AF_INET6 {
		proto, kind = unix.IPPROTO_ICMPV6, 128
	}
	err := within("/run/netns/"+k.lab.Prefix+"-b", func() error {
		fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, proto)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 20}); err != nil {
			return err
		}
		payload := bytes.Repeat([]byte{0xa5}, size)
		if err := unix.Sendto(fd, append([]byte{kind, 0, 0, 0, 0, 0, 0, 9}, payload...), 0, to); err != nil {
			return err
		}
		reply := make([]byte, 2000)
		n, _, err := unix.Recvfrom(fd, reply, 0)
		if err != nil {
			return fmt.Errorf("no reply: %w", err)
		}
		if n != 8+size || reply[7] != 9 || !bytes.Equal(reply[8:n], payload) {
			return fmt.Errorf("the reply is %x", reply[:n])
		}
		return nil
	})
	if err != nil {
		k.t.Errorf("ping of %v with %d bytes: %v", to, size, err)
	}
}

// within runs f on a thread that is in a network namespace, and ends with it.
func within(path string, f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		ns, err := os.Open(path)
		if err == nil {
			defer ns.Close()
			err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET)
		}
		if err == nil {
			err = f()
		}
		done <- err
	}()
	return <-done
}
