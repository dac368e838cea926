package xdp_test

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"loadtest/internal/lab"
	"loadtest/internal/netns"
	"loadtest/internal/xdp"
)

func pass(t *testing.T) *ebpf.Program {
	t.Helper()
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "lt_pass", Type: ebpf.XDP, License: "GPL", Instructions: asm.Instructions{
		asm.Mov.Imm(asm.R0, 2), asm.Return()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestAttach(t *testing.T) {
	lab.Need(t, "netns", "xdp")
	a := lab.Veth(t).A
	iface, ns, _ := strings.Cut(a, "@")
	err := netns.Within(ns, func() error {
		i, err := net.InterfaceByName(iface)
		if err != nil {
			return err
		}
		f, err := xdp.Ask(i.Index)
		if want := xdp.Basic | xdp.Redirect; err == nil && f&want != want {
			t.Errorf("features %b, want %b among them", f, want)
		} else if err != nil && !strings.Contains(err.Error(), "not told by this kernel") {
			t.Error(err)
		}
		if err := xdp.Takes(i.Index); err == nil {
			t.Error("live frames get through to an end without a program")
		}
		l, err := xdp.Attach(pass(t), i.Index, xdp.Native)
		if err != nil {
			return err
		}
		if l.Mode != xdp.Native || xdp.Attached(i.Index) == 0 {
			t.Errorf("mode %s, program %d", l.Mode, xdp.Attached(i.Index))
		}
		_, err = xdp.Attach(pass(t), i.Index, "")
		if !errors.Is(err, unix.EBUSY) || !strings.Contains(err.Error(), "lt_pass, is attached to it already; end the program") {
			t.Errorf("a second program: %v", err)
		}
		if err := l.Close(); err != nil {
			return err
		}
		if id := xdp.Attached(i.Index); id != 0 {
			t.Errorf("program %d is there after Close", id)
		}
		lo, err := net.InterfaceByName("lo") // its driver runs no programs
		if err != nil {
			return err
		}
		if _, err := xdp.Attach(pass(t), lo.Index, xdp.Native); err == nil {
			t.Error("lo runs a program natively")
		}
		l, err = xdp.Attach(pass(t), lo.Index, "")
		if err != nil || l.Mode != xdp.Generic {
			t.Fatalf("lo: %v, want generic", err)
		}
		return l.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
}
