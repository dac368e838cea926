package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"loadtest/internal/lab"
	"loadtest/nic/dial"
	"loadtest/packet"
)

// A port of a virtual machine that stands still takes frames, which nobody reads.
func TestDiagnosisNobodyReads(t *testing.T) {
	device(t, "tun")
	t.Parallel()
	d := lab.Veth(t)
	s := scene{Device: d, ports: map[string]string{"a0": "tap0@" + d.Prefix + "-a", "b0": d.B}}
	c := cause{args: "gen,flows=16 a0 b0", likely: "frames do not leave a0: driver sent 0 of #. ip -n a -s -s link show tap0 and ethtool -S say why"}
	f := tap(t, d.Prefix+"-a")
	s.told(t, c, "find-limit -b 1Mbps --wait 700ms")
	reading(t, f, d.A)
	if r := s.run(t, c, passing, c.args, ""); r.code != 0 {
		t.Errorf("when somebody reads: exit %d\n%s", r.code, s.short(r.talk))
	}
}

// tap makes tap0 in a namespace, as a virtual machine has one, whose frames nobody reads.
func tap(t *testing.T, namespace string) *os.File {
	t.Helper()
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("lt%d", os.Getpid())
	r, err := unix.NewIfreq(name)
	if err != nil {
		t.Fatal(err)
	}
	r.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, r); err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), name)
	t.Cleanup(func() { f.Close() })
	for _, line := range []string{"link set " + name + " netns " + namespace, "-n " + namespace + " link set " + name + " name tap0", "-n " + namespace + " link set tap0 up"} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", line, err, out)
		}
	}
	return f
}

// reading sends what leaves a tap out of a port.
func reading(t *testing.T, tap *os.File, to string) {
	t.Helper()
	to = socket(to)
	ports, _, err := dial.Open(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	t.Cleanup(func() {
		_ = tap.Close()
		wg.Wait()
		_ = dial.Close(ports)
	})
	wg.Go(func() {
		b := make([]byte, 2048)
		for {
			n, err := tap.Read(b)
			if err != nil {
				return
			}
			_, _ = ports[to].Queues[0].Send([]packet.Frame{{Data: b[:n]}})
		}
	})
}
