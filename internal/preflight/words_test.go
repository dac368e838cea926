package preflight

import (
	"math"
	"testing"

	"loadtest/units"
)

func TestWords(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{delay(0), "0s"}, {delay(850), "850ns"}, {delay(999), "999ns"}, {delay(1000), "1µs"}, {delay(3_449), "3.45µs"}, {delay(99_950), "100µs"},
		{delay(112_400), "112µs"}, {delay(999_400), "999µs"}, {delay(999_600), "1ms"}, {delay(1_254_000), "1.25ms"}, {delay(12_540_000), "12.5ms"},
		{delay(1e9), "1s"}, {delay(59_440_000_000), "59.4s"}, {delay(59_600_000_000), "1m"}, {delay(62_500_000_000), "1m3s"}, {delay(3_600e9), "1h"},
		{delay(7_260e9), "2h1m"}, {delay(math.MaxInt64 / 2), "1281023h53m38s"},
		{bytes(0), "0 B"}, {bytes(999), "999 B"}, {bytes(1000), "1 kB"}, {bytes(999_499), "999 kB"}, {bytes(999_500), "1 MB"}, {bytes(61_230_000), "61.2 MB"},
		{bytes(8e9), "8 GB"}, {bytes(15e14), "1.5e+03 TB"},
		{short(14.2e9), "14.2 Gbps"}, {short(10e9), "10 Gbps"}, {short(500), "500 bps"}, {short(units.BitRate(math.Inf(1))), "max"},
		{key("TCP"), "tcp"}, {key("IP header"), "ip_header"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s, want %s", tt.got, tt.want)
		}
	}
}

// Never more than what it is of, and at most 1 % less.
func TestFloor(t *testing.T) {
	for _, tt := range []struct{ v, want float64 }{{7.0459, 7.04}, {1220.7, 1220}, {0.12207, 0.122}, {1, 1}, {999.9, 999}, {1e9, 1e9}, {0.001, 0.001}} {
		if got := floor(tt.v); math.Abs(got-tt.want) > 1e-9*tt.want || got > tt.v || got < 0.99*tt.v {
			t.Errorf("floor(%v) = %v, want %v", tt.v, got, tt.want)
		}
	}
}
