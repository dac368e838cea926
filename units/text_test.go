package units

import (
	"fmt"
	"math"
	"testing"
)

func TestString(t *testing.T) {
	for _, tt := range []struct {
		in   fmt.Stringer
		want string
	}{
		{6.214 * Gbps, "6.214 Gbps"},
		{10 * Gbps, "10.000 Gbps"},
		{609 * Mbps, "609.000 Mbps"},
		{999.9996 * Mbps, "1.000 Gbps"},
		{999.9994 * Mbps, "999.999 Mbps"},
		{400 * Tbps, "400.000 Tbps"},
		{5000 * Tbps, "5000.000 Tbps"},
		{64 * Kbps, "64.000 kbps"},
		{512 * Bps, "512 bps"},
		{0.5 * Bps, "0.5 bps"},
		{999.9999 * Bps, "1.000 kbps"},
		{BitRate(0), "0 bps"},
		{-2 * Gbps, "-2.000 Gbps"},
		{BitRate(math.Inf(1)), "max"},
		{9.247 * Mpps, "9.247 Mpps"},
		{14880952 * Pps, "14.881 Mpps"},
		{1 * Kpps, "1.000 kpps"},
		{PacketRate(20), "20 pps"},
		{Ratio(0), "0 %"},
		{Ratio(1), "100.0 %"},
		{Ratio(0.621), "62.1 %"},
		{Ratio(0.378), "37.8 %"},
		{Ratio(0.01), "1.0 %"},
		{Ratio(0.0099), "0.99 %"},
		{Ratio(0.00997), "1.0 %"},
		{Ratio(0.00581), "0.58 %"},
		{Ratio(0.00096), "0.096 %"},
		{Ratio(1e-9), "0.00000010 %"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			if got := tt.in.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPlainGbps(t *testing.T) {
	for _, tt := range []struct {
		in   BitRate
		want string
	}{
		{609e6, "0.609"},
		{6.09e8 + 1e-7, "0.609"},
		{1e6 * 609 * 1.0000000000000002, "0.609"},
		{10 * Gbps, "10"},
		{100 * Gbps, "100"},
		{12.5 * Mbps, "0.0125"},
		{1 * Bps, "0.000000001"},
		{0.4 * Bps, "0"},
		{0, "0"},
		{400 * Gbps / 3, "133.333333333"},
	} {
		if got := PlainGbps(tt.in); got != tt.want {
			t.Errorf("PlainGbps(%g) = %q, want %q", float64(tt.in), got, tt.want)
		}
	}
}

func TestWireBits(t *testing.T) {
	for _, tt := range []struct {
		frame int
		want  int64
	}{
		{60, 672}, // 64 bytes with FCS: 14.88 Mpps at 10 Gbit/s
		{0, 672},  // padded
		{59, 672},
		{61, 680},
		{1514, 12304}, // 1518 with FCS: 812.7 kpps at 10 Gbit/s
	} {
		if got := WireBits(tt.frame); got != tt.want {
			t.Errorf("WireBits(%d) = %d, want %d", tt.frame, got, tt.want)
		}
	}
}
