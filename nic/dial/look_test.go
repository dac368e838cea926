package dial

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadtest/internal/lab"
	"loadtest/nic"
)

// same checks that Look tells of ports what Open does.
func same(t *testing.T, names ...string) {
	t.Helper()
	looked, err := Look(names...)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if path, ok := strings.CutPrefix(name, "pcap:"); ok {
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s was made", path)
			}
		}
	}
	devices, _, err := Open(t.Context(), names...)
	if err != nil {
		t.Fatal(err)
	}
	defer Close(devices)
	opened := make(map[string]nic.Info)
	for name, d := range devices {
		opened[name] = d.Info
	}
	if diff := cmp.Diff(opened, looked); diff != "" || len(looked) == 0 {
		t.Errorf("Look(%q) (-opened +looked):\n%s", names, diff)
	}
}

func TestLook(t *testing.T) {
	same(t, "sim:wire/a", "sim:wire/b", "sim:wire/a", "pcap:"+filepath.Join(t.TempDir(), "out.pcap"))
}

func TestLookAtInterfaces(t *testing.T) {
	lab.Need(t, "netns", "afpacket")
	wire := lab.Veth(t)
	same(t, "afpacket:"+wire.A, "afpacket:"+wire.B)
	missing := "a1@" + wire.Prefix + "-a"
	want := `port "` + missing + `": no such interface in namespace ` + wire.Prefix + "-a. Near: a0. "
	if _, err := Look(wire.A, "afpacket:"+missing); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
}

func TestInterfaceOf(t *testing.T) {
	for _, tt := range []struct {
		name, iface, netns string
		ok                 bool
	}{
		{"eth2", "eth2", "", true},
		{"eth2@lab", "eth2", "lab", true},
		{"afpacket:eth2@/run/netns/lab", "eth2", "/run/netns/lab", true},
		{"xdp:eth2@lab", "eth2", "lab", true},
		{"netmap:eth2-1", "eth2", "", true},
		{"netmap:eth2^", "eth2", "", true},
		{"vale1:a", "", "", false},
		{"dpdk:net_af_packet0,iface=eth2,framecnt=4096", "eth2", "", true},
		{"dpdk:net_af_packet0,iface=eth2@lab", "eth2", "lab", true},
		{"dpdk:net_null0", "", "", false},
		{"sim:wire/a", "", "", false},
		{"pcap:out.pcap", "", "", false},
		{"afpacket:", "", "", false},
		{"ff:1f.7", "", "", false}, // no such device; TestPCI has some
	} {
		iface, netns, ok := Interface(tt.name)
		if iface != tt.iface || netns != tt.netns || ok != tt.ok {
			t.Errorf("Interface(%q) = %q, %q, %v; want %q, %q, %v", tt.name, iface, netns, ok, tt.iface, tt.netns, tt.ok)
		}
	}
}

// A bare name takes the fastest way that works now, and says why not a faster one.
func TestFastest(t *testing.T) {
	lab.Need(t, "netns", "afpacket", "afxdp", "xdp")
	for _, tt := range []struct {
		name   string
		other  string // of the pair
		up     []string
		want   string
		passed string
	}{
		{"the other end is ours", "xdp:%s", nil, "xdp", ""},
		{"the other end is an interface as any", "afpacket:%s", nil, "afpacket", "xdp: port \"%s\": its driver takes no redirected frames now; a veth does where its other end has GRO on or a native XDP program"},
		{"frames longer than a page", "afpacket:%s", []string{"mtu=9000"}, "afpacket", "afxdp: port"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wire := lab.Up(t, "veth.sh", tt.up...)
			devices, _, err := Open(t.Context(), wire.A, fmt.Sprintf(tt.other, wire.B))
			if err != nil {
				t.Fatal(err)
			}
			defer Close(devices)
			i, passed := devices[wire.A].Info, tt.passed
			if strings.Contains(passed, "%s") {
				passed = fmt.Sprintf(passed, wire.A)
			}
			if i.Backend != tt.want || !strings.Contains(i.Passed, passed) || (i.Passed == "") != (passed == "") || i.Name != wire.A {
				t.Errorf("%s, passed %q; want %s, %q", i.Backend, i.Passed, tt.want, passed)
			}
			if looked, err := Look(wire.A); err != nil || looked[wire.A].Backend != "fastest of xdp, afxdp, afpacket" {
				t.Errorf("Look = %+v, %v", looked, err)
			}
		})
	}
}

func TestKit(t *testing.T) {
	for name, want := range map[string]bool{"dpdk:net_null0": true, "eth2": false, "afxdp:eth2": false, "dpdk:eth2": false} {
		if got := Kit(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
