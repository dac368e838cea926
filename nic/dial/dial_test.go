package dial

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadtest/internal/clock"
	"loadtest/internal/lab"
	"loadtest/packet"
	"loadtest/pcap"
)

func frame() []packet.Frame { return []packet.Frame{{Data: make([]byte, 60), Nanos: 1000}} }

func TestSimulated(t *testing.T) {
	devices, c, err := Open(t.Context(), "sim:wire/a", "sim:wire/b", "sim:wire/a")
	if err != nil {
		t.Fatal(err)
	}
	if !c.Virtual() || len(devices) != 2 || devices["sim:wire/a"].Info.Name != "sim:wire/a" {
		t.Fatalf("virtual %v, %d devices: %+v", c.Virtual(), len(devices), devices)
	}
	if n, err := devices["sim:wire/a"].Queues[0].Send(frame()); n != 1 || err != nil {
		t.Fatalf("Send = %d, %v", n, err)
	}
	got := 0
	f := make([]packet.Frame, 4)
	err = c.Run(t.Context(), stepper(func(now int64) int64 {
		n, _ := devices["sim:wire/b"].Queues[0].Recv(f)
		if got += n; got > 0 || now > 1e9 {
			return clock.Never
		}
		return now + 1e6
	}))
	if got != 1 || err != nil {
		t.Errorf("the other port of the same network got %d frames, %v; want 1", got, err)
	}
	if err := Close(devices); err != nil {
		t.Error(err)
	}
}

type stepper func(int64) int64

func (s stepper) Step(now int64) int64 { return s(now) }

func TestCapture(t *testing.T) {
	for _, tt := range []struct {
		name    string
		names   []string
		virtual bool
	}{{"alone", nil, false}, {"with a simulated port", []string{"sim:wire/a"}, true}} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out.pcap")
			devices, c, err := Open(t.Context(), append(tt.names, "pcap:"+path)...)
			if err != nil {
				t.Fatal(err)
			}
			if c.Virtual() != tt.virtual {
				t.Errorf("virtual = %v", c.Virtual())
			}
			devices["pcap:"+path].Queues[0].Send(frame())
			if err := Close(devices); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			s, err := pcap.Read(path, f)
			if err != nil || s.Len() != 1 {
				t.Fatalf("read %v, %v", s, err)
			}
			if nanos := s.Frame(0).Nanos; tt.virtual != (nanos == 1000) {
				t.Errorf("written at %d", nanos)
			}
		})
	}
}

func TestInterface(t *testing.T) {
	lab.Need(t, "netns", "afpacket")
	wire := lab.Veth(t)
	devices, c, err := Open(t.Context(), wire.A, "afpacket:"+wire.B)
	if err != nil {
		t.Fatal(err)
	}
	defer Close(devices)
	if c.Virtual() {
		t.Error("the clock is virtual")
	}
	before := c.Now()
	devices[wire.A].Queues[0].Send(frame())
	f := make([]packet.Frame, 4)
	for n := 0; n == 0; n, err = devices["afpacket:"+wire.B].Queues[0].Recv(f) {
		if err != nil || c.Now() > before+2e9 {
			t.Fatalf("nothing arrived: %v", err)
		}
	}
	if at := f[0].Nanos; at < before-5000 || at > c.Now() {
		t.Errorf("arrived at %d on the run's clock, sent after %d", at, before)
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(bad, []byte("ports: 7"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		names string
		want  []string
	}{
		{"sim:wire/a lo", []string{"sim:wire/a runs in simulated time and lo in real time: a trial has either simulated or real ports"}},
		{"sim:wire/c", []string{`port "sim:wire/c": network wire: no port "c"; it has `}},
		{"sim:wir/a", []string{`port "sim:wir/a": network "wir": no such file, and embedded are `, "vita-1gbe"}},
		{"sim:" + bad + "/a", []string{`port "sim:` + bad + `/a": `, "bad.yaml"}},
		{"sim:wire", []string{`port "sim:wire": want sim:NETWORK/PORT; networks: `, "wire"}},
		{"sim:wire/", []string{`want sim:NETWORK/PORT`}},
		{"afxpd:eth2", []string{`port "afxpd:eth2": no backend "afxpd"; there are: afpacket, afxdp, xdp, dpdk, netmap, pcap, sim, and an interface's name alone`}},
		{"afpacket:", []string{`port "afpacket:": want the name or PCI address of an interface, as afpacket:eth2 or afpacket:eth2@NETNS`}},
		{"xdp:", []string{`port "xdp:": want the name or PCI address of an interface, as xdp:eth2 or xdp:eth2@NETNS`}},
		{"dpdk:eth2", []string{`port "dpdk:eth2": want a PCI address or a virtual device, as dpdk:22:00.0 or dpdk:net_af_packet0,iface=eth2. An interface of the kernel: dpdk:net_af_packet0,iface=eth2, or without DPDK: eth2`}},
		{"netmap:", []string{`port "netmap:": want an interface, as netmap:eth2, netmap:eth2-0 (one ring) or netmap:eth2^ (host rings)`}},
		{"pcap:", []string{`port "pcap:": want a file's name, as pcap:out.pcap`}},
		{"pcap:" + dir + "/no/file", []string{`port "pcap:` + dir + `/no/file": open ` + dir + `/no/file: no such file or directory`}},
		{"pcap:" + bad + "/file", []string{`port "pcap:` + bad + `/file": open ` + bad + `/file: not a directory`}},
		{"pcap:" + dir, []string{`port "pcap:` + dir + `": open ` + dir + `: is a directory`}},
		{"ff:1f.7", []string{"ff:1f.7: no such PCI device. All: loadtest ports"}},
	} {
		t.Run(tt.names, func(t *testing.T) {
			devices, c, err := Open(t.Context(), strings.Fields(tt.names)...)
			if err == nil || devices != nil || c != nil {
				t.Fatalf("Open = %v, %v, %v; want an error alone", devices, c, err)
			}
			infos, look := Look(strings.Fields(tt.names)...)
			if look == nil || infos != nil {
				t.Fatalf("Look = %v, %v; want an error alone", infos, look)
			}
			for _, want := range tt.want {
				for _, err := range []error{err, look} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("\n got %v\nwant %s", err, want)
					}
				}
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("interrupted")
	cancel(cause)
	if _, _, err := Open(ctx, "sim:wire/a"); !errors.Is(err, cause) {
		t.Errorf("Open = %v, want %v", err, cause)
	}
}

// TestPCI reads an imitation of sysfs.
func TestPCI(t *testing.T) {
	sys := t.TempDir()
	device := func(slot, driver string, interfaces ...string) {
		dir := filepath.Join(sys, "bus/pci/devices", slot)
		for _, i := range append(interfaces, "") {
			if err := os.MkdirAll(filepath.Join(dir, "net", i), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if driver != "" {
			if err := os.Symlink("../../../drivers/"+driver, filepath.Join(dir, "driver")); err != nil {
				t.Fatal(err)
			}
		}
	}
	device("0000:22:00.0", "vfio-pci")
	device("0000:22:00.1", "mlx5_core", "eth2")
	device("0001:22:00.0", "nvme")
	device("0000:23:00.0", "")
	device("0000:24:00.0", "ice", "eth4")
	for _, tt := range []struct{ name, backend, device, err string }{
		{"22:00.1", "", "eth2", ""},
		{"0000:22:00.1", "", "eth2", ""},
		{"afxdp:22:00.1", "afxdp", "eth2", ""},
		{"22:00.0", "dpdk", "0000:22:00.0", ""},
		{"dpdk:22:00.0", "dpdk", "0000:22:00.0", ""},
		{"dpdk:22:00.1", "dpdk", "0000:22:00.1", ""}, // its driver lets both in
		{"dpdk:24:00.0", "dpdk", "0000:24:00.0", "dpdk:24:00.0 is bound to ice, which keeps DPDK out; either hand it over: driverctl set-override 0000:24:00.0 vfio-pci; " +
			"or use its interface: 0000:24:00.0"},
		{"xdp:22:00.0", "xdp", "", "xdp:22:00.0 is bound to vfio-pci and has no interface; with DPDK: dpdk:0000:22:00.0; or give it back: driverctl unset-override 0000:22:00.0"},
		{"0001:22:00.0", "", "", "0001:22:00.0 is bound to nvme, which has no network interface here"},
		{"23:00.0", "", "", "23:00.0 has no driver, so it is no port; load one: modprobe $(cat " + sys + "/bus/pci/devices/0000:23:00.0/modalias)"},
		{"25:00.0", "", "", "25:00.0: no such PCI device. All: loadtest ports"},
	} {
		a, err := parse(tt.name, sys)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if err == nil && a.backend != tt.backend || a.device != tt.device || text != tt.err {
			t.Errorf("%s: got %q, %q, %q; want %q, %q, %q", tt.name, a.backend, a.device, text, tt.backend, tt.device, tt.err)
		}
	}
}
