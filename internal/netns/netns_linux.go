package netns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// named is where ip-netns(8) keeps network namespaces that have a name.
const named = "/run/netns"

// Within runs f on a thread that is in the network namespace ns, a name or a path; "" is the current one. What f opens stays
// in ns. What f starts in other goroutines is not there.
func Within(ns string, f func() error) error {
	if ns == "" {
		return f()
	}
	done := make(chan error)
	go func() {
		// The thread is never unlocked: it ends with this goroutine, and nobody meets it in the wrong namespace.
		runtime.LockOSThread()
		done <- enter(ns, f)
	}()
	return <-done
}

func enter(ns string, f func() error) error {
	file, err := os.Open(path(ns))
	if err != nil {
		return unknown(ns, err)
	}
	defer file.Close()
	switch err := unix.Setns(int(file.Fd()), unix.CLONE_NEWNET); {
	case errors.Is(err, unix.EPERM):
		return fmt.Errorf("entering the network namespace %q needs CAP_SYS_ADMIN: use sudo", ns)
	case err != nil:
		return fmt.Errorf("entering the network namespace %q: %w", ns, err)
	}
	return f()
}

// ID is the number of the namespace's inode: the same namespace under two names has one number.
func ID(ns string) (uint64, error) {
	var s unix.Stat_t
	if err := unix.Stat(path(ns), &s); err != nil {
		return 0, unknown(ns, &fs.PathError{Op: "stat", Path: path(ns), Err: err})
	}
	return s.Ino, nil
}

// Names lists the network namespaces that have a name.
func Names() (names []string) {
	entries, _ := os.ReadDir(named)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func path(ns string) string {
	switch {
	case ns == "":
		return "/proc/thread-self/ns/net"
	case strings.Contains(ns, "/"):
		return ns
	}
	return filepath.Join(named, ns)
}

// unknown says why there is no such namespace.
func unknown(ns string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no network namespace %q; there are: %s", ns, list(Names()))
	}
	return fmt.Errorf("network namespace %q: %w", ns, errors.Unwrap(err))
}
