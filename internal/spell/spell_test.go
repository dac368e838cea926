package spell

import "testing"

func TestSlips(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "eth0", 4}, {"eth0", "", 4}, {"eth0", "eth0", 0}, {"eth0", "eth1", 1}, {"ens1f01", "ens1f0", 1}, {"nod2", "node2", 1},
		{"nrotues", "nroutes", 2}, {"kitten", "sitting", 3}} {
		if got := Slips(tt.a, tt.b); got != tt.want {
			t.Errorf("Slips(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
