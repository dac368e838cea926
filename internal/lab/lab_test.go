package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"loadtest/nic"
	"loadtest/nic/afpacket"
	"loadtest/packet"
)

// A witness is a test that notes how it ended.
type witness struct {
	testing.TB
	ended, text string
}

func (w *witness) Helper() {}
func (w *witness) Skipf(format string, args ...any) {
	w.ended, w.text = "skipped", fmt.Sprintf(format, args...)
	runtime.Goexit()
}
func (w *witness) Fatalf(format string, args ...any) {
	w.ended, w.text = "failed", fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestNeed(t *testing.T) {
	for _, tt := range []struct{ name, require, need, ended, text string }{
		{"there", "", "", "", ""},
		{"missing", "netns,afpacket", "hovercraft", "skipped", "needs hovercraft: nobody knows how to look for it"},
		{"missing and required", "netns,hovercraft", "hovercraft", "failed", "LOADTEST_REQUIRE lists hovercraft, but: nobody knows how to look for it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("LOADTEST_REQUIRE", tt.require)
			w := &witness{TB: t}
			done := make(chan bool)
			go func() {
				defer close(done)
				if tt.need == "" {
					Need(w)
				} else {
					Need(w, tt.need)
				}
			}()
			<-done
			if w.ended != tt.ended || w.text != tt.text {
				t.Errorf("got %q: %q, want %q: %q", w.ended, w.text, tt.ended, tt.text)
			}
		})
	}
}

// left lists the namespaces of a prefix.
func left(t *testing.T, prefix string) (names []string) {
	t.Helper()
	out, err := exec.Command("ip", "netns", "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range strings.Fields(string(out)) {
		if strings.HasPrefix(f, prefix) {
			names = append(names, f)
		}
	}
	return names
}

// TestCleanup: nothing is left, neither after a test nor after a killed process.
func TestCleanup(t *testing.T) {
	Need(t, "netns")
	var prefix string
	t.Run("made", func(t *testing.T) {
		d := Veth(t)
		if prefix = d.Prefix; len(left(t, prefix)) != 2 {
			t.Errorf("namespaces %v, want 2", left(t, prefix))
		}
	})
	if names := left(t, prefix); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}

	child := exec.Command("sleep", "60") // a process that will be no more: until then no other test sweeps for it
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	dead := fmt.Sprintf("lt%xx1", child.Process.Pid)
	dir := filepath.Join(states(), dead)
	top, err := root()
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(top, "lab", "veth.sh")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "script"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := call(script, "up", dead, dir)
	_ = child.Process.Kill()
	_ = child.Wait()
	if err != nil {
		t.Fatal(err, out)
	}
	sweep()
	gone := func() bool {
		_, err := os.Stat(dir)
		return err != nil && len(left(t, dead)) == 0
	}
	for range 100 { // another test's sweep may be at it
		if gone() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("left behind by a dead process: %v, %s", left(t, dead), dir)
}

// TestDevices sends 1000 packets through each device and compares the losses with what the device itself counted.
func TestDevices(t *testing.T) {
	for _, tt := range []struct {
		script, needs string
		options       []string
		exact         bool
		dropped       int64
		ttl           byte // of 64, behind the device
	}{
		{"linux-router.sh", "nft", []string{"every=100"}, true, 10, 63},
		{"linux-router.sh", "nft", []string{"every=100", "hops=2"}, true, 10, 62},
		{"linux-bridge.sh", "nft", []string{"every=50"}, true, 20, 64},
		{"strongswan-pair.sh", "strongswan", nil, false, 0, 62},
		{"wireguard-pair.sh", "wireguard", nil, false, 0, 62},
		{"testpmd.sh", "testpmd", nil, false, 0, 64},
	} {
		t.Run(strings.Join(append([]string{tt.script}, tt.options...), " "), func(t *testing.T) {
			Need(t, "netns", "afpacket", tt.needs)
			d := Up(t, tt.script, tt.options...)
			const sent = 1000
			got := through(t, d, sent, tt.ttl)
			if !tt.exact {
				if got == 0 {
					t.Error("nothing came through")
				}
				return
			}
			if ab, ba := d.Drops(); ab != tt.dropped || ba != 0 || sent-got != ab {
				t.Errorf("sent %d, received %d; the device dropped %d and %d, want %d and 0", sent, got, ab, ba, tt.dropped)
			}
		})
	}
}

// through sends n UDP packets from 10.10.1.2 to 10.10.2.2 with a TTL of 64 and counts those that come out.
func through(t *testing.T, d *Device, n int, ttl byte) (got int64) {
	t.Helper()
	a, b := port(t, d.A), port(t, d.B)
	frame := packet.Frame{Data: make([]byte, 60)}
	copy(frame.Data, []byte{
		2, 0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 2, 8, 0, // Ethernet
		0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0x63, 0xa8, 10, 10, 1, 2, 10, 10, 2, 2, // IPv4
		0x30, 0x39, 0, 9, 0, 26, 0, 0, // UDP
		'l', 'a', 'b',
	})
	f := make([]packet.Frame, 64)
	last := time.Now()
	for sent := 0; sent < n || time.Since(last) < 200*time.Millisecond; {
		if sent < n {
			m, err := a.Send([]packet.Frame{frame})
			if err != nil {
				t.Fatal(err)
			}
			sent += m
			last = time.Now()
			time.Sleep(50 * time.Microsecond)
		}
		m, err := b.Recv(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range f[:m] {
			if len(g.Data) >= 45 && string(g.Data[42:45]) == "lab" {
				if g.Data[22] != ttl {
					t.Errorf("a packet has a TTL of %d, want %d", g.Data[22], ttl)
				}
				got++
				last = time.Now()
			}
		}
	}
	return got
}

func port(t *testing.T, name string) nic.Port {
	t.Helper()
	d, err := afpacket.Open(name, afpacket.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Queues[0].Close() })
	return d.Queues[0]
}
