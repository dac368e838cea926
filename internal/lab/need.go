package lab

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Need says what a test needs of the machine: the keys of needs. What is missing skips the test, and says so; if it is listed
// in the environment variable LOADTEST_REQUIRE (comma separated), it fails the test.
func Need(t testing.TB, what ...string) {
	t.Helper()
	for _, w := range what {
		if err := probe(w); err != nil {
			Lacks(t, w, err)
		}
	}
}

// Lacks ends a test that found out for itself what the machine does not have: as Need does.
func Lacks(t testing.TB, what string, why any) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("LOADTEST_REQUIRE"), ","), what) {
		t.Fatalf("LOADTEST_REQUIRE lists %s, but: %v", what, why)
	}
	t.Skipf("needs %s: %v", what, why)
}

// probe says why the machine does not have what.
func probe(what string) error {
	needs := map[string]func() error{
		"root":       superuser,
		"script":     programs("script"),
		"netns":      func() error { return first(superuser, programs("ip", "sysctl"), netns) },
		"afpacket":   func() error { return first(superuser, linux) },
		"afxdp":      func() error { return first(superuser, linux, xsk) },
		"xdp":        func() error { return first(superuser, linux, bpf) },
		"dpdk":       dpdk,
		"tun":        tun,
		"tcpdump":    programs("tcpdump"),
		"tshark":     programs("tshark", "capinfos"),
		"nft":        func() error { return first(superuser, programs("nft")) },
		"strongswan": func() error { return first(superuser, tun, programs("charon-systemd", "swanctl")) },
		"wireguard":  func() error { return first(superuser, tun, programs("wireguard-go", "wg", "nft")) },
		"testpmd":    func() error { return first(superuser, programs("dpdk-testpmd", "nft", "stdbuf")) },
	}
	f, ok := needs[what]
	if !ok {
		return fmt.Errorf("nobody knows how to look for it")
	}
	return f()
}

// first is the first error of some checks.
func first(checks ...func() error) error {
	for _, c := range checks {
		if err := c(); err != nil {
			return err
		}
	}
	return nil
}

func linux() error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("this is %s, not Linux", runtime.GOOS)
	}
	return nil
}

func superuser() error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("not root")
	}
	return nil
}

func tun() error {
	_, err := os.Stat("/dev/net/tun")
	return err
}

// programs are found in PATH, or where Debian keeps those of the superuser.
func programs(names ...string) func() error {
	return func() error {
		for _, name := range names {
			if _, err := exec.LookPath(name); err == nil {
				continue
			}
			if _, err := os.Stat("/usr/sbin/" + name); err != nil {
				return fmt.Errorf("%s is not installed", name)
			}
		}
		return nil
	}
}

// netns makes a namespace and removes it.
func netns() error {
	name := fmt.Sprintf("lt%xx0-n", os.Getpid())
	if out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); err != nil {
		return fmt.Errorf("ip netns add: %s", strings.TrimSpace(string(out)))
	}
	return exec.Command("ip", "netns", "del", name).Run()
}

// dpdk looks for the libraries.
func dpdk() error {
	if err := exec.Command("pkg-config", "--exists", "libdpdk").Run(); err != nil {
		return fmt.Errorf("pkg-config --exists libdpdk: %w", err)
	}
	return superuser()
}
