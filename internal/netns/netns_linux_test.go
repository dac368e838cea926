package netns_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loadtest/internal/lab"
	"loadtest/internal/netns"
)

func TestWithin(t *testing.T) {
	lab.Need(t, "netns")
	wire := lab.Veth(t)
	a, b := wire.Prefix+"-a", wire.Prefix+"-b"
	before := netns.Interfaces("")
	if names := netns.Names(); !slices.Contains(names, a) || !slices.Contains(names, b) {
		t.Errorf("Names() = %q, want %s and %s among them", names, a, b)
	}
	for ns, want := range map[string]string{a: "a0", b: "b0", "/run/netns/" + b: "b0"} {
		if got := netns.Interfaces(ns); !slices.Contains(got, want) || len(got) > 2 {
			t.Errorf("Interfaces(%q) = %q, want %s and lo", ns, got, want)
		}
	}
	mine := errors.New("mine")
	if err := netns.Within(a, func() error { return mine }); err != mine {
		t.Errorf("Within = %v, want the error of f", err)
	}
	if after := netns.Interfaces(""); !slices.Equal(before, after) {
		t.Errorf("the caller saw %q before and %q after", before, after)
	}
}

func TestID(t *testing.T) {
	lab.Need(t, "netns")
	wire := lab.Veth(t)
	id := func(ns string) uint64 {
		n, err := netns.ID(ns)
		if err != nil || n == 0 {
			t.Errorf("ID(%q) = %d, %v", ns, n, err)
		}
		return n
	}
	a, b, here := id(wire.Prefix+"-a"), id(wire.Prefix+"-b"), id("")
	if a == b || a == here || b == here {
		t.Errorf("three namespaces have the numbers %d, %d and %d", a, b, here)
	}
	other := filepath.Join(t.TempDir(), "same")
	if err := os.Symlink("/run/netns/"+wire.Prefix+"-a", other); err != nil {
		t.Fatal(err)
	}
	if same := id(other); same != a {
		t.Errorf("a namespace has the numbers %d and %d", a, same)
	}
	if inside := uint64(0); netns.Within(wire.Prefix+"-a", func() error { inside = id(""); return nil }) != nil || inside != a {
		t.Errorf("a namespace has the number %d, from within %d", a, inside)
	}
}

func TestErrors(t *testing.T) {
	lab.Need(t, "netns")
	wire := lab.Veth(t)
	none, null := wire.Prefix, "/dev/null"
	for _, tt := range []struct{ ns, want string }{
		{none, `no network namespace "` + none + `"; there are: `},
		{"/run/netns/" + none, `no network namespace "/run/netns/` + none + `"; there are: `},
		{null, `entering the network namespace "/dev/null": invalid argument`},
		{null + "/x", `network namespace "/dev/null/x": not a directory`},
	} {
		err := netns.Within(tt.ns, func() error { t.Error("entered"); return nil })
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("Within(%q) = %v, want %s", tt.ns, err, tt.want)
		}
		if tt.ns == null {
			continue // is no namespace, but has a number
		}
		if _, err := netns.ID(tt.ns); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("ID(%q) = %v, want %s", tt.ns, err, tt.want)
		}
	}
	if got := netns.Interfaces(none); got != nil {
		t.Errorf("Interfaces of a namespace that is not there = %q", got)
	}
}
