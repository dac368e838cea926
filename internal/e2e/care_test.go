//go:build linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"loadtest/internal/lab"
	"loadtest/internal/netns"
)

// Ports whose load would do harm are refused, by name, reason and way out, and nothing at all is touched; who insists may send.
func TestCare(t *testing.T) {
	device(t)
	const cut = "load on it would cut you off. Another port"
	route := func(d *lab.Device, on string) {
		d.IP("a", "addr", "add", "10.9.0.1/24", "dev", on)
		d.IP("a", "route", "add", "default", "via", "10.9.0.2")
	}
	bridge := func(d *lab.Device) {
		d.IP("a", "link", "add", "br0", "type", "bridge", "mcast_snooping", "0", "forward_delay", "0") // a silent one
		d.IP("a", "link", "set", "br0", "up")
		d.IP("a", "link", "set", "a0", "master", "br0")
	}
	for _, tt := range []struct {
		name, session string
		make          func(t *testing.T, d *lab.Device) (fact string) // of a0
		instead       string
	}{
		{"default route", "", func(t *testing.T, d *lab.Device) string {
			route(d, "a0")
			return "carries the default route"
		}, cut},
		{"default route of a VLAN", "", func(t *testing.T, d *lab.Device) string {
			kernel(t, d, "link", "add", "link", "a0", "name", "v5", "type", "vlan", "id", "5")
			d.IP("a", "link", "set", "v5", "up")
			route(d, "v5")
			return "carries the default route of v5"
		}, cut},
		{"default route of a bridge", "", func(t *testing.T, d *lab.Device) string {
			bridge(d)
			route(d, "br0")
			return "carries the default route of br0, and is a port of bridge br0"
		}, cut},
		{"SSH session", "10.1.2.3 5555 10.9.0.1 22", func(t *testing.T, d *lab.Device) string {
			d.IP("a", "addr", "add", "10.9.0.1/24", "dev", "a0")
			return "carries your SSH session from 10.1.2.3"
		}, cut},
		{"bridge", "", func(t *testing.T, d *lab.Device) string {
			bridge(d)
			return "is a port of bridge br0"
		}, "ip -n NS link set a0 nomaster"},
		{"packet socket", "", func(t *testing.T, d *lab.Device) string {
			return fmt.Sprintf("is in use by sleep (pid %d), which receives from it", listener(t, d))
		}, "stop it"},
		{"XDP program", "", func(t *testing.T, d *lab.Device) string {
			return fmt.Sprintf("has an XDP program (id %d)", express(t, d))
		}, "stop what uses it (bpftool prog show id ID)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := lab.Veth(t)
			fact := tt.make(t, d)
			_, id, _ := strings.Cut(strings.TrimSuffix(fact, ")"), "(id ")
			instead := strings.NewReplacer("NS", d.Prefix+"-a", "ID", id).Replace(tt.instead)
			in := func(cmd *exec.Cmd) { cmd.Env = append(os.Environ(), "SSH_CONNECTION="+tt.session) }
			settled(t, d)
			before := touchable(t, d)
			for _, ports := range [][]string{{d.A, d.B}, {d.B, d.A}} { // the other one is as good as can be, and not touched either
				json := filepath.Join(t.TempDir(), "run.jsonl")
				args := append([]string{"replay", "-b", "1kpps", "-D", "300ms", "--json", json, "gen"}, ports...)
				code, out, talk := on(t, in, args...)
				want := fmt.Sprintf("loadtest: %s %s: %s, or --force-port %[1]s\n", d.A, fact, instead)
				if code != 2 || out != "" || talk != want {
					t.Errorf("exit %d, %q\n got %s\nwant %s", code, out, talk, want)
				}
				if _, err := os.Stat(json); err == nil {
					t.Error("the JSON file was made")
				}
			}
			if code, out, talk := on(t, in, "replay", "--dry-run", "-b", "1kpps", "gen", d.A, d.B); code != 0 || !strings.Contains(out, "nothing was opened or sent") {
				t.Errorf("--dry-run: exit %d, %s%s", code, out, talk)
			}
			if diff := cmp.Diff(before, touchable(t, d)); diff != "" {
				t.Errorf("was touched (-before +after):\n%s", diff)
			}
			p := prepare(t, "replay", "-b", "1kpps", "-D", "300ms", "--force-port", d.A, "gen", d.A, d.B)
			in(p.cmd)
			r := p.begin(t).wait(t)
			if x := r.trials(); r.code == 2 || len(x) == 0 || x[0].Streams[0].Sent == 0 {
				t.Errorf("--force-port: exit %d after %d trials: %s", r.code, len(x), r.talk)
			}
			if n := promiscuity(t, d, "b"); n != 0 {
				t.Errorf("after the run b0 has a promiscuity of %d", n)
			}
		})
	}
	t.Run("port of another run", func(t *testing.T) {
		d := lab.Veth(t)
		code, _, talk := on(t, nil, "replay", "-b", "1kpps", "--force-port", "eth9", "gen", d.A, d.B)
		if want := fmt.Sprintf("loadtest: --force-port eth9: no port of this run; ports: %s, %s\n", d.A, d.B); code != 2 || talk != want {
			t.Errorf("exit %d\n got %s\nwant %s", code, talk, want)
		}
	})
}

// A port that another loadtest uses is refused, by whatever name its namespace is called. Neither that one nor a dry run is held
// up; one that was killed bars nobody, and after each end nothing is left.
func TestOtherLoadtest(t *testing.T) {
	device(t)
	d := lab.Veth(t)
	d.IP("b", "link", "set", "b0", "down") // so that the first one waits, and does not send yet
	first := start(t, "replay", "-b", "1kpps", "-D", "1", "--max-unsent", "50%", "gen", d.A, d.B)
	noted(t, first, d)
	settled(t, d)
	before := touchable(t, d)
	ns := d.Prefix + "-a"
	inside := func(cmd *exec.Cmd) {
		cmd.Args = append([]string{"ip", "netns", "exec", ns}, cmd.Args...)
		cmd.Path, _ = exec.LookPath("ip")
	}
	for _, tt := range []struct {
		name string
		in   func(*exec.Cmd)
		port string
	}{{"the same name", nil, d.A}, {"a path", nil, "a0@/run/netns/" + ns}, {"inside", inside, "a0"}, {"backend", nil, "afpacket:" + d.A}} {
		code, out, talk := on(t, tt.in, "replay", "-b", "1kpps", "-D", "300ms", "gen", tt.port)
		asked := strings.Join(first.cmd.Args[1:], " ")
		want := fmt.Sprintf("loadtest: %s is in use by another loadtest (pid %d: %s): wait for it, or --force-port %[1]s\n", tt.port, first.cmd.Process.Pid, asked)
		if code != 2 || out != "" || talk != want {
			t.Errorf("%s: exit %d, %q\n got %s\nwant %s", tt.name, code, out, talk, want)
		}
	}
	lock, err := os.Open("/run/loadtest/lock")
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	p := prepare(t, "replay", "--dry-run", "-b", "1kpps", "gen", d.A, d.B)
	time.AfterFunc(10*time.Second, p.cancel)
	r := p.begin(t).wait(t)
	lock.Close()
	if r.code != 0 {
		t.Errorf("--dry-run of a port in use, locked: exit %d: %s", r.code, r.talk)
	}
	if diff := cmp.Diff(before, touchable(t, d)); diff != "" {
		t.Errorf("was touched (-before +after):\n%s", diff)
	}
	d.IP("b", "link", "set", "b0", "up")
	if r := first.wait(t); r.code != 0 {
		t.Errorf("the first one: exit %d: %s", r.code, r.talk)
	}
	left(t, first, d)

	killed := start(t, "replay", "-b", "1kpps", "-D", "60", "gen", d.A, d.B)
	killed.await(t, `"type":"sample"`)
	noted(t, killed, d)
	_ = killed.cmd.Process.Kill()
	_ = killed.cmd.Wait()
	next := start(t, "replay", "-b", "1kpps", "-D", "300ms", "--max-unsent", "50%", "gen", d.A, d.B)
	if r := next.wait(t); r.code != 0 {
		t.Errorf("after one that was killed: exit %d: %s", r.code, r.talk)
	}
	left(t, killed, d)
	left(t, next, d)
}

// note is what tells other loadtests of a process.
func note(p *process) string { return fmt.Sprintf("/run/loadtest/%d.json", p.cmd.Process.Pid) }

// noted waits until a process has opened its ports.
func noted(t *testing.T, p *process, d *lab.Device) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); promiscuity(t, d, "a") == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("it has not opened its ports")
		}
	}
	if _, err := os.Stat(note(p)); err != nil {
		t.Errorf("it has opened its ports, and: %v", err)
	}
}

// left checks that a process left nothing behind.
func left(t *testing.T, p *process, d *lab.Device) {
	t.Helper()
	if _, err := os.Stat(note(p)); err == nil {
		t.Errorf("%s is left", note(p))
	}
	if a, b := promiscuity(t, d, "a"), promiscuity(t, d, "b"); a != 0 || b != 0 {
		t.Errorf("left with a promiscuity of %d and %d", a, b)
	}
}

// promiscuity is that of the device's port a or b.
func promiscuity(t *testing.T, d *lab.Device, side string) (n int) {
	t.Helper()
	out, err := exec.Command("ip", "-n", d.Prefix+"-"+side, "-d", "link", "show", side+"0").Output()
	_, after, ok := strings.Cut(string(out), "promiscuity ")
	if _, serr := fmt.Sscan(after, &n); err != nil || !ok || serr != nil {
		t.Fatalf("ip -d link: %v: %s", err, out)
	}
	return n
}

// settled waits until the kernel has told the states of all links: it takes up to a second.
func settled(t *testing.T, d *lab.Device) {
	t.Helper()
	odd := func(side string) string {
		out, err := exec.Command("ip", "-n", d.Prefix+side, "-o", "link").Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			if !strings.Contains(line, "LOOPBACK") && strings.Contains(line, "LOWER_UP") != strings.Contains(line, " state UP ") {
				return line
			}
		}
		return ""
	}
	for until := time.Now().Add(10 * time.Second); odd("-a")+odd("-b") != ""; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("not settled: %s%s", odd("-a"), odd("-b"))
		}
	}
}

// running is what changes by itself of what ip tells.
var running = regexp.MustCompile(`"[a-z_]+_timer": *[0-9.]+`)

// touchable is what there is to see of the namespaces of both ports: links with promiscuity, MTU, XDP and counters, addresses,
// routes, neighbours, sockets, and what sysctl says.
func touchable(t *testing.T, d *lab.Device) (all []string) {
	t.Helper()
	const look = `set -e; sysctl -a -r '^net\.'; ip -d -s -j -p link; ip -d -j -p addr; ip -j -p route show table all
		ip -j -p -6 route show table all; ip -j -p neigh; cat /proc/net/packet`
	for _, side := range []string{"-a", "-b"} {
		cmd := exec.Command("ip", "netns", "exec", d.Prefix+side, "sh", "-c", look)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			all = append(all, running.ReplaceAllString(line, ""))
		}
	}
	if text := strings.Join(all, ""); len(all) < 500 || !strings.Contains(text, `"promiscuity": 0`) || !strings.Contains(text, "net.ipv4.conf.b0.") {
		t.Fatalf("looked at %d lines: %.2000s", len(all), text)
	}
	return all
}

// kernel runs ip(8) where the kernel may not be able to do it: then the test is skipped.
func kernel(t *testing.T, d *lab.Device, args ...string) {
	t.Helper()
	out, err := exec.Command("ip", append([]string{"-n", d.Prefix + "-a"}, args...)...).CombinedOutput()
	switch text := string(out); {
	case err == nil:
	case strings.Contains(text, "Unknown device type"), strings.Contains(text, "not supported"):
		lab.Lacks(t, "links", text)
	default:
		t.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, text)
	}
}

// listener is a process, sleep, with a packet socket that receives all of a0.
func listener(t *testing.T, d *lab.Device) (pid int) {
	t.Helper()
	fd := -1
	err := netns.Within(d.Prefix+"-a", func() error {
		l, err := netlink.LinkByName("a0")
		if err != nil {
			return err
		}
		if fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
			return err
		}
		const all = unix.ETH_P_ALL<<8 | unix.ETH_P_ALL>>8
		return unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: l.Attrs().Index, Protocol: all})
	})
	if err != nil {
		t.Fatal(err)
	}
	socket := os.NewFile(uintptr(fd), "packet socket")
	defer socket.Close() // sleep has its own
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	cmd.ExtraFiles = []*os.File{socket}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // the test's context ends before, and with it sleep
	return cmd.Process.Pid
}

// express has an XDP program at a0, which passes all on, and gives its id.
func express(t *testing.T, d *lab.Device) (id uint32) {
	t.Helper()
	code := []uint64{0x00000002_0000_00_b7, 0x95} // r0 = XDP_PASS; exit
	licence := []byte("GPL\x00")
	attr := struct {
		kind, instructions uint32
		code, licence      uint64
		_                  [96]byte
	}{unix.BPF_PROG_TYPE_XDP, uint32(len(code)), uint64(uintptr(unsafe.Pointer(&code[0]))), uint64(uintptr(unsafe.Pointer(&licence[0]))), [96]byte{}}
	fd, _, errno := unix.Syscall(unix.SYS_BPF, unix.BPF_PROG_LOAD, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	if errno != 0 {
		lab.Lacks(t, "bpf", errno)
	}
	defer unix.Close(int(fd))
	err := netns.Within(d.Prefix+"-a", func() error {
		l, err := netlink.LinkByName("a0")
		if err == nil {
			err = netlink.LinkSetXdpFdWithFlags(l, int(fd), unix.XDP_FLAGS_SKB_MODE)
		}
		if err == nil {
			l, err = netlink.LinkByName("a0")
		}
		if err == nil {
			id = l.Attrs().Xdp.ProgId
		}
		return err
	})
	if err != nil || id == 0 {
		t.Fatalf("program %d: %v", id, err)
	}
	return id
}

// An unprivileged user is told which capabilities the program needs, and with them, and nothing more, it measures.
func TestCapabilities(t *testing.T) {
	device(t)
	d := lab.Veth(t)
	d.IP("b", "link", "set", "b0", "netns", d.Prefix+"-a") // who may not enter namespaces has both ports in his own
	d.IP("a", "link", "set", "b0", "up")
	dir := open(t)
	program := filepath.Join(dir, "loadtest")
	text, err := os.ReadFile(binary)
	if err == nil {
		err = os.WriteFile(program, text, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	unprivileged := func(cmd *exec.Cmd) {
		cmd.Path, cmd.Dir = program, dir
		cmd.Env = append(os.Environ(), "LOADTEST_RUNS="+dir, "XDG_RUNTIME_DIR=", "HOME=/nonexistent")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	try := func(change func(*exec.Cmd)) (code int, out, talk string) {
		err := netns.Within(d.Prefix+"-a", func() error { // what a thread starts is where the thread is
			code, out, talk = on(t, change, "find-limit", "-b", "1Mbps", "-p", "500kbps", "-D", "300ms", "gen", "a0", "b0")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	code, out, talk := try(unprivileged)
	said := regexp.MustCompile(`^loadtest: a0: a packet socket needs CAP_NET_RAW\. Use sudo, or once: setcap (\S+) \$\(command -v loadtest\)\n$`).FindStringSubmatch(talk)
	if code != 2 || out != "" || said == nil {
		t.Fatalf("exit %d: %s%s", code, out, talk)
	}
	measures := func(t *testing.T, change func(*exec.Cmd)) {
		t.Helper()
		for range 3 { // a busy machine says nothing about capabilities
			if code, out, talk = try(change); code != 3 {
				break
			}
		}
		if code != 0 || !strings.HasSuffix(out, "\n0.001\n") || !strings.Contains(talk, "saved as ") {
			t.Errorf("exit %d: %s%s", code, out, talk)
		}
	}
	t.Run("setcap", func(t *testing.T) {
		if out, err := exec.Command("setcap", said[1], program).CombinedOutput(); err != nil {
			lab.Lacks(t, "setcap", fmt.Sprintf("%v: %s", err, out))
		}
		defer exec.Command("setcap", "-r", program).Run()
		measures(t, unprivileged)
	})
	t.Run("ambient", func(t *testing.T) {
		measures(t, func(cmd *exec.Cmd) {
			unprivileged(cmd)
			cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_NET_RAW, unix.CAP_NET_ADMIN}
		})
	})
}

// The demo needs neither root nor a home that can be written to.
func TestDemoUnprivileged(t *testing.T) {
	code, out, talk := on(t, func(cmd *exec.Cmd) {
		cmd.Dir, cmd.Env = "/", []string{"HOME=/nonexistent/home", "PATH=" + os.Getenv("PATH")}
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
	}, "demo", "-D", "20ms", "-r", "0")
	if code != 0 || !strings.Contains(out, "\nlimited by: device. ") || strings.Count(talk, "this run is not saved: ") != 1 || strings.Contains(talk, "saved as") {
		t.Errorf("exit %d: %s%s", code, out, talk)
	}
}

// Under sudo what is saved belongs to who called, folders too.
func TestRunsBelongToSudosCaller(t *testing.T) {
	lab.Need(t, "root")
	dir := filepath.Join(open(t), "state", "runs")
	code, _, talk := on(t, func(cmd *exec.Cmd) { cmd.Env = append(os.Environ(), "SUDO_USER=nobody", "LOADTEST_RUNS="+dir) },
		"replay", "-b", "1G", udp(t, 60, false), "sim:wire/a", "sim:wire/b")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, talk)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if len(files) != 1 {
		t.Fatalf("%d runs are saved: %s", len(files), talk)
	}
	for _, path := range append(files, dir, filepath.Dir(dir)) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if s := info.Sys().(*syscall.Stat_t); s.Uid != 65534 || s.Gid != 65534 {
			t.Errorf("%s belongs to %d:%d, want 65534:65534", path, s.Uid, s.Gid)
		}
	}
}
