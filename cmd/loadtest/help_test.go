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
	const indent = 30
	word := strings.Repeat("é", 20)
	text := strings.TrimSpace(strings.Repeat(word+" ", 9))
	got := strings.Repeat(" ", indent) + wrapped(text, indent)
	lines := strings.Split(got, "\n")
	for i, line := range lines {
		n := len([]rune(line))
		if n > columns || i < len(lines)-1 && n+1+20 <= columns || !strings.HasPrefix(line, strings.Repeat(" ", indent)+word) {
			t.Errorf("line %d has %d columns of %d: %q", i+1, n, columns, line)
		}
	}
	if strings.Join(strings.Fields(got), " ") != text || len(lines) < 2 {
		t.Errorf("%d lines: %s", len(lines), got)
	}
	if got := wrapped(strings.Repeat("x", 200), indent); strings.Contains(got, "\n") {
		t.Errorf("a long word: %q", got)
	}
}
