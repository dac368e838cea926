package device

import (
	"slices"
	"testing"
)

func TestParseCPUs(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want CPUs
	}{
		{"0-3,8\n", CPUs{0, 1, 2, 3, 8}},
		{"5", CPUs{5}},
		{"0,2,4-5", CPUs{0, 2, 4, 5}},
		{"", nil},
		{"\n", nil},
		{"3-1", nil},
		{"-1", nil},
		{"2,1", nil},
		{"0-99999", nil},
		{"a", nil},
		{"1-b", nil},
	} {
		if got := parseCPUs(tt.in); !slices.Equal(got, tt.want) {
			t.Errorf("parseCPUs(%q) = %v, want %v", tt.in, got, tt.want)
		}
	}
}

func TestCPUsString(t *testing.T) {
	for _, tt := range []struct {
		in   CPUs
		want string
	}{{CPUs{0, 1, 2, 3, 8}, "0-3,8"}, {CPUs{4, 5}, "4-5"}, {CPUs{1, 3}, "1,3"}, {nil, ""}} {
		if got := tt.in.String(); got != tt.want {
			t.Errorf("%#v is written %q, want %q", tt.in, got, tt.want)
		}
	}
}

// FuzzParseCPUs: what is read is in order, each number once, and is read again from what is written.
func FuzzParseCPUs(f *testing.F) {
	f.Add("0-3,8")
	f.Add("8191,1")
	f.Fuzz(func(t *testing.T, text string) {
		got := parseCPUs(text)
		for i := range got {
			if got[i] < 0 || got[i] >= most || i > 0 && got[i] <= got[i-1] {
				t.Fatalf("%q is %v", text, []int(got))
			}
		}
		if again := parseCPUs(got.String()); !slices.Equal(got, again) {
			t.Fatalf("%q is %v, written %s, read again %v", text, []int(got), got, []int(again))
		}
	})
}
