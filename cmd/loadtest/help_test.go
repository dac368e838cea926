package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// Every flag of a verb that sends has its place in the help, and stands there once.
func TestFlagGroups(t *testing.T) {
	var placed []string
	for _, g := range flagGroups() {
		placed = append(placed, strings.Fields(g.flags)...)
	}
	seen := map[string]bool{}
	for _, v := range newRoot().Commands() {
		if v.Flags().Lookup("rate") == nil {
			continue
		}
		v.LocalFlags().VisitAll(func(f *pflag.Flag) {
			seen[f.Name] = true
			if !slices.Contains(placed, f.Name) && !f.Hidden && f.Name != "help" {
				t.Errorf("%s: --%s is in no group", v.Name(), f.Name)
			}
		})
	}
	for i, name := range placed {
		if !seen[name] || slices.Contains(placed[:i], name) {
			t.Errorf("--%s is placed, but known %v, or placed twice", name, seen[name])
		}
	}
}

func TestWrapped(t *testing.T) {
	word := strings.Repeat("é", 20)
	text := strings.TrimSpace(strings.Repeat(word+" ", 6))
	got := wrapped(text, 30)
	lines := strings.Split(got, "\n")
	if len(lines) != 2 || len([]rune(lines[0])) != 4*20+3-20-1 || !strings.HasPrefix(lines[1], strings.Repeat(" ", 30)+word) || strings.Join(strings.Fields(got), " ") != text {
		t.Errorf("%d columns, indent 30:\n%s", columns, got)
	}
	if got := wrapped(strings.Repeat("x", 200), 30); strings.Contains(got, "\n") {
		t.Errorf("a long word: %q", got)
	}
}
