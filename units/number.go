package units

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

var (
	errNumber = errors.New("want a decimal number")
	errLarge  = errors.New("too large")
)

// number reads the decimal number that s begins with, and gives what follows it without leading spaces. The number is
// value(shift): what was written, times 10^shift. A unit's prefix only moves the point, so 9.4 with G is exactly 9.4e9.
func number(s string) (value func(shift int) (float64, error), rest string, err error) {
	n := span(s, "0123456789.")
	digits, exp := s[:n], 0
	if strings.Trim(digits, ".") == "" || strings.Count(digits, ".") > 1 {
		return nil, s, errNumber
	}
	rest = s[n:]
	if len(rest) > 1 && (rest[0] == 'e' || rest[0] == 'E') {
		n := 1
		if rest[1] == '+' || rest[1] == '-' {
			n = 2
		}
		if d := span(rest[n:], "0123456789"); d > 0 {
			if exp, err = strconv.Atoi(rest[1 : n+d]); err != nil || exp > 9999 || exp < -9999 {
				return nil, s, errors.New("want an exponent of a few digits")
			}
			rest = rest[n+d:]
		}
	}
	value = func(shift int) (float64, error) {
		v, err := strconv.ParseFloat(digits+"e"+strconv.Itoa(exp+shift), 64)
		if err != nil || math.IsInf(v, 0) {
			return 0, errLarge
		}
		return v, nil
	}
	return value, strings.TrimLeft(rest, " "), nil
}

// span is how many of the first bytes of s are in set.
func span(s, set string) int {
	return len(s) - len(strings.TrimLeft(s, set))
}

// decimal is v · 10^shift in decimal. The digits are the shortest that read back as v and only the point moves, so number
// reads exactly v again.
func decimal(v float64, shift int) string {
	m, e, ok := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	if !ok {
		return m // Inf, NaN
	}
	exp, _ := strconv.Atoi(e)
	sign := m[:span(m, "-")]
	digits := strings.Replace(m[len(sign):], ".", "", 1)
	before := exp + shift + 1 // digits before the point
	switch {
	case v == 0:
		return "0"
	case before > 21 || before < -6:
		return m + "e" + strconv.Itoa(exp+shift)
	case before <= 0:
		return sign + "0." + strings.Repeat("0", -before) + digits
	case before >= len(digits):
		return sign + digits + strings.Repeat("0", before-len(digits))
	}
	return sign + digits[:before] + "." + digits[before:]
}
