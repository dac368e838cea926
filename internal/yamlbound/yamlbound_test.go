package yamlbound_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/lexer"

	"loadtest/internal/yamlbound"
)

// What is at a bound passes, what is one beyond it does not, and the fault says where.
func TestBounds(t *testing.T) {
	keys := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "k%d: 1\n", i)
		}
		return b.String()
	}
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"100 empty lines", "a: 1\n" + strings.Repeat("\n", 100) + "b: 2\n", ""},
		{"101 empty lines", "a: 1\n" + strings.Repeat("\n", 101) + "b: 2\n", "102:1 more than 100 empty lines in a row"},
		{"blanks are empty", "a: 1\n" + strings.Repeat("  \n", 101) + "b: 2\n", "102:1 more than 100 empty lines in a row"},
		{"100 brackets", strings.Repeat("[", 100) + strings.Repeat("]", 100), ""},
		{"101 brackets", strings.Repeat("[", 101), "1:101 nested more than 100 deep"},
		{"brackets one behind the other", strings.Repeat("- []\n", 300), ""},
		{"a dash far to the right", strings.Repeat("- ", 51) + "a", "1:101 nested more than 100 deep"},
		{"1000 keys", keys(1000), ""},
		{"1001 keys", keys(1001), "1001:1 more than 1000 keys in one mapping"},
		{"keys of two mappings", keys(999) + "last:\n  " + strings.ReplaceAll(strings.TrimSpace(keys(1000)), "\n", "\n  "), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := yamlbound.Empty([]byte(tt.text))
			if f == nil {
				f = yamlbound.Tokens(lexer.Tokenize(tt.text))
			}
			got := ""
			if f != nil {
				got = fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.What)
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
