package xdp_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"loadtest/internal/clock"
	"loadtest/internal/lab"
	"loadtest/internal/netns"
	"loadtest/nic"
	"loadtest/replay"
)

// childPorts is the environment variable that makes the test of this binary a child: the ports that it opens.
const childPorts = "LOADTEST_XDP_PORTS"

// again is the running test's binary, to be started as a child between two ports.
func again(t *testing.T, a, b string) *exec.Cmd {
	name, _, _ := strings.Cut(t.Name(), "/")
	c := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+name+"$") // the folder of the binary may be root's alone
	c.Env = append(os.Environ(), childPorts+"="+a+","+b)
	return c
}

// child opens the ports of a child, and plays as much as goes; nil: this is none.
func child(t *testing.T, played func(p nic.Player)) bool {
	a, b, is := strings.Cut(os.Getenv(childPorts), ",")
	if !is {
		return false
	}
	c := clock.NewReal()
	ports := map[string]nic.Device{"a": open(t, a, c, 1), "b": open(t, b, c, 1)}
	p := nic.Of(ports["a"].Queues[0]).Player
	l := lane(10, 60)
	if err := p.Load([]nic.Lane{l}); err != nil {
		fmt.Println("load:", err)
		return true
	}
	if played != nil {
		played(p)
		return true
	}
	spec := packets(50e6, 200*time.Millisecond)
	spec.Drain = time.Second // another thread may empty the ring
	res := play(t, ports, c, spec, replay.Stream{Name: "s", Packets: made(10, 60), TX: "a", RX: "b"})
	s := &res.Streams[0]
	fmt.Printf("sent %v, unsent %v, lost %d\n", s.Sent > 0, s.Unsent() > 0, s.Lost())
	return true
}

// lane is one of n packets of a size, with room for tags.
func lane(n int, sizes ...int) nic.Lane {
	s := made(n, sizes...)
	l := nic.Lane{ID: 3, Magic: 0xbeef, Store: s, Tags: make([]int32, n), Gaps: make([]int64, n)}
	for i := range n {
		l.Tags[i] = int32(s.Size(i) - 18)
	}
	return l
}

// narrow makes the ring at b overflow: another thread than the sender's empties it.
func narrow(t testing.TB, d *lab.Device) {
	t.Helper()
	ring := "ethtool -K b0 gro on && echo 1 >/sys/class/net/b0/threaded"
	if out, err := exec.Command("ip", "netns", "exec", d.Prefix+"-b", "sh", "-c", ring).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", ring, err, out)
	}
}

// In a container threads have other numbers than the kernel's own: what the driver refuses is seen all the same.
func TestContainer(t *testing.T) {
	if child(t, nil) {
		return
	}
	lab.Need(t, "netns", "afpacket", "xdp")
	wire := lab.Veth(t)
	narrow(t, wire)
	c := again(t, wire.A, wire.B)
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if out, err := c.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "sent true, unsent true, lost 0\n") {
		t.Errorf("%v: %s", err, out)
	}
}

// The capabilities that the package names are enough, and what is made with them is gone when the process is.
func TestRights(t *testing.T) {
	if child(t, nil) {
		return
	}
	lab.Need(t, "netns", "afpacket", "xdp", "tun")
	wire := lab.Veth(t)
	wire.IP("b", "link", "set", "b0", "netns", wire.Prefix+"-a") // the child may enter no namespace
	wire.IP("a", "link", "set", "b0", "up")
	all := []uintptr{unix.CAP_NET_RAW, unix.CAP_NET_ADMIN, unix.CAP_BPF, unix.CAP_PERFMON}
	const needs = `port "a0": an XDP program needs CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON: use sudo` + "\n"
	for _, tt := range []struct {
		name  string
		may   []uintptr
		want  string
		fails bool
	}{
		{"all", all, "sent true, unsent true, lost 0\n", false},
		{"without CAP_PERFMON", all[:3], needs, true},
		{"without CAP_BPF", all[:2], needs, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := netns.Within(wire.Prefix+"-a", func() error {
				c := again(t, "a0", "b0")
				c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}, AmbientCaps: tt.may}
				out, err := c.CombinedOutput()
				if (err != nil) != tt.fails || !strings.Contains(string(out), tt.want) {
					t.Errorf("%v: %s\nwant %s", err, out, tt.want)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("ip", "-n", wire.Prefix+"-a", "-br", "link").CombinedOutput()
			if err != nil || strings.Contains(string(out), "ltidle") {
				t.Errorf("%v: left behind: %s", err, out)
			}
		})
	}
}

// TestKilled: a process that is killed while it plays leaves no program, link or map.
func TestKilled(t *testing.T) {
	forever := func(p nic.Player) {
		runtime.LockOSThread()
		err := p.Begin(nic.Plan{End: nic.Never, Credit: math.MaxInt64 / 2, Lanes: []nic.Load{{Num: 0, Den: 1}}})
		fmt.Println("playing", err)
		for next := int64(0); err == nil && next != nic.Never; {
			next, err = p.Play(0)
		}
		fmt.Println("ended", err)
	}
	if child(t, forever) {
		return
	}
	lab.Need(t, "netns", "afpacket", "xdp")
	wire := lab.Veth(t)
	c := again(t, wire.A, wire.B)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "playing <nil>\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	time.Sleep(50 * time.Millisecond)
	made := held(t, c.Process.Pid)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(out)
	if err := c.Wait(); err == nil || len(rest) > 0 {
		t.Errorf("the child ended by itself: %s", rest)
	}
	if len(made["prog"]) < 5 || len(made["link"]) < 5 || len(made["map"]) < 9 {
		t.Errorf("held while it played: %v; want 5 programs, 5 links, 9 maps at least", made)
	}
	for kind, ids := range made {
		for _, id := range ids {
			gone := false
			for until := time.Now().Add(5 * time.Second); !gone && time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
				gone = !exists(kind, id)
			}
			if !gone {
				t.Errorf("%s %d is left behind", kind, id)
			}
		}
	}
}

// held are the numbers of what a process holds of BPF, by kind.
func held(t *testing.T, pid int) map[string][]uint32 {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]uint32{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{"link", "map", "prog"} { // a link tells its program, too
			if _, rest, ok := strings.Cut("\n"+string(b), "\n"+kind+"_id:"); ok {
				id, err := strconv.ParseUint(strings.Fields(rest)[0], 10, 32)
				if err != nil {
					t.Fatal(err)
				}
				all[kind] = append(all[kind], uint32(id))
				break
			}
		}
	}
	return all
}

// exists says whether the kernel still has it.
func exists(kind string, id uint32) bool {
	var c io.Closer
	var err error
	switch kind {
	case "prog":
		c, err = ebpf.NewProgramFromID(ebpf.ProgramID(id))
	case "map":
		c, err = ebpf.NewMapFromID(ebpf.MapID(id))
	default:
		c, err = link.NewFromID(link.ID(id))
	}
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	c.Close()
	return true
}
