package preflight

import (
	"strings"
	"time"

	"loadtest/units"
)

// short is a rate without zeros that say nothing: 14.2 Gbps.
func short(b units.BitRate) string {
	number, unit, _ := strings.Cut(b.String(), " ")
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return strings.TrimSpace(number + " " + unit)
}

// delay is a time in ns to about three digits: 850ns, 3.4µs, 112µs, 1.25ms, 12.5s; from a minute on 1m2s.
func delay(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d >= time.Minute-time.Second/2:
		text := d.Round(time.Second).String()
		return strings.Replace(strings.Replace(text, "m0s", "m", 1), "h0m", "h", 1)
	case d < time.Microsecond:
		return d.String()
	}
	unit := time.Second
	for d < unit {
		unit /= 1000
	}
	for step := unit / 100; ; step *= 10 {
		if r := d.Round(step); r < 1000*step || step == unit {
			return r.String()
		}
	}
}

// bytes is an amount of memory or data.
func bytes(n int64) string { return units.Bytes(n).String() }

// key is a name as JSON has it.
func key(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "_") }
