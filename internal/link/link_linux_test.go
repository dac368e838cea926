package link_test

import (
	"os/exec"
	"strings"
	"testing"

	"loadtest/internal/lab"
	"loadtest/internal/link"
)

func in(t *testing.T, port string, f func(*link.Link)) {
	t.Helper()
	err := link.At(port, func(iface string) error {
		l, _, err := link.Open(iface)
		if err != nil {
			return err
		}
		defer l.Close()
		f(l)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestVeth: what a veth tells, and that it tells nothing of a wire it does not have.
func TestVeth(t *testing.T) {
	lab.Need(t, "netns")
	wire := lab.Veth(t)
	in(t, wire.A, func(l *link.Link) {
		none := link.Wire{PauseRx: -1, PauseTx: -1, CRC: -1, Symbol: -1, Length: -1, FECCorrected: -1, FECUncorrected: -1}
		for range 3 {
			if got := l.Wire(); got != none {
				t.Errorf("Wire() = %+v, want %+v", got, none)
			}
		}
		s := l.Settings()
		if s.Bus != "" || s.HalfDuplex || s.Pause != nil || s.EEE != nil || s.FEC != "" || s.Rings != nil {
			t.Errorf("Settings() = %+v, want nothing of a real device", s)
		}
		if q := s.Queues; q == nil || q.Rx != 1 || q.Tx != 1 || q.MaxRx < 1 || q.Combined != 0 {
			t.Errorf("queues %+v, want one each way", q)
		}
		if gro := s.Features["rx-gro"]; gro.On || gro.Fixed {
			t.Errorf("rx-gro is %+v, want off and not fixed", gro)
		}
		if local := s.Features["netns-local"]; len(s.Features) < 40 || !s.Features["tx-tcp-segmentation"].On || local.On {
			t.Errorf("features %v", s.Features)
		}
	})
	ns := wire.Prefix + "-a"
	if out, err := exec.Command("ip", "netns", "exec", ns, "ethtool", "-K", "a0", "gro", "on", "tso", "off").CombinedOutput(); err != nil {
		if strings.Contains(string(out), "No such file") {
			lab.Lacks(t, "ethtool", out)
		}
		t.Fatalf("ethtool: %v: %s", err, out)
	}
	in(t, wire.A, func(l *link.Link) {
		if f := l.Settings().Features; !f["rx-gro"].On || f["tx-tcp-segmentation"].On {
			t.Errorf("after ethtool -K a0 gro on tso off: rx-gro %+v, tx-tcp-segmentation %+v", f["rx-gro"], f["tx-tcp-segmentation"])
		}
	})
}

func BenchmarkWire(b *testing.B) {
	l, _, err := link.Open("lo")
	if err != nil {
		b.Skip(err)
	}
	defer l.Close()
	for b.Loop() {
		l.Wire()
	}
}
