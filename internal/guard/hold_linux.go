package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"loadtest/internal/netns"
)

// A note tells other loadtests what a process uses. It is good as long as a process of that number and start lives.
type note struct {
	PID     int    `json:"pid"`
	Start   uint64 `json:"start_ticks"` // since the machine's start, proc(5)
	Command string `json:"command"`
	Ports   []held `json:"ports"`
}

// held is an interface in use. A namespace may have several names, but only one inode.
type held struct {
	Interface string `json:"interface"`
	Namespace uint64 `json:"namespace_inode"`
}

// Hold notes in the folder dir that this process uses the ports, and refuses them, with a *Refused, while another living
// loadtest does. It comes before a port is opened or changed; release takes the note back. What dead processes left is
// removed. dir "" is /run/loadtest, or where the user may not write there, $XDG_RUNTIME_DIR/loadtest or a folder in /tmp.
func Hold(ports []Port, dir string) (release func(), err error) {
	if len(ports) == 0 {
		return func() {}, nil
	}
	mine, err := describe(ports)
	if err != nil {
		return nil, err
	}
	lock, err := enter(dir)
	if err != nil {
		return nil, fmt.Errorf("note which ports are in use: %w", err)
	}
	defer lock.Close() // and unlock
	dir = filepath.Dir(lock.Name())
	others := living(dir, mine.PID)
	for i, p := range ports {
		if p.Forced {
			continue
		}
		for _, o := range others {
			if slices.Contains(o.Ports, mine.Ports[i]) {
				fact := fmt.Sprintf("is in use by another loadtest (pid %d: %s)", o.PID, o.Command)
				return nil, &Refused{p.Name, []Reason{{fact, "wait for it"}}}
			}
		}
	}
	text, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, strconv.Itoa(mine.PID)+".json")
	if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		os.Remove(path) // half of a note
		return nil, fmt.Errorf("note which ports are in use: %w", err)
	}
	return func() { os.Remove(path) }, nil
}

// describe is this process's note.
func describe(ports []Port) (n note, err error) {
	n.PID = os.Getpid()
	s, ok := status(os.DirFS("/proc"), n.PID)
	if !ok {
		return n, fmt.Errorf("/proc/%d/stat: want the start of this process; is /proc there?", n.PID)
	}
	n.Start = s.start
	n.Command = strings.Join(os.Args[1:], " ")
	for _, p := range ports {
		id, err := netns.ID(p.Namespace)
		if err != nil {
			return n, fmt.Errorf("port %q: %w", p.Name, err)
		}
		n.Ports = append(n.Ports, held{p.Interface, id})
	}
	return n, nil
}

// living reads the notes of other processes, and removes those of dead ones.
func living(dir string, self int) (notes []note) {
	paths, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	for _, path := range paths {
		var n note
		text, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(text, &n) != nil || n.PID == self {
			continue // what cannot be read may be of a newer loadtest
		}
		if s, ok := status(os.DirFS("/proc"), n.PID); ok && s.start == n.Start {
			notes = append(notes, n)
		} else {
			os.Remove(path)
		}
	}
	return notes
}

// enter locks dir, or the first of the usual folders that can be locked, until the returned file is closed.
func enter(dir string) (lock *os.File, err error) {
	if dir != "" {
		return flock(dir)
	}
	var why []string
	for _, dir := range usual() {
		if lock, err = flock(dir); err == nil {
			return lock, nil
		}
		why = append(why, err.Error())
	}
	return nil, errors.New(strings.Join(why, "; "))
}

func usual() []string {
	dirs := []string{"/run/loadtest"}
	if d := os.Getenv("XDG_RUNTIME_DIR"); d != "" {
		dirs = append(dirs, filepath.Join(d, "loadtest"))
	}
	return append(dirs, filepath.Join(os.TempDir(), "loadtest-"+strconv.Itoa(os.Geteuid())))
}

// flock makes the folder, and locks the file "lock" in it. A folder of somebody else's is refused: what is in it may lie.
func flock(dir string) (*os.File, error) {
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	var s unix.Stat_t
	if err := unix.Lstat(dir, &s); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: dir, Err: err}
	}
	if int(s.Uid) != os.Geteuid() || s.Mode&unix.S_IFMT != unix.S_IFDIR {
		return nil, fmt.Errorf("%s is not a folder of user %d", dir, os.Geteuid())
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err {
		case nil:
			return f, nil
		case unix.EINTR:
		default:
			f.Close()
			return nil, &fs.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}
