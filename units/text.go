package units

import (
	"math"
	"strconv"
	"strings"
)

// String is the rate with three decimals in the largest unit that leaves it at least 1: "6.214 Gbps"; "max" for +Inf.
func (b BitRate) String() string { return withUnit(float64(b), "bps") }

// String is the rate with three decimals in the largest unit that leaves it at least 1: "9.247 Mpps"; "max" for +Inf.
func (p PacketRate) String() string { return withUnit(float64(p), "pps") }

func withUnit(v float64, unit string) string {
	if math.IsInf(v, 1) {
		return "max"
	}
	prefix, shift := si(v)
	if shift < 12 && math.Abs(v)/math.Pow10(shift) >= 999.9995 { // would be printed as 1000.000
		prefix, shift = si(math.Pow10(shift + 3))
	}
	if shift == 0 {
		return fixed(v, 3) + " " + unit
	}
	return strconv.FormatFloat(v/math.Pow10(shift), 'f', 3, 64) + " " + prefix + unit
}

// PlainGbps is a rate as a bare number of Gbit/s, to 1 bit/s: 0.609, 10, 0.0125.
func PlainGbps(b BitRate) string { return fixed(float64(b/Gbps), 9) }

// fixed is v rounded to so many decimals, without zeros that say nothing.
func fixed(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}

// Ratio is a share, 0 to 1.
type Ratio float64

// String is the share in percent: one decimal, "62.1 %"; below 1 % two digits that count, "0.096 %".
func (r Ratio) String() string {
	percent := float64(r) * 100
	switch a := math.Abs(percent); {
	case a == 0:
		return "0 %"
	case a < 0.995:
		e := math.Floor(math.Log10(a))
		return strconv.FormatFloat(percent, 'f', min(1-int(e), 12), 64) + " %"
	}
	return strconv.FormatFloat(percent, 'f', 1, 64) + " %"
}
