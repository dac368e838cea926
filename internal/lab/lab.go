// Package lab gives tests real devices on one machine: network namespaces, veth pairs, and the devices of the scripts in lab/.
//
//	test ─Up→ lab/linux-router.sh up → a0@PREFIX-a ═ device ═ b0@PREFIX-b → test ─Cleanup→ lab/linux-router.sh down
//
// What a test makes has a prefix of its own and is removed after it, also when it fails; what a killed test left is removed
// by the next one.
package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A Device is a running device under test between two of the tester's ports.
type Device struct {
	A, B   string // names of the ports for nic/dial, as a0@lt1x1-a
	Prefix string // the namespaces are PREFIX-a, PREFIX-b and what the script says
	Dir    string // the script's state and logs

	t      testing.TB
	script string
}

// Up starts the device of lab/script with its options until the test ends.
func Up(t testing.TB, script string, options ...string) *Device {
	t.Helper()
	d := create(t, script)
	d.run("up", options...)
	d.A, d.B = "a0@"+d.Prefix+"-a", "b0@"+d.Prefix+"-b"
	return d
}

// Veth is a wire and no device: a veth pair between two namespaces, silent until somebody sends.
func Veth(t testing.TB) *Device {
	t.Helper()
	return Up(t, "veth.sh")
}

// Drops is how many packets the device dropped on purpose so far, from a to b and from b to a.
func (d *Device) Drops() (ab, ba int64) {
	d.t.Helper()
	out := d.run("drops")
	if _, err := fmt.Sscan(out, &ab, &ba); err != nil {
		d.t.Fatalf("%s drops said %q: want two numbers: %v", d.script, out, err)
	}
	return ab, ba
}

// IP runs ip(8) in one of the device's namespaces: "a", "b", "r", …
func (d *Device) IP(namespace string, args ...string) {
	d.t.Helper()
	all := append([]string{"-n", d.Prefix + "-" + namespace}, args...)
	if out, err := exec.Command("ip", all...).CombinedOutput(); err != nil {
		d.t.Fatalf("ip %s: %v: %s", strings.Join(all, " "), err, out)
	}
}

// run calls the script with an action, in bounded time.
func (d *Device) run(action string, options ...string) string {
	d.t.Helper()
	out, err := call(d.script, action, d.Prefix, d.Dir, options...)
	if err != nil {
		d.t.Fatalf("%s %s: %v\n%s", d.script, action, err, out)
	}
	return out
}

func call(script, action, prefix, dir string, options ...string) (string, error) {
	cmd := exec.Command(script, append([]string{action, prefix, dir}, options...)...)
	cmd.WaitDelay = time.Second // a daemon that the script started may keep the pipe open
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return "", err
	}
	timer := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Wait()
	if err == exec.ErrWaitDelay {
		err = nil
	}
	return out.String(), err
}

// create reserves a prefix and a folder, and has both removed when the test ends.
func create(t testing.TB, name string) *Device {
	t.Helper()
	root, err := root()
	if err != nil {
		t.Fatal(err)
	}
	sweep()
	d := &Device{t: t, script: filepath.Join(root, "lab", name)}
	if err := os.MkdirAll(states(), 0o755); err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n++ { // the folder that nobody else could make is ours, and so is the prefix
		d.Prefix = fmt.Sprintf("lt%xx%x", os.Getpid(), n)
		d.Dir = filepath.Join(states(), d.Prefix)
		if err := os.Mkdir(d.Dir, 0o755); err == nil {
			break
		} else if !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(d.Dir, "script"), []byte(d.script), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if out, err := call(d.script, "down", d.Prefix, d.Dir); err != nil {
			t.Errorf("%s down: %v\n%s", d.script, err, out)
			return
		}
		os.RemoveAll(d.Dir)
	})
	return d
}

func states() string { return filepath.Join(os.TempDir(), "loadtest-lab") }

// sweep takes down the devices of processes that are no more.
func sweep() {
	dirs, _ := os.ReadDir(states())
	for _, e := range dirs {
		var pid, n int
		if _, err := fmt.Sscanf(e.Name(), "lt%xx%x", &pid, &n); err != nil {
			continue
		}
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err == nil {
			continue
		}
		dir := filepath.Join(states(), e.Name())
		script, err := os.ReadFile(filepath.Join(dir, "script"))
		if err == nil {
			_, err = call(string(script), "down", e.Name(), dir)
		}
		if err == nil {
			os.RemoveAll(dir)
		}
	}
}

// root is the folder of the module: tests run in the folder of their package, somewhere below.
func root() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, e := os.Stat(filepath.Join(dir, "lab", "linux-router.sh")); e == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no folder lab with linux-router.sh above the working directory")
		}
		dir = up
	}
	return "", err
}
