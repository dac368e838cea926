package dial

import (
	"errors"
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
	same(t, wire.A, "afpacket:"+wire.B)
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
