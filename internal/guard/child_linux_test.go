package guard

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"loadtest/internal/netns"
)

// A child is another process of this test: a program that listens, or another loadtest.
type child struct {
	*exec.Cmd
	in  io.Closer
	out *bufio.Reader
}

// start starts TestChild with what to do; it lives until the test ends, or end.
func start(t *testing.T, as *syscall.Credential, env []string, what ...string) *child {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestChild$")
	cmd.Env = append(append(os.Environ(), env...), "LOADTEST_CHILD="+strings.Join(what, " "))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd, in, bufio.NewReader(out)}
	t.Cleanup(func() { c.end() })
	return c
}

// said is the child's next line.
func (c *child) said(t *testing.T) string {
	t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatalf("child: %v after %q", err, line)
	}
	return strings.TrimSpace(line)
}

// end lets the child clean up; kill does not. Both wait for its end, once.
func (c *child) end() {
	c.in.Close()
	c.Wait()
}

func (c *child) kill() {
	c.Process.Kill()
	c.Wait()
}

// TestChild is no test, but what children do: then they say a line, and stay until their input ends.
func TestChild(t *testing.T) {
	f := strings.Fields(os.Getenv("LOADTEST_CHILD"))
	if len(f) < 3 {
		t.Skip("only as a child of other tests")
	}
	port := Port{Name: f[1] + "@" + f[2], Interface: f[1], Namespace: f[2]}
	err := fmt.Errorf("%s: unknown", f[0])
	switch f[0] {
	case "listen":
		err = netns.Within(port.Namespace, func() error { return listen(port.Interface, strings.Join(f[3:], " ")) })
	case "check":
		err = Check(port, func(string) string { return "" })
	case "hold":
		release := func() {}
		if release, err = Hold([]Port{port}, strings.Join(f[3:], " ")); err == nil {
			defer release()
		}
	}
	fmt.Println("done:", err)
	io.Copy(io.Discard, os.Stdin)
}

// listen opens a packet socket, by words of how: any (all interfaces), lldp (one protocol), filter, promiscuous.
func listen(iface, how string) error {
	index, err := indexOf(iface)
	if err != nil {
		return err
	}
	protocol := uint16(unix.ETH_P_ALL)
	if strings.Contains(how, "lldp") {
		protocol = unix.ETH_P_LLDP
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if strings.Contains(how, "promiscuous") {
		m := unix.PacketMreq{Ifindex: int32(index), Type: unix.PACKET_MR_PROMISC}
		if err := unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &m); err != nil {
			return err
		}
	}
	if strings.Contains(how, "filter") {
		ret := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: 0}
		if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &ret}); err != nil {
			return err
		}
	}
	if strings.Contains(how, "any") {
		index = 0
	}
	return unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: index, Protocol: protocol<<8 | protocol>>8})
}

func indexOf(iface string) (int, error) {
	all, err := links()
	for _, l := range all {
		if l.name == iface {
			return l.index, nil
		}
	}
	return 0, fmt.Errorf("%s: %w", iface, err)
}
