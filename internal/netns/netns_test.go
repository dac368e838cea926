package netns

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestNear(t *testing.T) {
	names := []string{"lo", "ens1f1", "ens1f0", "eth0", "eth10"}
	for _, tt := range []struct {
		want string
		near []string
	}{
		{"ens1f01", []string{"ens1f0", "ens1f1"}},
		{"ens", []string{"ens1f0", "ens1f1"}},
		{"eth1", []string{"eth0", "eth10"}},
		{"l0", []string{"lo"}},
		{"br0", nil}, // two slips of three letters
		{"", nil},
	} {
		if got := near(tt.want, names); !slices.Equal(got, tt.near) {
			t.Errorf("near(%q) = %q, want %q", tt.want, got, tt.near)
		}
	}
}

func TestList(t *testing.T) {
	var many []string
	for i := range 14 {
		many = append(many, fmt.Sprint(i))
	}
	for _, tt := range []struct {
		names []string
		want  string
	}{{nil, "none"}, {many[:2], "0, 1"}, {many, "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more"}} {
		if got := list(tt.names); got != tt.want {
			t.Errorf("list(%q) = %q, want %q", tt.names, got, tt.want)
		}
	}
}

// TestHere is true on every system: the current namespace has interfaces, and a missing one is told.
func TestHere(t *testing.T) {
	if err := Within("", func() error { return fmt.Errorf("mine") }); err == nil || err.Error() != "mine" {
		t.Errorf("Within = %v, want the error of f", err)
	}
	here := Interfaces("")
	if len(here) == 0 {
		t.Skip("no interface here")
	}
	err := Missing(here[0]+"x", "")
	if want := fmt.Sprintf("port %q: no such interface. Near: ", here[0]+"x"); !strings.HasPrefix(err.Error(), want) ||
		!strings.Contains(err.Error(), here[0]) || !strings.HasSuffix(err.Error(), ". All: loadtest ports") {
		t.Errorf("Missing = %v, want %s…", err, want)
	}
}
