package pace

import (
	"math"
	"math/bits"
)

// A load is a line's load as the exact fraction that its float64 is: m / 2^k. What a packet takes of it is divided by it in 128
// bits, so a remainder is a whole number of 1/m ns, and no packet's remainder is ever rounded.
type load struct {
	m    uint64 // 0: nothing is sent
	k    uint
	unit uint64 // 2^k, a unit of cost in m's units; 0: too large for that, or nothing is sent, or all at once
}

// unlimited is the m of a load that is as fast as the port takes it.
const unlimited = math.MaxUint64

// loadOf is exact for each positive float64 below 2^63; what is above counts as 2^63.
func loadOf(x float64) load {
	switch {
	case math.IsInf(x, 1):
		return load{m: unlimited}
	case !(x > 0):
		return load{}
	}
	fraction, exp := math.Frexp(x) // in [0.5, 1), which is a whole number of 2^-53
	l := load{m: uint64(math.Ldexp(fraction, 53))}
	switch {
	case exp <= 53:
		l.k = uint(53 - exp)
	case exp <= 63:
		l.m <<= exp - 53
	default:
		l.m = 1 << 63
	}
	l.unit = 1 << l.k
	return l
}

// A left is what is left to pay of a cost: whole units and 2^-64 of one.
type left struct{ whole, fraction uint64 }

// time is how long the load takes for c and a remainder of 1/m ns, and the new remainder; false: longer than all of time.
// It rounds down to 1/m ns, less than 2^-52 ns.
func (l load) time(c left, rem uint64) (ns, rest uint64, ok bool) {
	hi, lo := c.whole, c.fraction
	switch {
	case l.k < 64:
		hi, lo = shiftRight(hi, lo, 64-l.k)
	case hi|lo > 0 && length(hi, lo)+l.k-64 > 128:
		return 0, 0, false
	default:
		hi, lo = shiftLeft(hi, lo, l.k-64)
	}
	lo, carry := bits.Add64(lo, rem, 0)
	if hi += carry; hi >= l.m { // m may be 0
		return 0, 0, false
	}
	ns, rest = bits.Div64(hi, lo, l.m)
	return ns, rest, true
}

// pay takes from c what the load gives in so many ns, less a remainder that was paid before. It rounds to 2^-64.
func (l load) pay(c left, ns, rem uint64) left {
	hi, lo := bits.Mul64(l.m, ns)
	lo, borrow := bits.Sub64(lo, rem, 0)
	hi -= borrow
	if l.k < 64 {
		hi, lo = shiftLeft(hi, lo, 64-l.k)
	} else {
		hi, lo = shiftRight(hi, lo, l.k-64)
	}
	c.fraction, borrow = bits.Sub64(c.fraction, lo, 0)
	c.whole -= hi + borrow
	return c
}

// Of 128 bits: how many there are, and shifts by any number of them.

func length(hi, lo uint64) uint {
	if hi > 0 {
		return uint(64 + bits.Len64(hi))
	}
	return uint(bits.Len64(lo))
}

func shiftLeft(hi, lo uint64, n uint) (uint64, uint64) {
	return hi<<n | lo>>(64-n) | lo<<(n-64), lo << n
}

func shiftRight(hi, lo uint64, n uint) (uint64, uint64) {
	return hi >> n, lo>>n | hi<<(64-n) | hi>>(n-64)
}
