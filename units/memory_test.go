package units_test

import (
	"strings"
	"testing"

	"loadtest/units"
)

func TestParseMemory(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int64
		err  string
	}{
		{"512MB", 512e6, ""}, {"8GB", 8e9, ""}, {"8gib", 8 << 30, ""}, {"1.5 GiB", 3 << 29, ""}, {"2T", 2e12, ""}, {"100M", 1e8, ""},
		{"2000000B", 2e6, ""}, {"2048KiB", 2 << 20, ""}, {"4e3MB", 4e9, ""},
		{"8", 0, `"8": want a unit.`}, {"many", 0, "want an amount of memory."}, {"8PB", 0, `unknown unit "pb".`}, {"8Gbps", 0, "unknown unit"},
		{"8ib", 0, "unknown unit"}, {"8GBB", 0, "unknown unit"}, {"-1GB", 0, "want an amount of memory."}, {"1e30GB", 0, "too large"}, {"1kB", 0, "want 1 MiB or more."}, {"", 0, "want an amount"},
	} {
		got, err := units.ParseMemory(tt.text)
		if got != tt.want || (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q: %d, %v; want %d, %q", tt.text, got, err, tt.want, tt.err)
		}
	}
}
