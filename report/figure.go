package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"loadtest/units"
)

// absent stands in texts for what was not measured.
const absent = "–"

// A scale is the unit that all rates of a text share, so that columns compare.
type scale struct {
	prefix   string
	unit     string
	base     float64
	decimals int
	digits   int // that count at least, of small numbers beside large ones; 0: no matter
}

// scaleFor chooses Gbps from 100 Mbit/s up, as Snabb's texts always do, and finer units for slow lines.
func scaleFor(bps float64) scale {
	switch {
	case bps >= 100e6:
		return scale{unit: "Gbps", base: 1e9, decimals: 3}
	case bps >= 100e3:
		return scale{unit: "Mbps", base: 1e6, decimals: 3}
	case bps > 0:
		return scale{unit: "kbps", base: 1e3, decimals: 3}
	}
	return scale{unit: "Gbps", base: 1e9, decimals: 3}
}

// factors is the scale of multiples of the captured pace.
func factors() scale { return scale{prefix: "x", base: 1, decimals: 3} }

// finer has the decimals that a step between rates needs, if that is finer than the usual three: neighbours then differ. A step
// that no few decimals write, as a third, gets three digits that count.
func (s scale) finer(step *float64) scale {
	if step == nil || !(*step > 0) || *step/s.base >= 0.001 {
		return s
	}
	x := *step / s.base
	first := int(math.Ceil(-math.Log10(x) - 1e-9))
	for d := first; d <= first+2; d++ {
		s.decimals = min(d, 12)
		if n := x * math.Pow10(d); math.Abs(n-math.Round(n)) < 1e-6 {
			break
		}
	}
	return s
}

// number is a rate without its unit.
func (s scale) number(bps *float64) string {
	if bps == nil {
		return absent
	}
	x := *bps / s.base
	decimals := s.decimals
	if a := math.Abs(x); s.digits > 0 && a > 0 {
		decimals = min(max(decimals, s.digits-1-int(math.Floor(math.Log10(a)))), 12)
	}
	return fmt.Sprintf("%s%.*f", s.prefix, decimals, x)
}

// rate is a rate with its unit.
func (s scale) rate(bps *float64) string {
	if bps == nil {
		return absent
	}
	return strings.TrimSpace(s.number(bps) + " " + s.unit)
}

// six is n/base with Lua's six decimals, as Snabb prints rates.
func six(n *float64, base float64) string {
	if n == nil {
		return absent
	}
	return fmt.Sprintf("%f", *n/base)
}

// share is n of a whole in percent.
func share(r *float64) string {
	if r == nil {
		return absent
	}
	return percent(*r)
}

// part is n of a whole in percent; a dash if there is no whole.
func part(n, of int64) string {
	if of == 0 {
		return absent
	}
	return percent(float64(n) / float64(of))
}

// percent has three digits that count, so that shares close to a goal stay apart: 1.04 %, 0.992 %, 10 %.
func percent(ratio float64) string {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(ratio*100, 'g', 3, 64), 64)
	return strconv.FormatFloat(short, 'f', -1, 64) + " %"
}

// mpps has at least three digits that count: 14.88, 0.906, 0.0204.
func mpps(pps *float64) string {
	if pps == nil {
		return absent
	}
	x := *pps / 1e6
	switch a := math.Abs(x); {
	case a == 0:
		return "0"
	case a >= 9.9995:
		return fmt.Sprintf("%.2f", x)
	case a >= 0.09995:
		return fmt.Sprintf("%.3f", x)
	default:
		return fmt.Sprintf("%.*f", min(2-int(math.Floor(math.Log10(a))), 12), x)
	}
}

// delay is a time in ns to about three digits: 850ns, 3.4µs, 112µs, 1.25ms, 12.5ms, 1.25s.
func delay(ns *int64) string {
	if ns == nil {
		return absent
	}
	n := float64(*ns)
	switch {
	case n < 0:
		return "-" + delay(new(-*ns))
	case n < 1e3:
		return fmt.Sprintf("%.0fns", n)
	case n < 9.95e3:
		return fmt.Sprintf("%.1fµs", n/1e3)
	case n < 999.5e3:
		return fmt.Sprintf("%.0fµs", n/1e3)
	case n < 9.995e6:
		return fmt.Sprintf("%.2fms", n/1e6)
	case n < 999.5e6:
		return fmt.Sprintf("%.1fms", n/1e6)
	}
	return fmt.Sprintf("%.2fs", n/1e9)
}

// seconds is a time as trial lines have it.
func seconds(ns int64) string { return fmt.Sprintf("%.2f s", time.Duration(ns).Seconds()) }

// pad fills s with spaces to a width in characters: to the right of it, or to the left if width is negative.
func pad(s string, width int) string {
	n := utf8.RuneCountInString(s)
	if width < 0 {
		return strings.Repeat(" ", max(0, -width-n)) + s
	}
	return s + strings.Repeat(" ", max(0, width-n))
}

// columns aligns rows: a column whose head begins with ">" is flush right. Without a head no head is written.
func columns(head []string, rows [][]string) string {
	width := make([]int, len(head))
	right := make([]bool, len(head))
	titles := make([]string, len(head))
	named := false
	for i, h := range head {
		titles[i], right[i] = strings.CutPrefix(h, ">")
		named = named || titles[i] != ""
	}
	if named {
		rows = append([][]string{titles}, rows...)
	}
	for _, r := range rows {
		for i, c := range r {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		var line strings.Builder
		for i, c := range r {
			w := width[i]
			if right[i] {
				w = -w
			}
			line.WriteString("  " + pad(c, w))
		}
		b.WriteString(strings.TrimRight(line.String()[1:], " ") + "\n")
	}
	return b.String()
}

// count is a count; a dash where it was not measured.
func count(n *int64) string {
	if n == nil {
		return absent
	}
	return fmt.Sprint(*n)
}

// value is a number that counts as 0 where it is absent.
func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// least is the smaller of two numbers that may be absent, most the larger.
func least(a, b *float64) *float64 {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}

func most[T int64 | float64](a, b *T) *T {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// bare is a factor as a bare number; 0 if none passed.
func bare(factor *float64) string {
	if factor == nil {
		return "0"
	}
	return strconv.FormatFloat(math.Round(*factor*1e9)/1e9, 'f', -1, 64)
}

// times is a number times another; absent if the number is.
func times(n *float64, by float64) *float64 {
	if n == nil {
		return nil
	}
	return Number(*n * by)
}

// plain is the bare number that ends a search: Gbit/s, 0 if no rate passed.
func plain(bps *float64) string {
	if bps == nil || math.IsNaN(*bps) {
		return "0"
	}
	return units.PlainGbps(units.BitRate(*bps))
}
