package trial_test

import (
	"testing"
	"time"

	"loadtest/trial"
)

func TestStall(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name              string
		stolen, suspended time.Duration
		want              string
	}{
		{"none", 0, 0, ""},
		{"as much as counts", 100 * ms, 10 * ms, ""},
		{"stopped a little too long", 100*ms + 1, 0, "the tester was stopped for 100 ms"},
		{"stopped", 250*ms + 123456, 0, "the tester was stopped for 250 ms"},
		{"nearly a second", 999*ms + 999999, 0, "the tester was stopped for 1 s"},
		{"stopped for long", 75*time.Second + 449*ms, 0, "the tester was stopped for 75.4 s"},
		{"slept a little too long", 0, 10*ms + 1, "the machine slept for 10 ms"},
		{"slept", 0, 3*time.Second + 4*ms, "the machine slept for 3 s"},
		{"slept all night", 0, 9 * time.Hour, "the machine slept for 32400 s"},
		{"slept, and was stopped when it woke", 250 * ms, 3 * time.Second, "the machine slept for 3 s"},
	} {
		r := trial.Result{Stolen: tt.stolen, Suspended: tt.suspended}
		if got := r.Stall(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
