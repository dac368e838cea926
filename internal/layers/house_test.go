package layers

import (
	"os"
	"strings"
	"testing"
)

// TestThirdParty compares go.mod with THIRD_PARTY.md: each required module with its version and a licence.
func TestThirdParty(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../THIRD_PARTY.md")
	if err != nil {
		t.Fatal(err)
	}
	required := 0
	for line := range strings.Lines(string(mod)) {
		f := strings.Fields(strings.TrimPrefix(line, "require "))
		if len(f) < 2 || !strings.Contains(f[0], ".") || !strings.HasPrefix(f[1], "v") {
			continue
		}
		required++
		_, licence, ok := strings.Cut(string(page), "\n| "+f[0]+" | "+f[1]+" | ")
		if !ok || strings.HasPrefix(licence, "|") {
			t.Errorf("THIRD_PARTY.md does not list %s %s: make third-party", f[0], f[1])
		}
	}
	if listed := strings.Count(string(page), "\n| ") - 1; listed != required { // less the table's head
		t.Errorf("THIRD_PARTY.md lists %d modules, go.mod requires %d: make third-party", listed, required)
	}
}
