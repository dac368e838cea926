package afxdp

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loadtest/internal/lab"
	"loadtest/internal/netns"
)

// childPort is the environment variable that makes the test of this binary a child: the port that it opens.
const childPort = "LOADTEST_AFXDP_PORT"

// again is the running test's binary, to be started as a child with a port.
func again(t *testing.T, port string) *exec.Cmd {
	c := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+strings.Split(t.Name(), "/")[0]+"$") // the binary's folder may be root's alone
	c.Env = append(os.Environ(), childPort+"="+port)
	return c
}

// child opens the port of a child, and tells; false: this is none.
func child() bool {
	name := os.Getenv(childPort)
	if name == "" {
		return false
	}
	// Where root may lock any amount, somebody else may not.
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}); err != nil {
		fmt.Println(err)
	}
	d, err := Open(name, Options{})
	fmt.Printf("opened %d: %v\n", len(d.Queues), err)
	if err == nil {
		bufio.NewReader(os.Stdin).ReadByte() // until the other end is closed
	}
	return true
}

// The capabilities that errors name are enough, and each is needed.
func TestRights(t *testing.T) {
	if child() {
		return
	}
	lab.Need(t, "netns", "afxdp")
	wire := lab.Veth(t)
	const needs = "opened 0: port \"a0\": AF_XDP needs CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF. Use sudo, or once: setcap " +
		"cap_net_raw,cap_net_admin,cap_bpf,cap_perfmon,cap_ipc_lock+ep $(command -v loadtest)\n"
	for _, tt := range []struct {
		name string
		may  []uintptr
		want string
	}{
		{"all", []uintptr{unix.CAP_NET_RAW, unix.CAP_NET_ADMIN, unix.CAP_BPF, unix.CAP_IPC_LOCK}, "opened 1: <nil>\n"},
		{"none", nil, needs},
		{"without CAP_NET_RAW", []uintptr{unix.CAP_NET_ADMIN, unix.CAP_BPF, unix.CAP_IPC_LOCK}, needs},
		{"without CAP_NET_ADMIN", []uintptr{unix.CAP_NET_RAW, unix.CAP_BPF, unix.CAP_IPC_LOCK}, needs},
		{"without CAP_BPF", []uintptr{unix.CAP_NET_RAW, unix.CAP_NET_ADMIN, unix.CAP_IPC_LOCK}, needs},
		{"without CAP_IPC_LOCK", []uintptr{unix.CAP_NET_RAW, unix.CAP_NET_ADMIN, unix.CAP_BPF},
			"opened 0: port \"a0\": 40 MiB may not be locked in memory: ulimit -l unlimited, or CAP_IPC_LOCK: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := netns.Within(wire.Prefix+"-a", func() error { // the child may enter no namespace
				c := again(t, "a0")
				c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}, AmbientCaps: tt.may}
				out, err := c.CombinedOutput()
				if err != nil || !strings.HasPrefix(string(out), tt.want) {
					t.Errorf("%v: %s\nwant %s", err, out, tt.want)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A process that is killed leaves neither a program nor the promiscuous mode, and the port can be opened at once.
func TestKilled(t *testing.T) {
	if child() {
		return
	}
	lab.Need(t, "netns", "afxdp")
	wire := lab.Veth(t)
	c := again(t, wire.A)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "opened 1: <nil>\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	state := func() string {
		t.Helper()
		out, err := exec.Command("ip", "-n", wire.Prefix+"-a", "-d", "link", "show", "a0").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if s := state(); !strings.Contains(s, "promiscuity 1") || !strings.Contains(s, "prog/xdp") {
		t.Errorf("while it is open: %s\nwant promiscuity 1 and prog/xdp", s)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil {
		t.Error("the child ended by itself")
	}
	d, err := Open(wire.A, Options{})
	for until := time.Now().Add(5 * time.Second); err != nil && strings.Contains(err.Error(), "attached to it already") && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond) // the kernel frees what a killed process held a little later
		d, err = Open(wire.A, Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Port().Close(); err != nil {
		t.Error(err)
	}
	if s := state(); !strings.Contains(s, "promiscuity 0") || strings.Contains(s, "xdp") {
		t.Errorf("left behind: %s\nwant promiscuity 0 and no xdp", s)
	}
}
