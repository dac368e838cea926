package afpacket

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"loadtest/internal/spell"
)

// namespaces is where ip-netns(8) keeps named network namespaces.
const namespaces = "/run/netns"

// within runs f on a thread that is in the network namespace ns; "" is the current one. What f opens stays in ns.
func within(ns string, f func() error) error {
	if ns == "" {
		return f()
	}
	path := ns
	if !strings.Contains(ns, "/") {
		path = filepath.Join(namespaces, ns)
	}
	done := make(chan error)
	go func() {
		// The thread is never unlocked: it ends with this goroutine, and nobody meets it in the wrong namespace.
		runtime.LockOSThread()
		done <- enter(ns, path, f)
	}()
	return <-done
}

func enter(ns, path string, f func() error) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no network namespace %q; there are: %s", ns, list(named()))
	} else if err != nil {
		return fmt.Errorf("network namespace %q: %w", ns, errors.Unwrap(err))
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

// named lists the network namespaces that have a name.
func named() (names []string) {
	entries, _ := os.ReadDir(namespaces)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// missing says that there is no such interface, and which ones may have been meant.
func missing(iface, ns string) error {
	text := fmt.Sprintf("port %q: no such interface", iface)
	if ns != "" {
		text = fmt.Sprintf("port %q: no such interface in namespace %s", iface+"@"+ns, ns)
	}
	var hints []string
	if near := near(iface, interfaces(ns)); len(near) > 0 {
		hints = append(hints, "Near: "+list(near))
	}
	for _, other := range append([]string{""}, named()...) {
		if other == ns || !slices.Contains(interfaces(other), iface) {
			continue
		} else if other == "" {
			hints = append(hints, "outside of it: "+iface)
		} else {
			hints = append(hints, fmt.Sprintf("in namespace %s: %s@%s", other, iface, other))
		}
	}
	all := "ip -br link"
	if ns != "" && !strings.Contains(ns, "/") {
		all = "ip -br -n " + ns + " link"
	}
	if len(hints) > 0 {
		hints := strings.Join(hints, "; ")
		text += ". " + strings.ToUpper(hints[:1]) + hints[1:]
	}
	return fmt.Errorf("%s. All: %s", text, all)
}

func interfaces(ns string) (names []string) {
	_ = within(ns, func() error { // a namespace that cannot be entered has nothing to offer
		all, err := net.Interfaces()
		for _, i := range all {
			names = append(names, i.Name)
		}
		return err
	})
	return names
}

// near picks the names that are at most two letters from the wanted one, or begin with it.
func near(want string, names []string) (found []string) {
	for _, name := range names {
		d := spell.Slips(want, name)
		if d <= 1 || d == 2 && len(want) > 3 || want != "" && strings.HasPrefix(name, want) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// list joins names, the first twelve of them.
func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	if len(names) > 12 {
		return strings.Join(names[:12], ", ") + fmt.Sprintf(" and %d more", len(names)-12)
	}
	return strings.Join(names, ", ")
}
