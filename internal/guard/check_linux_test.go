package guard

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"loadtest/internal/lab"
	"loadtest/internal/netns"
)

// noSession is an environment whose session goes nowhere near, so that one of whoever runs the test does not matter.
func noSession(name string) string {
	return map[string]string{"SSH_CONNECTION": "203.0.113.1 5555 203.0.113.2 22"}[name]
}

// check checks a0 of the wire.
func check(wire *lab.Device) error {
	return Check(Port{Name: wire.A, Interface: "a0", Namespace: wire.Prefix + "-a"}, noSession)
}

func want(t *testing.T, err error, want string) {
	t.Helper()
	text := ""
	if err != nil {
		text = err.Error()
	}
	var r *Refused
	if text != want || errors.As(err, &r) != (want != "") {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
}

// ip runs ip(8) where the kernel may not be able to do it: then the test is skipped.
func ip(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.Command("ip", args...).CombinedOutput()
	switch text := string(out); {
	case err == nil:
	case strings.Contains(text, "Unknown device type"), strings.Contains(text, "not supported"):
		lab.Lacks(t, "links", text)
	default:
		t.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, text)
	}
}

func TestRoutes(t *testing.T) {
	lab.Need(t, "netns")
	const cut = ": load on it would cut you off. Another port, or --force-port "
	type step = []string
	address := step{"addr", "add", "10.9.0.1/24", "dev", "a0"}
	peer := step{"link", "add", "c0", "type", "veth", "peer", "name", "c1"}
	on := func(kind ...string) []step {
		return []step{append(step{"link", "add", "link", "a0", "name", "up0", "type"}, kind...), {"link", "set", "up0", "up"},
			{"addr", "add", "10.9.0.1/24", "dev", "up0"}, {"route", "add", "default", "via", "10.9.0.2"}}
	}
	for _, tt := range []struct {
		name  string
		steps []step
		want  string // of "" a0 is good
	}{
		{"no route", nil, ""},
		{"route to some", []step{address, {"route", "add", "10.8.0.0/16", "via", "10.9.0.2"}}, ""},
		{"default route", []step{address, {"route", "add", "default", "via", "10.9.0.2"}}, "the default route"},
		{"default route without address", []step{{"route", "add", "default", "dev", "a0"}}, "the default route"},
		{"default route of another interface", []step{peer, {"link", "set", "c0", "up"}, {"route", "add", "default", "dev", "c0"}}, ""},
		{"default route of a veth's end here", []step{{"link", "set", "a0", "name", "x0"}, {"link", "add", "a0", "type", "veth", "peer", "name", "c1"},
			{"link", "set", "a0", "up"}, {"link", "set", "c1", "up"}, {"route", "add", "default", "dev", "c1"}}, ""},
		{"worse of two", []step{peer, {"link", "set", "c0", "up"}, {"route", "add", "default", "dev", "c0"},
			{"route", "add", "default", "dev", "a0", "metric", "900"}}, "the default route"},
		{"multipath", []step{peer, {"link", "set", "c0", "up"}, {"link", "set", "c1", "up"}, {"route", "add", "default", "nexthop", "dev", "c0", "nexthop", "dev", "a0"}},
			"the default route"},
		{"nexthop object", []step{{"nexthop", "add", "id", "7", "dev", "a0"}, {"route", "add", "default", "nhid", "7"}}, "the default route"},
		{"another table", []step{{"route", "add", "default", "dev", "a0", "table", "100"}}, ""},
		{"prohibited", []step{{"route", "add", "prohibit", "default"}}, ""},
		{"IPv6", []step{{"-6", "route", "add", "default", "dev", "a0"}}, "the default route"},
		{"IPv6 multipath", []step{peer, {"link", "set", "c0", "up"}, {"link", "set", "c1", "up"}, {"-6", "route", "add", "default",
			"nexthop", "via", "fe80::9", "dev", "c0", "nexthop", "via", "fe80::9", "dev", "a0"}}, "the default route"},
		{"macvlan", on("macvlan"), "the default route of up0"},
		{"VLAN", on("vlan", "id", "5"), "the default route of up0"},
		{"macvlan on a bridge", []step{{"link", "add", "br0", "type", "bridge"}, {"link", "set", "br0", "up"}, {"link", "set", "a0", "master", "br0"},
			{"link", "add", "link", "br0", "name", "up0", "type", "macvlan"}, {"link", "set", "up0", "up"}, {"route", "add", "default", "dev", "up0"}},
			"the default route of up0, and is a port of bridge br0"},
		{"bridge", []step{{"link", "add", "br0", "type", "bridge"}, {"link", "set", "br0", "up"}, {"link", "set", "a0", "master", "br0"},
			{"route", "add", "default", "dev", "br0"}}, "the default route of br0, and is a port of bridge br0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wire := lab.Veth(t)
			a := wire.Prefix + "-a"
			if out, err := exec.Command("ip", "netns", "exec", a, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=0",
				"net.ipv6.conf.a0.disable_ipv6=0", "net.ipv6.conf.default.disable_ipv6=0").CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for _, s := range tt.steps {
				ip(t, append([]string{"-n", a}, s...)...)
			}
			refused := ""
			if tt.want != "" {
				refused = wire.A + " carries " + tt.want + cut + wire.A
			}
			want(t, check(wire), refused)
			wire.IP("a", "link", "set", "a0", "down")
			want(t, check(wire), "")
		})
	}
}

func TestBridge(t *testing.T) {
	lab.Need(t, "netns")
	wire := lab.Veth(t)
	a := wire.Prefix + "-a"
	wire.IP("a", "link", "add", "br0", "type", "bridge")
	wire.IP("a", "link", "set", "a0", "master", "br0")
	command := " link set a0 nomaster, or --force-port "
	want(t, check(wire), wire.A+" is a port of bridge br0: ip -n "+a+command+wire.A)
	path := Port{Name: "P", Interface: "a0", Namespace: "/run/netns/" + a}
	want(t, Check(path, noSession), "P is a port of bridge br0: nsenter --net=/run/netns/"+a+" ip"+command+"P")
	if err := netns.Within(a, func() error {
		want(t, Check(Port{Name: "P", Interface: "a0"}, noSession), "P is a port of bridge br0: ip"+command+"P")
		return nil
	}); err != nil {
		t.Error(err)
	}
	path.Forced = true
	want(t, Check(path, noSession), "")
}

func TestSession(t *testing.T) {
	lab.Need(t, "netns")
	wire := lab.Veth(t)
	a := wire.Prefix + "-a"
	wire.IP("a", "addr", "add", "10.9.0.1/24", "dev", "a0")
	wire.IP("a", "route", "add", "10.1.0.0/16", "via", "10.9.0.2")
	const refused = "P carries your SSH session from 10.1.2.3: load on it would cut you off. Another port, or --force-port P"
	for _, tt := range []struct {
		name, connection, client string
		here, there              string // what Check says of a port of its own namespace, and of another one
	}{
		{"server's address", "10.1.2.3 5555 10.9.0.1 22", "", refused, refused},
		{"way to the client", "10.1.2.3 5555 198.51.100.1 22", "", refused, ""},
		{"only the client", "", "10.1.2.3 5555 22", refused, ""},
		{"no way to the client", "10.2.2.3 5555 198.51.100.1 22", "", "", ""},
		{"from the machine itself", "10.9.0.1 5555 10.9.0.1 22", "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env := func(name string) string {
				return map[string]string{"SSH_CONNECTION": tt.connection, "SSH_CLIENT": tt.client}[name]
			}
			want(t, Check(Port{Name: "P", Interface: "a0", Namespace: a}, env), tt.there)
			if err := netns.Within(a, func() error {
				want(t, Check(Port{Name: "P", Interface: "a0"}, env), tt.here)
				want(t, Check(Port{Name: "P", Interface: "a0", Namespace: a}, env), tt.here)
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCleanEnvironment: sudo keeps the session from its child, but has it itself.
func TestCleanEnvironment(t *testing.T) {
	lab.Need(t, "netns")
	wire := lab.Veth(t)
	a := wire.Prefix + "-a"
	wire.IP("a", "addr", "add", "10.9.0.1/24", "dev", "a0")
	c := exec.Command("sh", "-c", fmt.Sprintf("env -i LOADTEST_CHILD='check a0 %s' /proc/%d/exe -test.run='^TestChild$'; true", a, os.Getpid()))
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "SSH_CONNECTION=10.1.2.3 5555 10.9.0.1 22"}
	out, err := c.CombinedOutput()
	if want := "done: " + wire.A + " carries your SSH session from 10.1.2.3: load on it"; err != nil || !strings.HasPrefix(string(out), want) {
		t.Errorf("%v\n got %s\nwant %s", err, out, want)
	}
}

func TestReaders(t *testing.T) {
	lab.Need(t, "netns", "afpacket")
	for _, tt := range []struct {
		name, iface, how string
		refused          bool
	}{
		{"all", "a0", "", true},
		{"promiscuous with a filter", "a0", "promiscuous filter", true},
		{"a filter, as LLDP's and DHCP's", "a0", "filter", false},
		{"one protocol", "a0", "lldp promiscuous", false},
		{"any interface", "a0", "any promiscuous", false},
		{"another interface", "lo", "promiscuous", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wire := lab.Veth(t)
			want(t, check(wire), "")
			c := start(t, nil, nil, "listen", tt.iface, wire.Prefix+"-a", tt.how)
			if said := c.said(t); said != "done: <nil>" {
				t.Fatal(said)
			}
			refused := ""
			if tt.refused {
				refused = fmt.Sprintf("%s is in use by exe (pid %d), which receives from it: stop it, or --force-port %[1]s", wire.A, c.Process.Pid)
			}
			want(t, check(wire), refused)
			c.kill()
			want(t, check(wire), "")
		})
	}
}

// TestOwnSocket: the process's own sockets are nobody else's.
func TestOwnSocket(t *testing.T) {
	lab.Need(t, "netns", "afpacket")
	wire := lab.Veth(t)
	if err := netns.Within(wire.Prefix+"-a", func() error { return listen("a0", "promiscuous") }); err != nil {
		t.Fatal(err)
	}
	want(t, check(wire), "")
}

func TestTcpdump(t *testing.T) {
	lab.Need(t, "netns", "afpacket", "tcpdump")
	tcpdump, err := exec.LookPath("tcpdump")
	if err != nil {
		t.Fatal(err)
	}
	wire := lab.Veth(t)
	for _, tt := range []struct {
		iface   string
		refused bool
	}{{"a0", true}, {"any", false}} {
		c := exec.Command("timeout", "10", "ip", "netns", "exec", wire.Prefix+"-a", tcpdump, "-ni", tt.iface, "-w", "/dev/null", "udp port 7")
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for until := time.Now().Add(3 * time.Second); tt.refused && check(wire) == nil && time.Now().Before(until); {
			time.Sleep(10 * time.Millisecond)
		}
		if !tt.refused {
			time.Sleep(500 * time.Millisecond)
		}
		err := check(wire)
		if refused := err != nil && strings.Contains(err.Error(), " is in use by tcpdump (pid "); refused != tt.refused || err != nil && !refused {
			t.Errorf("tcpdump -i %s: %v", tt.iface, err)
		}
		c.Process.Signal(unix.SIGTERM)
		c.Wait()
	}
}

// xdp loads the program "return XDP_PASS".
func xdp(t *testing.T) (fd int) {
	code := []uint64{0x00000002_0000_00_b7, 0x95} // r0 = 2; exit
	licence := []byte("GPL\x00")
	attr := struct {
		kind, instructions uint32
		code, licence      uint64
		_                  [96]byte
	}{6, uint32(len(code)), uint64(uintptr(unsafe.Pointer(&code[0]))), uint64(uintptr(unsafe.Pointer(&licence[0]))), [96]byte{}}
	const load = 5 // BPF_PROG_LOAD of BPF_PROG_TYPE_XDP
	r, _, errno := unix.Syscall(unix.SYS_BPF, load, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	if errno != 0 {
		lab.Lacks(t, "bpf", errno)
	}
	return int(r)
}

func TestXDP(t *testing.T) {
	lab.Need(t, "netns")
	fd := xdp(t)
	defer unix.Close(fd)
	for name, flags := range map[string]int{"generic": unix.XDP_FLAGS_SKB_MODE, "driver": unix.XDP_FLAGS_DRV_MODE} {
		t.Run(name, func(t *testing.T) {
			wire := lab.Veth(t)
			var id uint32
			if err := netns.Within(wire.Prefix+"-a", func() error {
				l, err := netlink.LinkByName("a0")
				if err != nil {
					return err
				}
				if err = netlink.LinkSetXdpFdWithFlags(l, fd, flags); err != nil {
					return err
				}
				if l, err = netlink.LinkByName("a0"); err == nil {
					id = l.Attrs().Xdp.ProgId
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if id == 0 {
				t.Fatal("the program has no id")
			}
			want(t, check(wire), fmt.Sprintf("%s has an XDP program (id %d): stop what uses it (bpftool prog show id %[2]d), or --force-port %[1]s", wire.A, id))
		})
	}
}

func TestCheckErrors(t *testing.T) {
	lab.Need(t, "netns")
	wire := lab.Veth(t)
	a := wire.Prefix + "-a"
	for _, tt := range []struct {
		port Port
		want string
	}{
		{Port{Name: "a1@" + a, Interface: "a1", Namespace: a}, `port "a1@` + a + `": no such interface in namespace ` + a + `. Near: a0. `},
		{Port{Name: "a0@" + wire.Prefix, Interface: "a0", Namespace: wire.Prefix}, `port "a0@` + wire.Prefix + `": no network namespace "` + wire.Prefix + `"; there are: `},
	} {
		err := Check(tt.port, noSession)
		if r := new(Refused); err == nil || !strings.HasPrefix(err.Error(), tt.want) || errors.As(err, &r) {
			t.Errorf("\n got %v\nwant %s", err, tt.want)
		}
	}
}

// TestNothingIsTouched: what there is to see of the namespace is the same before and after.
func TestNothingIsTouched(t *testing.T) {
	lab.Need(t, "netns", "afpacket")
	wire := lab.Veth(t)
	a := wire.Prefix + "-a"
	wire.IP("a", "addr", "add", "10.9.0.1/24", "dev", "a0")
	wire.IP("a", "route", "add", "default", "via", "10.9.0.2")
	c := start(t, nil, nil, "listen", "a0", a, "filter") // so that packet sockets are asked about, too
	c.said(t)
	look := func() (all []string) {
		for _, command := range []string{"sysctl -a", "ip -d -j link", "ip -d -j addr", "ip -j route show table all", "ip -j -6 route show table all",
			"ip -j neigh", "cat /proc/net/packet /proc/net/dev /proc/net/netstat"} {
			cmd := exec.Command("ip", append([]string{"netns", "exec", a}, strings.Fields(command)...)...)
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s: %v", command, err)
			}
			for line := range strings.Lines(string(out)) {
				if !strings.HasPrefix(command, "sysctl") || strings.HasPrefix(line, "net.") {
					all = append(all, line)
				}
			}
		}
		return all
	}
	dir := t.TempDir()
	before := look()
	if text := strings.Join(before, ""); len(before) < 100 || !strings.Contains(text, `"promiscuity":0`) || !strings.Contains(text, "net.ipv4.conf.a0.") {
		t.Fatalf("looked at %d lines: %.2000s", len(before), text)
	}
	for range 3 {
		if err := check(wire); err == nil {
			t.Error("not refused")
		}
		release, err := Hold([]Port{{Name: wire.A, Interface: "a0", Namespace: a}}, dir)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, look()); diff != "" {
			t.Errorf("(-before +after):\n%s", diff)
		}
		release()
	}
}
