package main

import (
	"testing"
	"time"
)

func TestSaidTimes(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1500 * time.Microsecond: "1.5ms", 92258656: "92.3ms", 999960 * time.Microsecond: "1s", 1500: "1.5µs", 1340 * time.Millisecond: "1.3s", 10 * time.Second: "10s", time.Minute: "1m", 90 * time.Second: "1m30s",
		10*time.Minute + 400*time.Millisecond: "10m", 12 * time.Hour: "12h", 20*time.Hour + 30*time.Minute: "20h30m", time.Hour + 5*time.Second: "1h5s",
	} {
		if got := said(d); got != want {
			t.Errorf("%v is said %s, want %s", d, got, want)
		}
	}
}
