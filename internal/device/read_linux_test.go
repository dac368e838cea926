package device_test

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"loadtest/internal/device"
	"loadtest/internal/lab"
	"loadtest/internal/netns"
	"loadtest/internal/xdp"
)

func none(string) string { return "" }

func find(t *testing.T, iface, ns string) device.Device {
	t.Helper()
	d, err := device.Find(iface, ns, none)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestFind(t *testing.T) {
	lab.Need(t, "netns")
	wire := lab.Veth(t)
	ns := wire.Prefix + "-a"
	d := find(t, "a0", ns)
	if d.Port() != "a0@"+ns || d.Kind != "veth" || d.Driver != "veth" || d.PCI != "" || d.NUMA != -1 || d.IRQs != nil {
		t.Errorf("%+v", d)
	}
	if !d.Set || !d.Up || d.Line() != "10G" || d.MTU != 1500 || fmt.Sprintf("%x", d.MAC) != "020000000102" || d.Promiscuous || d.Addresses != nil || d.XDP != nil {
		t.Errorf("%+v", d)
	}
	if d.Settings.Features["rx-gro"].On || !d.Settings.Features["tx-tcp-segmentation"].On || d.Wire.CRC != -1 || d.Refused != nil {
		t.Errorf("%+v", d)
	}
	wire.IP("a", "addr", "add", "10.9.0.1/24", "dev", "a0")
	wire.IP("a", "route", "add", "default", "via", "10.9.0.2")
	wire.IP("a", "link", "set", "a0", "mtu", "1400", "promisc", "on")
	wire.IP("b", "link", "set", "b0", "down")
	d = find(t, "a0", "/run/netns/"+ns)
	if !d.Set || d.Up || d.MTU != 1400 || !d.Promiscuous || fmt.Sprint(d.Addresses) != "[10.9.0.1/24]" {
		t.Errorf("%+v", d)
	}
	if len(d.Refused) != 1 || d.Refused[0].Fact != "carries the default route" {
		t.Errorf("refused: %+v", d.Refused)
	}
	wire.IP("a", "link", "set", "a0", "down")
	if d = find(t, "a0", ns); d.Set || d.Up {
		t.Errorf("set down: %+v", d)
	}
}

func TestFindErrors(t *testing.T) {
	lab.Need(t, "netns")
	wire := lab.Veth(t)
	ns := wire.Prefix + "-a"
	for _, tt := range []struct{ iface, ns, want string }{
		{"a1", ns, `port "a1@` + ns + `": no such interface in namespace ` + ns + ". Near: a0. "},
		{"a0", wire.Prefix, `no network namespace "` + wire.Prefix + `"; there are: `},
	} {
		if _, err := device.Find(tt.iface, tt.ns, none); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("Find(%s, %s) = %v, want %s…", tt.iface, tt.ns, err, tt.want)
		}
	}
}

func TestAll(t *testing.T) {
	lab.Need(t, "netns")
	wire := lab.Veth(t)
	all, _ := device.All(none) // an error is of somebody else's namespace
	var names []string
	for _, d := range all {
		names = append(names, d.Port())
		if d.Kind == "" || d.Name == "lo" {
			t.Errorf("listed: %+v", d)
		}
	}
	for _, want := range []string{wire.A, wire.B} {
		if !slices.Contains(names, want) {
			t.Errorf("%q lacks %s", names, want)
		}
	}
	slices.Sort(names)
	if once := slices.Compact(slices.Clone(names)); len(once) != len(names) {
		t.Errorf("some are listed twice: %q", names)
	}
}

// TestXDP: a program at the far end is seen there, and makes the near end one that programs can send through.
func TestXDP(t *testing.T) {
	lab.Need(t, "netns", "xdp")
	wire := lab.Veth(t)
	a, b := wire.Prefix+"-a", wire.Prefix+"-b"
	before := find(t, "a0", a)
	err := netns.Within(b, func() error {
		p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.XDP, License: "GPL", Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 2), asm.Return()}})
		if err != nil {
			return err
		}
		t.Cleanup(func() { p.Close() })
		far, err := net.InterfaceByName("b0")
		if err != nil {
			return err
		}
		at, err := xdp.Attach(p, far.Index, xdp.Native)
		if err != nil {
			return err
		}
		t.Cleanup(func() { at.Close() })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	build := device.Build{Backends: []string{"xdp"}, Machine: device.Local()}
	after, far := find(t, "a0", a), find(t, "b0", b)
	if far.XDP == nil || *far.XDP == 0 || len(far.Refused) != 1 || after.XDP != nil {
		t.Errorf("programs: %v at the far end, refused %v; %v at the near one", far.XDP, far.Refused, after.XDP)
	}
	if before.XDPFeatures == nil {
		lab.Lacks(t, "xdp", "the kernel does not tell features")
	}
	if w := before.Ways(build)[1]; w.Backend != "xdp" || !strings.HasPrefix(w.Why, "its far end takes no packets") {
		t.Errorf("before: %+v", w)
	}
	if w := after.Ways(build)[1]; w.Backend != "xdp" || w.Why != "" {
		t.Errorf("after: %+v", w)
	}
}

func TestLocal(t *testing.T) {
	m := device.Local()
	if m.Kernel == "" || len(m.CPUs) == 0 || m.Load < 0 || m.Steal < 0 || m.Steal > 1 {
		t.Errorf("Local() = %+v", m)
	}
}
