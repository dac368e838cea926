package guard

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadtest/internal/lab"
	"loadtest/internal/netns"
)

// files lists the notes in a folder.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "lock" {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestHold(t *testing.T) {
	lab.Need(t, "netns")
	wire := lab.Veth(t)
	a, b := wire.Prefix+"-a", wire.Prefix+"-b"
	dir := t.TempDir()
	other := start(t, nil, nil, "hold", "a0", a, dir)
	if said := other.said(t); said != "done: <nil>" {
		t.Fatal(said)
	}
	ours, theirs := fmt.Sprintf("%d.json", os.Getpid()), fmt.Sprintf("%d.json", other.Process.Pid)
	refused := fmt.Sprintf("P is in use by another loadtest (pid %d: -test.run=^TestChild$): wait for it, or --force-port P", other.Process.Pid)
	hold := func(name string, want string, notes []string, ports ...Port) {
		t.Helper()
		release, err := Hold(ports, dir)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != want {
			t.Errorf("%s:\n got %v\nwant %s", name, err, want)
		}
		if diff := cmp.Diff(notes, files(t, dir)); diff != "" {
			t.Errorf("%s: notes (-want +got):\n%s", name, diff)
		}
		if err == nil {
			release()
			release() // does no harm
			if _, err := os.Stat(filepath.Join(dir, ours)); err == nil {
				t.Errorf("%s: the note stays", name)
			}
		}
	}
	both := []string{ours, theirs}
	if ours > theirs {
		both = []string{theirs, ours}
	}
	p := Port{Name: "P", Interface: "a0", Namespace: a}
	path := Port{Name: "P", Interface: "a0", Namespace: "/run/netns/" + a}
	forced := Port{Name: "P", Interface: "a0", Namespace: a, Forced: true}
	free := Port{Name: "Q", Interface: "b0", Namespace: b}
	hold("the same port", refused, []string{theirs}, p)
	hold("by another name of the namespace", refused, []string{theirs}, free, path)
	if err := netns.Within(a, func() error {
		hold("from inside", refused, []string{theirs}, Port{Name: "P", Interface: "a0"})
		return nil
	}); err != nil {
		t.Error(err)
	}
	hold("another interface", "", both, Port{Name: "P", Interface: "a1", Namespace: a})
	hold("another namespace", "", both, free, Port{Name: "P", Interface: "a0", Namespace: b})
	hold("forced", "", both, forced, free)
	hold("one forced, the other in use", refused, []string{theirs}, forced, p)
	hold("none", "", []string{theirs})
	other.kill()
	hold("dead", "", []string{ours}, p)
	again := start(t, nil, nil, "hold", "a0", a, dir)
	again.said(t)
	again.end()
	hold("ended", "", []string{ours}, p)
}

// TestNote: what a note says, and which notes are of living loadtests.
func TestNote(t *testing.T) {
	dir := t.TempDir()
	p := Port{Name: "P", Interface: "x0"}
	release, err := Hold([]Port{p}, dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, fmt.Sprintf("%d.json", os.Getpid()))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	release()
	self, _ := status(os.DirFS("/proc"), os.Getpid())
	id, err := netns.ID("")
	want := fmt.Sprintf(`{"pid":%d,"start_ticks":%d,"command":%q,"ports":[{"interface":"x0","namespace_inode":%d}]}`+"\n",
		os.Getpid(), self.start, strings.Join(os.Args[1:], " "), id)
	if string(text) != want || err != nil {
		t.Errorf("note\n got %swant %s", text, want)
	}

	parent, ok := status(os.DirFS("/proc"), os.Getppid())
	if !ok {
		t.Fatal("no parent")
	}
	put := func(file string, pid int, start uint64, ports []held) {
		text, _ := json.Marshal(note{PID: pid, Start: start, Command: "find-limit a.pcap eth2 eth3", Ports: ports})
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ports := []held{{"x0", id}}
	put("1.json", os.Getppid(), parent.start+1, ports) // the number went to another process
	put("2.json", 1<<22+1, 7, ports)                   // no such process: the largest number is 1<<22
	put("3.json", os.Getppid(), parent.start, nil)     // lives, without our port
	if err := os.WriteFile(filepath.Join(dir, "4.json"), []byte("{new"), 0o644); err != nil {
		t.Fatal(err)
	}
	release, err = Hold([]Port{p}, dir)
	if err != nil {
		t.Fatal(err)
	}
	release()
	if diff := cmp.Diff([]string{"3.json", "4.json"}, files(t, dir)); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	put("3.json", os.Getppid(), parent.start, ports)
	refused := fmt.Sprintf("P is in use by another loadtest (pid %d: find-limit a.pcap eth2 eth3): wait for it, or --force-port P", os.Getppid())
	if _, err := Hold([]Port{p}, dir); err == nil || err.Error() != refused {
		t.Errorf("\n got %v\nwant %s", err, refused)
	}
}

// TestRace: of some that start at once, one gets the port.
func TestRace(t *testing.T) {
	dir := t.TempDir()
	for range 5 {
		var children []*child
		for range 8 {
			children = append(children, start(t, nil, nil, "hold", "x0", "/proc/self/ns/net", dir))
		}
		got := make(map[bool]int)
		for _, c := range children {
			said := c.said(t)
			if said != "done: <nil>" && !strings.Contains(said, " is in use by another loadtest (pid ") {
				t.Error(said)
			}
			got[said == "done: <nil>"]++
		}
		if got[true] != 1 {
			t.Errorf("%d of %d got the port", got[true], len(children))
		}
		for _, c := range children {
			c.end()
		}
		if left := files(t, dir); left != nil {
			t.Errorf("%q are left", left)
		}
	}
}

// TestFolder: an ordinary user notes where he may write.
func TestFolder(t *testing.T) {
	lab.Need(t, "root")
	root, err := os.MkdirTemp("", "loadtest-guard")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(root)
	nobody := &syscall.Credential{Uid: 65534, Gid: 65534}
	run, tmp := filepath.Join(root, "run"), filepath.Join(root, "tmp")
	for _, dir := range []string{run, tmp} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(tmp, "loadtest-65534")
	for _, tt := range []struct {
		name, run, dir string
		prepare        func() error
		said           string
	}{
		{"user's folder", run, filepath.Join(run, "loadtest"), nil, "done: <nil>"},
		{"no such folder", filepath.Join(root, "none"), foreign, nil, "done: <nil>"},
		{"temporary folder", "", foreign, nil, "done: <nil>"},
		{"somebody else's", "", foreign, func() error { return os.Chown(foreign, 0, 0) }, foreign + " is not a folder of user 65534"},
		{"named", "", root, nil, "done: note which ports are in use: " + root + " is not a folder of user 65534"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.prepare != nil {
				if err := tt.prepare(); err != nil {
					t.Fatal(err)
				}
			}
			what := []string{"hold", "x0", "/proc/self/ns/net"}
			if tt.name == "named" {
				what = append(what, root)
			}
			c := start(t, nobody, []string{"XDG_RUNTIME_DIR=" + tt.run, "TMPDIR=" + tmp}, what...)
			said := c.said(t)
			if !strings.HasSuffix(said, tt.said) {
				t.Errorf("\n got %s\nwant %s", said, tt.said)
			}
			if got := files(t, tt.dir); tt.said == "done: <nil>" && len(got) != 1 {
				t.Errorf("%s has %q, want one note", tt.dir, got)
			}
			c.end()
		})
	}
}

func TestHoldErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	here := []Port{{Name: "P", Interface: "x0"}}
	for _, tt := range []struct {
		ports []Port
		dir   string
		want  string
	}{
		{here, dir + "/no/folder", "note which ports are in use: mkdir " + dir + "/no/folder: no such file or directory"},
		{here, file, fmt.Sprintf("note which ports are in use: %s is not a folder of user %d", file, os.Geteuid())},
		{here, dir + "/link", fmt.Sprintf("note which ports are in use: %s/link is not a folder of user %d", dir, os.Geteuid())},
		{[]Port{{Name: "x0@nosuchnamespace", Interface: "x0", Namespace: "nosuchnamespace"}}, dir,
			`port "x0@nosuchnamespace": no network namespace "nosuchnamespace"; there are: `},
	} {
		release, err := Hold(tt.ports, tt.dir)
		if err == nil || release != nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("\n got %v\nwant %s", err, tt.want)
		}
	}
}
