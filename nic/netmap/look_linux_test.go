package netmap

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"loadtest/internal/lab"
	"loadtest/internal/link"
	"loadtest/internal/netns"
	"loadtest/nic"
)

func TestLook(t *testing.T) {
	i, err := Look("lo-3")
	if want := (nic.Info{Name: "lo-3", Backend: "netmap", Mode: "ring 3", MTU: i.MTU, MaxFrame: i.MTU + ethernet, NUMA: -1, Down: i.Down}); err != nil || i != want || i.MTU == 0 {
		t.Errorf("\n got %+v, %v\nwant %+v", i, err, want)
	}
	if i, err := Look("vale1:a"); err != nil || i != (nic.Info{Name: "vale1:a", Backend: "netmap", Mode: "VALE port", NUMA: -1}) {
		t.Errorf("%+v, %v", i, err)
	}
	if i, err := Look("nosuch0{1"); err != nil || i.Mode != "pipe" {
		t.Errorf("%+v, %v", i, err)
	}
	for name, want := range map[string]string{
		"nosuch0-1": `port "nosuch0": no such interface`,
		"lo-x":      `port "lo-x": want a ring's number from 0 to 4095 behind -, as lo-0`,
	} {
		_, look := Look(name)
		_, open := Open(name, Options{})
		for _, err := range []error{look, open} {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
		}
	}
}

func TestOpenWithoutTheModule(t *testing.T) {
	if _, err := os.Stat("/dev/netmap"); err == nil {
		t.Skip("the module is here")
	}
	for _, name := range []string{"lo", "vale1:a", "vale1:p}1"} {
		d, err := Open(name, Options{})
		if want := `port "` + name + `": no /dev/netmap, so its module is not loaded: modprobe netmap `; err == nil || !strings.HasPrefix(err.Error(), want) || d.Queues != nil {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// An interface is promiscuous while it is watched, and its link is told; the host's rings leave it as it is.
func TestWatch(t *testing.T) {
	lab.Need(t, "netns", "afpacket")
	wire := lab.Veth(t)
	for _, host := range []bool{false, true} {
		var w watcher
		err := netns.Within(wire.Prefix+"-a", func() (err error) {
			w, err = newWatch(request{name: "a0", host: host, ring: every})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		promiscuous := func() bool {
			out, err := exec.Command("ip", "-n", wire.Prefix+"-a", "-d", "link", "show", "a0").CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			return !strings.Contains(string(out), "promiscuity 0")
		}
		if promiscuous() == host {
			t.Errorf("host rings %v: promiscuous %v", host, !host)
		}
		if s := w.status(); s != (nic.Status{}) {
			t.Errorf("a link that is up: %+v", s)
		}
		wire.IP("b", "link", "set", "b0", "down")
		if s := w.status(); !s.LinkDown || s.Downs != 1 {
			t.Errorf("a link that is down: %+v", s)
		}
		wire.IP("b", "link", "set", "b0", "up")
		for until := time.Now().Add(2 * time.Second); w.status().LinkDown && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		}
		if s := w.status(); s.LinkDown || s.Downs != 1 {
			t.Errorf("a link that is up again: %+v", s)
		}
		if err := w.close(); err != nil {
			t.Error(err)
		}
		if promiscuous() {
			t.Errorf("host rings %v: promiscuous still", host)
		}
	}
}

// A port without an interface has nothing to ask; an interface that is not there is told.
func TestWatchNothing(t *testing.T) {
	w, err := newWatch(request{name: "vale1:a", virtual: true, ring: every})
	if err != nil {
		t.Fatal(err)
	}
	if s := w.status(); s != (nic.Status{}) || w.wire() != link.Unknown() {
		t.Errorf("%+v, %+v", s, w.wire())
	}
	if err := w.close(); err != nil {
		t.Error(err)
	}
	if _, err := newWatch(request{name: "nosuch0", ring: every}); err == nil || err.Error() != "no such interface" {
		t.Errorf("%v, want no such interface", err)
	}
}
