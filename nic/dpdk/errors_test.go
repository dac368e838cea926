//go:build dpdk && cgo && linux

package dpdk

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadtest/internal/lab"
)

func TestOpenErrors(t *testing.T) {
	lab.Need(t, "dpdk", "netns")
	open1(t, "net_null910", Options{})
	for _, tt := range []struct{ name, want string }{
		{"net_null910", "it is open already"},
		{"net_foo0", "no driver of DPDK is called so; want a PCI address, as 22:00.0, or a virtual device, as net_af_packet0,iface=eth2"},
		{"ffff:ff:1f.6", "no such device, or one that the kernel holds; see dpdk-devbind.py --status"},
		{"net_af_packet911,iface=nosuch", "no such interface; see ip -br link"},
		{"net_af_packet912", "its driver does not take it: a PCI device must be bound to vfio-pci (dpdk-devbind.py), a virtual one have all its options, as net_af_packet0,iface=eth2"},
		{"net_memif913,role=x", "Unknown role: x."},
		{"net_af_packet914,iface=a0@lt-nosuch", `no network namespace "lt-nosuch"; there are: `},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all, err := Open([]string{"net_null915", tt.name}, Options{})
			if err == nil || all != nil || !strings.HasPrefix(err.Error(), `port "dpdk:`+tt.name+`": `+tt.want) {
				t.Errorf("Open = %v, %v\nwant port %q: %s", all, err, tt.name, tt.want)
			}
		})
	}
	open1(t, "net_null915", Options{}) // which was given back each time
}

// opens runs Open in another process, as EAL starts once in each; it says so on its first line, and ends with its input.
func opens(t *testing.T, options ...string) (first string, rest func() string) {
	t.Helper()
	child := exec.Command("/proc/self/exe", "-test.run=^TestStart$")
	child.Env = append(os.Environ(), "LOADTEST_EAL="+strings.Join(options, " "))
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	child.Stdout, child.Stderr = w, w
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	b := make([]byte, 4096)
	n, _ := r.Read(b)
	return string(b[:n]), func() string {
		in.Close()
		all, _ := io.ReadAll(r)
		r.Close()
		child.Wait()
		return string(all)
	}
}

// TestStart looks at what EAL answers, and that nothing else is printed.
func TestStart(t *testing.T) {
	if options, child := os.LookupEnv("LOADTEST_EAL"); child {
		_, err := Open([]string{"net_null0"}, Options{EAL: strings.Fields(options)})
		_, again := Open([]string{"net_null1"}, Options{})
		fmt.Printf("%v\n%v\n", err, again)
		io.ReadAll(os.Stdin)
		return
	}
	lab.Need(t, "dpdk")
	prefix := fmt.Sprintf("lt%d", os.Getpid())
	t.Cleanup(func() { os.RemoveAll(filepath.Join("/var/run/dpdk", prefix)) })
	own := []string{"--no-huge", "-m", "256", "--file-prefix=" + prefix}
	first, end := opens(t, own...)
	defer func() { end() }()
	if first != "<nil>\n<nil>\n" {
		t.Errorf("options %q: %s", own, first)
	}
	for _, tt := range []struct {
		name, want string
		options    []string
	}{
		{"nothing", "<nil>", nil},
		{"an unknown option", "DPDK does not start: unrecognized option '--foo' (its options: --log-level=4 ", []string{"--foo"}},
		{"an unknown CPU", "DPDK does not start: lcore 127 unavailable (its options: ", []string{"-l", "127"}},
		{"too much memory", "DPDK does not start: Cannot allocate memseg list: Invalid argument. Ask for less (-m MiB), or for usual memory " +
			"(--no-huge --no-shconf) (its options: ", []string{"--no-huge", "--no-shconf", "-m", "99999999"}},
		{"too little memory", `port "dpdk:net_null0": take memory for packets: there is not enough; give DPDK more (-m MiB), or fewer ports and queues`,
			[]string{"--no-huge", "--no-shconf", "-m", "16"}},
		{"another primary", "DPDK does not start: Cannot create lock on '/var/run/dpdk/" + prefix + "/config'. Is another primary process running?. " +
			"Leave --file-prefix away, or give it a name of its own (its options: ", own},
		{"help", "DPDK option --help: it would end the program. All options: dpdk-testpmd --help", []string{"--help"}},
		{"help, abbreviated", "DPDK option --he: it would end", []string{"--he"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first, end := opens(t, tt.options...)
			rest := end()
			lines := strings.Split(first, "\n")
			if !strings.HasPrefix(lines[0], tt.want) || len(lines) != 3 || rest != "PASS\n" {
				t.Errorf("options %q:\n got %s\n%s\nwant %s", tt.options, first, rest, tt.want)
			}
			if strings.HasPrefix(tt.want, "DPDK does not start") != (lines[0] == lines[1] && lines[0] != "<nil>") {
				t.Errorf("once more: %s", lines[1])
			}
		})
	}
}

func TestArguments(t *testing.T) {
	const none = "--allow=" + noDevice
	base := []string{"EAL", "--log-level=4", "--no-telemetry"}
	cpu := func() string {
		a, err := arguments(nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		return a[3]
	}()
	if !strings.HasPrefix(cpu, "--lcores=0@") {
		t.Fatalf("CPU: %s", cpu)
	}
	for _, tt := range []struct {
		name       string
		user, want []string
		free       int64
	}{
		{"no huge pages", nil, []string{cpu, none, "--no-huge", "--no-shconf", "-m", "1024"}, 255 << 20},
		{"huge pages", nil, []string{cpu, none, "--in-memory", "-m", "256"}, 256 << 20},
		{"own memory", []string{"-m", "64"}, []string{cpu, none, "--no-huge", "--no-shconf", "-m", "64"}, 0},
		{"own memory in one word", []string{"-m64"}, []string{cpu, none, "--in-memory", "-m64"}, 1 << 30},
		{"own kind of memory", []string{"--no-huge"}, []string{cpu, none, "--no-huge"}, 1 << 30},
		{"own prefix", []string{"--file-prefix=x"}, []string{cpu, none, "--file-prefix=x"}, 0},
		{"own CPU", []string{"-l", "1"}, []string{none, "--no-huge", "--no-shconf", "-m", "1024", "-l", "1"}, 0},
		{"own devices", []string{"-a", "22:00.0"}, []string{cpu, "--no-huge", "--no-shconf", "-m", "1024", "-a", "22:00.0"}, 0},
		{"something else", []string{"--iova-mode=va"}, []string{cpu, none, "--no-huge", "--no-shconf", "-m", "1024", "--iova-mode=va"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := arguments(tt.user, tt.free)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(append(base[:3:3], tt.want...), got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestFreeHuge reads an imitation of sysfs.
func TestFreeHuge(t *testing.T) {
	sys := t.TempDir()
	for dir, n := range map[string]string{"hugepages-2048kB": "3\n", "hugepages-1048576kB": "2\n", "hugepages-64kB": "x\n"} {
		dir = filepath.Join(sys, "kernel/mm/hugepages", dir)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/free_hugepages", []byte(n), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := freeHuge(sys), int64(3<<21+2<<30); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	if got := freeHuge(t.TempDir()); got != 0 {
		t.Errorf("%d bytes where there are none", got)
	}
}
