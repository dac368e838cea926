package units

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const durationForms = "seconds: 1, 0.5; or with units: 500ms, 1m30s, 12h"

// ParseDuration reads a duration: a bare number is seconds, else Go's units. 0 is allowed, less is not, and what is shorter
// than 1 ns is refused rather than taken for 0.
func ParseDuration(s string) (time.Duration, error) {
	text := strings.TrimSpace(s)
	d, err := time.ParseDuration(text)
	if value, rest, notBare := number(text); notBare == nil && rest == "" {
		var ns float64
		if ns, err = value(9); err == nil && ns >= math.MaxInt64 {
			err = errLarge
		}
		d = time.Duration(math.Round(ns))
	}
	switch {
	case errors.Is(err, errLarge):
		return 0, fmt.Errorf("%q: too large for a duration. %s", s, durationForms)
	case strings.HasPrefix(text, "-"):
		return 0, fmt.Errorf("%q: want 0 or more. %s", s, durationForms)
	case err != nil:
		return 0, fmt.Errorf("%q: want a duration. %s", s, durationForms)
	case d == 0 && strings.ContainsAny(mantissa(text), "123456789"):
		return 0, fmt.Errorf("%q: shorter than 1ns. %s", s, durationForms)
	}
	return d, nil
}

// mantissa is what stands before an exponent.
func mantissa(s string) string {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		return s[:i]
	}
	return s
}

// Size is the length of a frame in bytes with its FCS, as RFC 2544 counts (section 9).
type Size int

// The sizes that ParseSize takes. The longest is Linux' longest MTU (lo, 65536) with header and FCS.
const (
	MinSize Size = MinFrame + FCS
	MaxSize Size = 65536 + 14 + FCS
)

// ParseSize reads a frame's size in bytes with FCS.
func ParseSize(s string) (Size, error) {
	text := strings.TrimSpace(s)
	n, err := strconv.ParseUint(text, 10, 31)
	const forms = "the shortest frame: 64; the longest without jumbo: 1518"
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && n > uint64(MaxSize):
		return 0, fmt.Errorf("%q: want at most %d bytes with FCS. %s", s, MaxSize, forms)
	case err != nil:
		return 0, fmt.Errorf("%q: want a frame's size in bytes with FCS. %s", s, forms)
	case n == MinFrame:
		return 0, fmt.Errorf("%q: a size counts the FCS, %d bytes. %s", s, FCS, forms)
	case n < uint64(MinSize):
		return 0, fmt.Errorf("%q: want at least %d bytes with FCS. %s", s, MinSize, forms)
	}
	return Size(n), nil
}

// Frame is the length without FCS, as packets are stored and sent.
func (z Size) Frame() int { return int(z) - FCS }

// String shows both ways of counting: "64 B (60+FCS)".
func (z Size) String() string { return fmt.Sprintf("%d B (%d+FCS)", int(z), z.Frame()) }

// Loss is the share of packets that may get lost, at least 0, less than 1.
type Loss float64

// ParseLoss reads a share of packets: 0, 0.5%, 1e-5, 10ppm.
func ParseLoss(s string) (Loss, error) {
	const forms = "none: 0; in percent: 0.5%; in millionths: 10ppm; as a share: 1e-5"
	text := strings.TrimSpace(s)
	value, unit, err := number(text)
	shift, ok := map[string]int{"": 0, "%": -2, "ppm": -6}[strings.ToLower(unit)]
	switch {
	case strings.HasPrefix(text, "-"):
		return 0, fmt.Errorf("%q: want 0 or more. %s", s, forms)
	case err != nil:
		return 0, fmt.Errorf("%q: want a share of the packets. %s", s, forms)
	case !ok:
		return 0, fmt.Errorf("%q: unknown unit %q. %s", s, unit, forms)
	}
	v, err := value(shift)
	if err != nil || v >= 1 {
		return 0, fmt.Errorf("%q: want less than all packets. %s", s, forms)
	}
	return Loss(v), nil
}

// String is the share as ParseLoss reads it, to the same value: "0", "0.5 %".
func (l Loss) String() string {
	if l == 0 {
		return "0"
	}
	return decimal(float64(l), 2) + " %"
}
