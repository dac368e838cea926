package trial

import (
	"fmt"
	"time"
)

// How long a trial may stand still and yet count. A stop of a hot thread up to the first is what a busy machine does all the time,
// and shows as lateness or as unsent packets; a machine cannot sleep as short as the second.
const (
	mostStolen    = 100 * time.Millisecond
	mostSuspended = 10 * time.Millisecond
)

// Stall says in words why a trial during which the tester stood still does not count, as "the machine slept for 3 s" or "the
// tester was stopped for 250 ms"; empty where it did not.
func (r *Result) Stall() string {
	switch {
	case r.Suspended > mostSuspended:
		return "the machine slept for " + short(r.Suspended)
	case r.Stolen > mostStolen:
		return "the tester was stopped for " + short(r.Stolen)
	}
	return ""
}

// short is a time as said: "250 ms", "3 s", "12.5 s".
func short(d time.Duration) string {
	if d = d.Round(time.Millisecond); d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%g s", d.Round(100*time.Millisecond).Seconds())
}
