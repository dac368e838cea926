package afpacket_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"loadtest/internal/lab"
	"loadtest/nic/afpacket"
)

func TestOpenErrors(t *testing.T) {
	lab.Need(t, "netns", "afpacket")
	wire := lab.Veth(t)
	wire.IP("a", "link", "add", "ens1f0", "type", "veth", "peer", "name", "ens1f1")
	wire.IP("a", "tuntap", "add", "tun0", "mode", "tun")
	a, b := wire.Prefix+"-a", wire.Prefix+"-b"
	own := "o" + wire.Prefix // as no other test calls its interfaces
	wire.IP("a", "link", "add", own, "type", "veth", "peer", "name", own+"p")
	for _, tt := range []struct{ name, want string }{
		{"ens1f01@" + a, `port "ens1f01@` + a + `": no such interface in namespace ` + a + `. Near: ens1f0, ens1f1. All: ip -br -n ` + a + ` link`},
		{"ens1f@" + a, `. Near: ens1f0, ens1f1. All: `},
		{own + "@" + b, `port "` + own + "@" + b + `": no such interface in namespace ` + b + `. In namespace ` + a + `: ` + own + "@" + a + `. All: ip -br -n ` + b + ` link`},
		{"a0@" + b, `no such interface in namespace ` + b + `. Near: b0`},
		{"ens1f0", `port "ens1f0": no such interface. In namespace ` + a + `: ens1f0@` + a + `. All: loadtest ports`},
		{"a0@" + wire.Prefix, `port "a0@` + wire.Prefix + `": no network namespace "` + wire.Prefix + `"; there are: `},
		{"a0@/run/netns/" + wire.Prefix, `: no network namespace "/run/netns/` + wire.Prefix + `"; there are: `},
		{"a0@/dev/null", `port "a0@/dev/null": entering the network namespace "/dev/null": invalid argument`},
		{"tun0@" + a, `port "tun0@` + a + `": not an Ethernet interface (ARP hardware type 65534)`},
		{"", `port "": no such interface. All: loadtest ports`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := afpacket.Open(tt.name, afpacket.Options{})
			if err == nil {
				d.Queues[0].Close()
				t.Fatal("opened")
			}
			_, look := afpacket.Look(tt.name)
			for _, err := range []error{err, look} {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("\n got %v\nwant %s", err, tt.want)
				}
			}
		})
	}
	open(t, "a0@/run/netns/"+a, afpacket.Options{}) // a path is good, too
}

// TestPrivilege opens in child processes that lack capabilities: of root, and all of them as another user.
func TestPrivilege(t *testing.T) {
	if name := os.Getenv("LOADTEST_OPEN"); name != "" {
		_, err := afpacket.Open(name, afpacket.Options{})
		fmt.Printf("error: %v\n", err)
		info, err := afpacket.Look(name)
		fmt.Printf("look: %s %d %v\n", info.Name, info.MTU, err)
		return
	}
	lab.Need(t, "netns", "afpacket")
	wire := lab.Veth(t)
	const raw = ": a packet socket needs CAP_NET_RAW. Use sudo, or once: setcap " +
		"cap_net_raw,cap_net_admin,cap_bpf,cap_perfmon,cap_ipc_lock+ep $(command -v loadtest)"
	enter := `port "` + wire.A + `": entering the network namespace "` + wire.Prefix + `-a" needs CAP_SYS_ADMIN: use sudo`
	nobody := &syscall.Credential{Uid: 65534, Gid: 65534}
	for _, tt := range []struct {
		name        string
		drop        []uintptr
		as          *syscall.Credential
		error, look string
	}{
		{"lo", []uintptr{unix.CAP_NET_RAW}, nil, "lo" + raw, "lo 65536 <nil>"},
		{"lo", nil, nobody, "lo" + raw, "lo 65536 <nil>"},
		{wire.A, []uintptr{unix.CAP_NET_RAW}, nil, wire.A + raw, wire.A + " 1500 <nil>"},
		{wire.A, []uintptr{unix.CAP_NET_RAW, unix.CAP_SYS_ADMIN}, nil, enter, " 0 " + enter},
		{wire.A, nil, nobody, enter, " 0 " + enter},
		{"nosuch", nil, nobody, `port "nosuch": no such interface. All: loadtest ports`, ` 0 port "nosuch": no such interface. All: loadtest ports`},
	} {
		done := make(chan string)
		go func() {
			runtime.LockOSThread() // for good: the thread ends with this goroutine
			for _, capability := range tt.drop {
				if err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); err != nil {
					done <- err.Error()
					return
				}
			}
			child := exec.Command("/proc/self/exe", "-test.run=^TestPrivilege$") // the folder of the binary may be root's alone
			child.Env = append(os.Environ(), "LOADTEST_OPEN="+tt.name)
			child.SysProcAttr = &syscall.SysProcAttr{Credential: tt.as}
			out, err := child.CombinedOutput()
			if err != nil {
				out = append(out, err.Error()...)
			}
			done <- string(out)
		}()
		if got, want := <-done, "error: "+tt.error+"\nlook: "+tt.look+"\n"; !strings.Contains(got, want) {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
}
