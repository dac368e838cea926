package units

import (
	"fmt"
	"math"
	"strings"
)

// Bytes is an amount of memory or data.
type Bytes int64

// String has three digits: "61.2 MB".
func (b Bytes) String() string {
	v, unit := float64(b), "B"
	for _, u := range []string{"kB", "MB", "GB", "TB"} {
		if v < 999.5 {
			break
		}
		v, unit = v/1000, u
	}
	return fmt.Sprintf("%.3g %s", v, unit)
}

// ParseMemory reads an amount of memory in bytes: 512MB, 8GB, 8GiB. A bare number is refused: it could be anything.
func ParseMemory(s string) (bytes int64, err error) {
	const forms = "in powers of 1000: 512MB, 8GB; of 1024: 512MiB, 8GiB"
	text := strings.TrimSpace(s)
	value, unit, err := number(text)
	if err != nil {
		return 0, fmt.Errorf("%q: want an amount of memory. %s", s, forms)
	}
	unit = strings.ToLower(unit)
	v, power := 0.0, strings.IndexByte("bkmgt", (unit + "?")[0])
	binary := strings.HasSuffix(unit, "ib")
	switch rest := strings.TrimSuffix(strings.TrimSuffix(unit, "b"), "i"); {
	case unit == "":
		return 0, fmt.Errorf("%q: want a unit. %s", s, forms)
	case power < 0 || len(rest) > 1 || power == 0 && unit != "b":
		return 0, fmt.Errorf("%q: unknown unit %q. %s", s, unit, forms)
	case binary:
		if v, err = value(0); err == nil {
			v *= math.Pow(1024, float64(power))
		}
	default:
		v, err = value(3 * power)
	}
	if err != nil || v >= 1<<60 {
		return 0, fmt.Errorf("%q: too large for an amount of memory. %s", s, forms)
	}
	if v < 1<<20 {
		return 0, fmt.Errorf("%q: want 1 MiB or more. %s", s, forms)
	}
	return int64(v), nil
}
